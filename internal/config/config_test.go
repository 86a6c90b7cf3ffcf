package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func load(t *testing.T, s Sources) *Config {
	t.Helper()
	c, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	got := load(t, Sources{UserFile: filepath.Join(t.TempDir(), "none"), Env: env()})
	if want := (&Config{Enabled: true, Git: true, Background: true, Prompts: true, Mask: true, decided: map[string]Decision{}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

// TestHomeIsNoDirectory: services run with the home /dev/null. Git takes its configuration there for absent, too.
func TestHomeIsNoDirectory(t *testing.T) {
	t.Parallel()
	file := write(t, "")
	load(t, Sources{UserFile: filepath.Join(file, ".config", "cairn", "config.toml"), ProjectFile: filepath.Join(file, "x"), Env: env()})
}

func TestEveryKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := load(t, Sources{UserFile: write(t, `
enabled = false
require_git = true
git = "off"
background = false
record_prompts = false
mask_secrets = false
max_age = "14d"
max_count = 100
max_bytes = "5GiB"
min_free_bytes = "2G"
keep_last = 7
keep = { all = "24h", hourly = "7d", daily = "90d" }
max_file_size = 1048576
max_files = "none"
max_include_size = "2M"
outside = "3M"
max_scan_bytes = 0
include = [".env*", "local.toml"]
allow_include = ["x"]
never = ["*.pem"]
secrets = "skip"
secret_rules = '`+dir+`'
timeout = "90s"
lock_timeout = "1m"
sync = "https://example.org/x.git"
encrypt = ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"]
seal = true
identity = '`+dir+`'
remote_timeout = "2m"
data_dir = '`+dir+`'
sign = '`+dir+`'
signers = '`+dir+`'
`)})
	want := &Config{
		RequireGit: true, MaxAge: 14 * 24 * time.Hour, MaxCount: 100, MaxBytes: 5 << 30, MinFree: 2 << 30, KeepLast: 7, Keep: cairn.KeepRules{All: 24 * time.Hour, Hourly: 7 * 24 * time.Hour, Daily: 90 * 24 * time.Hour},
		MaxFileSize: 1 << 20, MaxFiles: Unlimited, MaxIncludeSize: 2 << 20, OutsideSize: 3 << 20, MaxScanBytes: Unlimited, Include: []string{".env*", "local.toml"}, AllowInclude: []string{"x"}, Never: []string{"*.pem"},
		Secrets: cairn.SecretsSkip, SecretRules: dir,
		Timeout: 90 * time.Second, LockTimeout: time.Minute, Sync: "https://example.org/x.git", RemoteTimeout: 2 * time.Minute, Encrypt: []string{"age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"}, Identity: dir, Seal: true, DataDir: dir, Sign: dir, Signers: dir, decided: got.decided,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if list := got.Decisions(); len(list) != len(settings) {
		t.Errorf("%d decisions for %d settings", len(list), len(settings))
	}
}

func TestRisingOrder(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	user := write(t, "max_count = 1\nmax_age = '1d'\nkeep_last = 1\ntimeout = '1s'\nnever = ['a']\n\n[project.'"+root+"']\n"+
		"max_age = '2d'\nkeep_last = 2\ntimeout = '2s'\nnever = ['b']\n\n[project.'/elsewhere']\nenabled = false\n")
	project := write(t, "keep_last = 3\ntimeout = '3s'\nnever = ['c']\n")
	got := load(t, Sources{UserFile: user, Project: root, ProjectFile: project, Env: env("CAIRN_TIMEOUT", "4s", "CAIRN_NEVER", "d, e")})
	if !got.Enabled || got.MaxCount != 1 || got.MaxAge != 48*time.Hour || got.KeepLast != 2 || got.Timeout != 4*time.Second {
		t.Errorf("got %+v", got)
	}
	if want := []string{"a", "b", "c", "d", "e"}; !slices.Equal(got.Never, want) {
		t.Errorf("never %v: what is forbidden in one place must not be allowed by another", got.Never)
	}
	if d := got.decided["never"]; d.Value != "a,b,c,d,e" {
		t.Errorf("never is shown as %q", d.Value)
	}
	for key, origin := range map[string]string{"max_count": user + ":1", "max_age": user + ":8", "keep_last": user + ":9", "timeout": "CAIRN_TIMEOUT"} {
		if got.decided[key].Origin != origin {
			t.Errorf("%s was decided by %s, want %s", key, got.decided[key].Origin, origin)
		}
	}
}

// TestSectionThroughSymlink: a section counts for its directory by whatever path it names it.
func TestSectionThroughSymlink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.Mkdir(real, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no symlinks here: ", err)
	}
	for _, c := range []struct{ section, root string }{{link, real}, {real, link}, {real + "/", real}} {
		user := write(t, "[project.'"+c.section+"']\nenabled = false\nnever = ['*.pem']\n")
		got := load(t, Sources{UserFile: user, Project: c.root})
		if got.Enabled || !slices.Equal(got.Never, []string{"*.pem"}) {
			t.Errorf("the section of %s is not in force in %s", c.section, c.root)
		}
		if other := load(t, Sources{UserFile: user, Project: dir}); !other.Enabled || other.Never != nil {
			t.Errorf("the section of %s is in force in %s", c.section, dir)
		}
	}
}

// TestNoLimitOfLocks: none means what it means for every limit.
func TestNoLimitOfLocks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"": 0, "none": cairn.NoLimit, "0": cairn.NoLimit, "2s": 2 * time.Second} {
		var opt cairn.Options
		load(t, Sources{Env: env("CAIRN_LOCK_TIMEOUT", text)}).Configure(&opt)
		if opt.LockTimeout != want {
			t.Errorf("%q: %v, want %v", text, opt.LockTimeout, want)
		}
	}
}

