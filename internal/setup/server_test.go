package setup

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

const goldenUnit = `# made by cairn setup --serve; cairn setup AGENT --serve --remove takes it away
[Unit]
Description=cairn: checkpoints for coding agents

[Service]
Type=exec
ExecStart=/usr/bin/cairn --data-dir "/home/a user/100%%$$\"\\/cairn" serve --on-demand --idle 30m0s
Restart=no

[Install]
WantedBy=default.target
`

const goldenPlist = `<?xml version="1.0" encoding="UTF-8"?>
<!-- made by cairn setup -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>cairn.serve</string>
	<key>ProgramArguments</key>
	<array>
		<string>/usr/bin/cairn</string>
		<string>--data-dir</string>
		<string>/Users/a&amp;b/cairn</string>
		<string>serve</string>
		<string>--on-demand</string>
		<string>--idle</string>
		<string>1h0m0s</string>
	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>ProcessType</key>
	<string>Background</string>
</dict>
</plist>
`

// TestLaunchctlInAShell: the note is a command for a shell.
func TestLaunchctlInAShell(t *testing.T) {
	t.Parallel()
	o := ServerOptions{System: "darwin", Home: "/Users/a b", Program: []string{"/usr/bin/cairn"}}
	if _, _, start, _ := o.atLogin(); !strings.HasPrefix(start, "launchctl bootstrap gui/$UID '/Users/a b/Library/LaunchAgents/cairn.serve.plist' (") {
		t.Error(start)
	}
}

// TestServerFiles: the files that start a server at login.
func TestServerFiles(t *testing.T) {
	t.Parallel()
	o := ServerOptions{Program: []string{"/usr/bin/cairn"}, DataDir: `/home/a user/100%$"\/cairn`, Idle: 30 * time.Minute}
	if got := o.unit(); got != goldenUnit {
		t.Errorf("unit:\n%s", got)
	}
	o = ServerOptions{Program: []string{"/usr/bin/cairn", "--data-dir", "/Users/a&b/cairn"}, DataDir: "/Users/a&b/cairn", Idle: time.Hour}
	got := o.plist()
	if got != goldenPlist {
		t.Errorf("plist:\n%s", got)
	}
	for d := xml.NewDecoder(strings.NewReader(got)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnitIsValid asks systemd about the unit.
func TestUnitIsValid(t *testing.T) {
	t.Parallel()
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze to ask")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := ServerOptions{Program: []string{program}, DataDir: `/home/a user/100%$"\/cairn`, Idle: time.Minute}
	path := filepath.Join(t.TempDir(), unitName)
	if err := os.WriteFile(path, []byte(o.unit()), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(verify, "--user", "--man=no", "verify", path)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "cairn.service") || err != nil && len(out) == 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestServer: the plan of each system, and its removal. What setup has not made stays.
func TestServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		system  string
		systemd bool
		files   string
		note    string
	}{
		{"linux", true, "data/serve.json config/systemd/user/cairn.service", "systemctl --user enable cairn.service"},
		{"linux", false, "data/serve.json", ""},
		{"freebsd", false, "data/serve.json", ""},
		{"darwin", false, "data/serve.json home/Library/LaunchAgents/cairn.serve.plist", "launchctl bootstrap"},
	} {
		t.Run(c.system, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			opt := ServerOptions{
				Program: []string{"/usr/bin/cairn"}, DataDir: filepath.Join(dir, "data"), Idle: time.Hour, System: c.system, Systemd: c.systemd,
				Home: filepath.Join(dir, "home"), Config: filepath.Join(dir, "config"),
			}
			if got := planned(t, dir, opt, c.note); got != c.files {
				t.Errorf("made %q", got)
			}
			if idle, ok := protocol.ReadOnDemand(opt.DataDir); !ok || idle != time.Hour {
				t.Errorf("hooks read %v, %v", idle, ok)
			}
			if got := planned(t, dir, opt, ""); got != "" {
				t.Errorf("a second time made %q", got)
			}
			opt.Remove = true
			if got := planned(t, dir, opt, ""); got != c.files {
				t.Errorf("removed %q", got)
			}
			if _, ok := protocol.ReadOnDemand(opt.DataDir); ok {
				t.Error("hooks still start a server")
			}
		})
	}
	if _, err := Server(ServerOptions{System: "windows"}); !errors.Is(err, ErrNoServer) {
		t.Errorf("windows: %v", err)
	}
}

// TestServerOfOtherOptions: what setup has made for another program or with another time is no text of the user. No copy of
// it stays, neither after a change nor after the removal; one of an edited unit does.
func TestServerOfOtherOptions(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"linux", "darwin"} {
		dir := t.TempDir()
		opt := ServerOptions{
			Program: []string{"/usr/bin/cairn"}, DataDir: filepath.Join(dir, "data"), Idle: 2 * time.Hour, System: system, Systemd: true,
			Home: filepath.Join(dir, "home"), Config: filepath.Join(dir, "config"),
		}
		made := planned(t, dir, opt, "")
		opt.Program, opt.Idle = []string{"/opt/cairn"}, time.Hour
		if got := planned(t, dir, opt, ""); got != made {
			t.Errorf("%s: changed %q", system, got)
		}
		opt.Program, opt.Idle, opt.Remove = []string{"/home/me/cairn"}, time.Minute, true
		if got := planned(t, dir, opt, ""); got != made {
			t.Errorf("%s: removed %q", system, got)
		}
		if left := below(t, dir, ""); len(left) > 0 {
			t.Errorf("%s: left %q", system, left)
		}
		path, text, _, _ := opt.atLogin()
		for _, edited := range []string{strings.Replace(text, "--on-demand", "--on-demand --listen", 1), text + "# mine\n"} {
			write(t, path, edited)
			planned(t, dir, opt, "")
			if got := contents(t, path+backupSuffix); got != edited {
				t.Errorf("%s: of an edited file there is left %q", system, got)
			}
			if err := os.Remove(path + backupSuffix); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// planned carries a plan out and returns its files.
func planned(t *testing.T, dir string, opt ServerOptions, note string) string {
	t.Helper()
	p, err := Server(opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(); err != nil {
		t.Fatal(err)
	}
	if note != "" && (len(p.Notes) != 1 || !strings.HasPrefix(p.Notes[0], note)) {
		t.Errorf("notes: %q", p.Notes)
	}
	var files []string
	for _, c := range p.Changes {
		rel, err := filepath.Rel(dir, c.Path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, filepath.ToSlash(rel))
	}
	return strings.Join(files, " ")
}

// TestServerForeign: a unit of that name that setup has not made is refused and never removed.
func TestServerForeign(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opt := ServerOptions{Program: []string{"/usr/bin/cairn"}, DataDir: filepath.Join(dir, "data"), Idle: time.Hour, System: "linux", Systemd: true, Config: dir}
	path := filepath.Join(dir, "systemd", "user", unitName)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("[Unit]\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := Server(opt); !errors.Is(err, ErrForeign) {
		t.Errorf("%v", err)
	}
	opt.Remove = true
	if got := planned(t, dir, opt, ""); got != "" {
		t.Errorf("removed %q", got)
	}
}