// TestV22_ProjectFileOnlyTightens: every key but three is for the user's own file.
func TestV22_ProjectFileOnlyTightens(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"enabled": "false", "require_git": "true", "git": "false", "background": "false", "record_prompts": "false", "mask_secrets": "false", "max_age": "'1s'", "max_count": "1", "max_bytes": "1", "min_free_bytes": "1",
		"keep_last": "1", "keep": "'all=1s,daily=1d'", "max_file_size": "0", "max_files": "1", "max_include_size": "1", "max_scan_bytes": "1", "outside": "'off'", "include": "['x']", "secrets": "'off'", "secret_rules": "'" + t.TempDir() + "'", "timeout": "'1ms'", "lock_timeout": "'1ms'",
		"encrypt": "['none']", "sync": "'/tmp/x'", "remote_timeout": "'1ms'",
	}
	want := load(t, Sources{})
	for _, s := range settings {
		value, ok := values[s.key]
		if !ok && s.key != "never" && !s.user {
			t.Errorf("%s: not tested", s.key)
		}
		if !ok {
			continue
		}
		got := load(t, Sources{ProjectFile: write(t, s.key+" = "+value+"\n")})
		if list := got.Refused(); len(list) != 1 || list[0].Key != s.key || list[0].Refused == "" {
			t.Errorf("%s: refused %+v", s.key, list)
		}
		if got.refused = nil; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: in force: %+v", s.key, got)
		}
	}
	got := load(t, Sources{
		UserFile:    write(t, "max_file_size = '1M'\nallow_include = ['x']\n"),
		ProjectFile: write(t, "max_file_size = '1K'\ninclude = ['x']\nnever = ['y']\n"),
	})
	if got.MaxFileSize != 1<<10 || !slices.Equal(got.Include, []string{"x"}) || !slices.Equal(got.Never, []string{"y"}) || len(got.Refused()) > 0 {
		t.Errorf("got %+v", got)
	}
}

// A broken configuration names file, line and key.
func TestBroken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		line int
		want []string
	}{
		"syntax":               {"max_age = 7d\n", 1, []string{"max_age"}},
		"no end":               {"a = 1\nmax_age = \"7d\nmax_count = 1\n", 2, nil},
		"unknown key":          {"\nmax_aeg = '7d'\n", 2, []string{"max_aeg", "did you mean max_age?"}},
		"quite unknown key":    {"zzzzzzzzz = 1\n", 1, []string{"zzzzzzzzz", "no such setting"}},
		"wrong type":           {"max_age = 1.5\n", 1, []string{"max_age", "1.5"}},
		"a date":               {"max_age = 2026-01-01\n", 1, []string{"max_age"}},
		"bad duration":         {"max_count = 1\nmax_age = 'soon'\n", 2, []string{"max_age", `"soon"`}},
		"negative duration":    {"max_age = '-1h'\n", 1, []string{"max_age"}},
		"huge duration":        {"max_age = '9999999999999d'\n", 1, []string{"max_age"}},
		"bad size":             {"max_bytes = '5 parsecs'\n", 1, []string{"max_bytes"}},
		"huge size":            {"max_bytes = '9999999999999G'\n", 1, []string{"max_bytes"}},
		"negative number":      {"keep_last = -3\n", 1, []string{"keep_last"}},
		"bad policy":           {"secrets = 'maybe'\n", 1, []string{"secrets", "warn, skip, refuse or off"}},
		"relative rules":       {"secret_rules = 'rules.toml'\n", 1, []string{"secret_rules", "absolute"}},
		"no recipient":         {"encrypt = ['nonsense']\n", 1, []string{"encrypt", "age1"}},
		"not a list":           {"never = '*.pem'\n", 1, []string{"never", "array"}},
		"list of numbers":      {"never = [1]\n", 1, []string{"never"}},
		"bad boolean":          {"enabled = 'maybe'\n", 1, []string{"enabled", "true or false"}},
		"relative directory":   {"data_dir = 'here'\n", 1, []string{"data_dir", "absolute"}},
		"section of a project": {"[project.'/x']\n\nmax_age = 'soon'\n", 3, []string{"max_age"}},
		"project without path": {"[project]\nmax_age = '7d'\n", 2, []string{"project"}},
		"relative project":     {"[project.x]\nmax_age = '7d'\n", 1, []string{"project"}},
		"other table":          {"[limits]\nmax_age = '7d'\n", 1, []string{"limits"}},
		"twice":                {"max_age = '1d'\nmax_age = '2d'\n", 2, []string{"max_age"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, c.text)
			_, err := Load(Sources{UserFile: path, Project: "/p"})
			var bad *Error
			if !errors.As(err, &bad) {
				t.Fatalf("error %v", err)
			}
			if bad.Where != path || bad.Line != c.line {
				t.Errorf("it is said to be in %s:%d, want line %d: %v", bad.Where, bad.Line, c.line, err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %s", err, part)
				}
			}
		})
	}
}

func TestBrokenVariable(t *testing.T) {
	t.Parallel()
	_, err := Load(Sources{Env: env("CAIRN_MAX_AGE", "soon", "CAIRN_KEEP_LAST", "x")})
	for _, name := range []string{"CAIRN_MAX_AGE", "CAIRN_KEEP_LAST"} {
		if err == nil || !strings.Contains(err.Error(), name+": want") {
			t.Errorf("%v does not say what is wrong with %s", err, name)
		}
	}
}

// TestV22_BrokenProjectFile: a project's own file with an error in it is not in force, and
// nothing that the user has set goes with it.
func TestV22_BrokenProjectFile(t *testing.T) {
	t.Parallel()
	user := write(t, "max_file_size = '1M'\nnever = ['u']\nkeep_last = 3\n")
	want := load(t, Sources{UserFile: user, Env: env("CAIRN_TIMEOUT", "4s")})
	sums := make(map[string]bool)
	for _, c := range []struct {
		text, reason string
		line         int
	}{
		{"never = ['x']\nmax_age = 7d\n", "max_age", 2},
		{"never = ['x']\nmax_aeg = '7d'\n", "did you mean max_age?", 2},
		{"max_file_size = '1K'\nnever = ['x']\nmax_age = 'soon'\n", "soon", 3},
		{"data_dir = '" + t.TempDir() + "'\nnever = ['x']\n", "data_dir: only your own configuration", 1},
		{"never = ['x']\nallow_include = ['.env']\n", "allow_include: only your own configuration", 2},
		{"[project.'/x']\nenabled = false\n", "project", 0},
		{strings.Repeat("#\n", maxFile), "no regular file", 0},
	} {
		path := write(t, c.text)
		got := load(t, Sources{UserFile: user, ProjectFile: path, Env: env("CAIRN_TIMEOUT", "4s")})
		broken := got.Broken()
		var bad *Error
		if broken == nil || broken.Path != path || !errors.As(broken.Err, &bad) || bad.Where != path || c.line > 0 && bad.Line != c.line || !strings.Contains(broken.Err.Error(), c.reason) {
			t.Errorf("%q: broken %+v", c.text, broken)
			continue
		}
		sums[broken.Sum] = true
		if again := load(t, Sources{ProjectFile: path}); again.Broken().Sum != broken.Sum {
			t.Errorf("%q: the sum changes without the file", c.text)
		}
		if got.broken = nil; !reflect.DeepEqual(got, want) {
			t.Errorf("%q: in force: %+v", c.text, got)
		}
	}
	if len(sums) != 7 {
		t.Errorf("%d sums of 7 files", len(sums))
	}
	if got := load(t, Sources{ProjectFile: write(t, "never = ['x']\n")}); got.Broken() != nil {
		t.Errorf("a sound file: %+v", got.Broken())
	}
}

func TestNoRegularFile(t *testing.T) {
	t.Parallel()
	var bad *Error
	if _, err := Load(Sources{UserFile: t.TempDir()}); !errors.As(err, &bad) {
		t.Errorf("error %v", err)
	}
	if _, err := Load(Sources{UserFile: write(t, strings.Repeat("#\n", maxFile))}); !errors.As(err, &bad) {
		t.Errorf("error %v", err)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"7d": 168 * time.Hour, "2w": 336 * time.Hour, "1w1d1h": 193 * time.Hour, "90m": 90 * time.Minute, "0": Unlimited, "0s": Unlimited, "none": Unlimited} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "7", "1d2", "1d1w", "-1d", "1.5d"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
	for text, want := range map[string]int64{"5GiB": 5 << 30, "64M": 64 << 20, "64mb": 64 << 20, "1T": 1 << 40, "1 GiB": 1 << 30, "17": 17, "0": Unlimited, "none": Unlimited} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "G", "-1", "1.5G", "1E", "i", "b"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}

// TestAFIFO: nothing waits for the other end of a FIFO in the place of a file of settings.
func TestAFIFO(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no FIFO here")
	}
	dir := t.TempDir()
	gittest.Create(t, dir, gittest.Tree{"config.toml": gittest.FIFO()})
	done := make(chan error, 1)
	go func() {
		_, err := Load(Sources{UserFile: filepath.Join(dir, "config.toml")})
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("a FIFO is waited for")
	}
}
