package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRelease makes a release twice, out of two clones in different directories, and installs what
// this system can install.
func TestRelease(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the packages that are installed here are for Linux")
	}
	if testing.Short() {
		t.Skip("the test builds the program")
	}
	own := target{"linux", runtime.GOARCH}
	systems := []string{own.system + "/" + own.arch, "windows/amd64"}
	first, files := madeIn(t, clone(t), systems)
	_, again := madeIn(t, clone(t), systems)
	if !maps.EqualFunc(files, again, bytes.Equal) {
		for name := range files {
			if !bytes.Equal(files[name], again[name]) {
				t.Errorf("another clone makes another %s", name)
			}
		}
	}
	t.Run("archive", func(t *testing.T) { archiveHas(t, files, own) })
	t.Run("zip", func(t *testing.T) { zipHas(t, files["cairn_1.2.3_windows_amd64.zip"]) })
	t.Run("sums", func(t *testing.T) { ran(t, first, "sha256sum", "-c", "--quiet", "SHA256SUMS") })
	t.Run("contents", func(t *testing.T) { contentsName(t, files["cairn_1.2.3_linux_"+own.arch+".cdx.json"]) })
	t.Run("deb", func(t *testing.T) { debInstalls(t, found(t, first, "*.deb")) })
	t.Run("rpm", func(t *testing.T) { rpmInstalls(t, found(t, first, "*.rpm")) })
	t.Run("apk", func(t *testing.T) { apkUnpacks(t, found(t, first, "*.apk")) })
	t.Run("npm", func(t *testing.T) { npmInstalls(t, first) })
}

// TestVersions: versions that some kind of package cannot express are refused.
func TestVersions(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"1.2.3": true, "0.1.0-rc.1": true, "v1.2.3": false, "1.2": false, "": false, "1.2.3 ": false, "1.2.3+x": false, "../1.2.3": false,
	} {
		if versions.MatchString(version) != want {
			t.Errorf("%q: want %t", version, want)
		}
	}
}

// TestRefusesSystems: what is no system ends with an error that says how one is named.
func TestRefusesSystems(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the test builds the program")
	}
	r := release{version: "1.2.3", out: t.TempDir(), npm: "cairn-cli", root: "..", time: time.Unix(0, 0), systems: []string{"linux"}}
	if _, err := r.make(); err == nil || !strings.Contains(err.Error(), "linux/amd64") {
		t.Error(err)
	}
}

// clone is the repository's last commit in a directory of its own.
func clone(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	ran(t, "..", "git", "clone", "-q", ".", dir)
	return dir
}

func madeIn(t *testing.T, root string, systems []string) (dir string, files map[string][]byte) {
	t.Helper()
	dir = t.TempDir()
	r := release{
		version: "1.2.3", out: dir, npm: "cairn-cli", maintainer: "Nobody <nobody@localhost>", homepage: "http://localhost/",
		systems: systems, root: root, time: time.Unix(1_700_000_000, 0).UTC(),
	}
	made, err := r.make()
	if err != nil {
		t.Fatal(err)
	}
	files = make(map[string][]byte)
	for _, path := range made {
		if files[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return dir, files
}

// ran runs a program, which must succeed, and returns what it prints.
func ran(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, out)
	}
	return string(out)
}

// needs skips a test without a program.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed here, so nothing is installed with it", program)
	}
}

func found(t *testing.T, dir, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	return names[0]
}

// installed looks at what every installation below a root has.
func installed(t *testing.T, root string) {
	t.Helper()
	if got := ran(t, root, filepath.Join(root, "usr/bin/cairn"), "version"); !strings.Contains(got, "v1.2.3") {
		t.Errorf("cairn version: %q", got)
	}
	pages, err := filepath.Glob(filepath.Join(root, "usr/share/man/man1/cairn*.1.gz"))
	if err != nil || len(pages) < 40 {
		t.Errorf("%d pages, %v", len(pages), err)
	}
	for _, name := range []string{"bash-completion/completions/cairn", "fish/vendor_completions.d/cairn.fish"} {
		if info, err := os.Stat(filepath.Join(root, "usr/share", name)); err != nil || info.Size() == 0 {
			t.Error(name, err)
		}
	}
}

// archiveHas: an archive has the program, a page for each command, scripts, license and changelog.
func archiveHas(t *testing.T, files map[string][]byte, own target) {
	names := namesIn(t, files["cairn_1.2.3_linux_"+own.arch+".tar.gz"])
	for _, want := range []string{
		"bin/cairn", "share/bash-completion/completions/cairn", "share/doc/cairn/CHANGELOG.md", "share/doc/cairn/LICENSE",
		"share/fish/vendor_completions.d/cairn.fish", "share/zsh/site-functions/_cairn", "share/man/man1/cairn-undo.1",
	} {
		if !slices.Contains(names, "cairn-1.2.3/"+want) {
			t.Errorf("no %s in %q", want, names)
		}
	}
}

func namesIn(t *testing.T, data []byte) (names []string) {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(plain); ; {
		h, err := archive.Next()
		if err == io.EOF {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
}

func zipHas(t *testing.T, data []byte) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if f, err := archive.Open("cairn-1.2.3/bin/cairn.exe"); err != nil {
		t.Error(err)
	} else if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// contentsName: the list of contents has the modules that go.mod pins.
func contentsName(t *testing.T, data []byte) {
	var bom struct {
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(data, &bom); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"go", "github.com/spf13/cobra", "golang.org/x/sys"} {
		if !slices.ContainsFunc(bom.Components, func(c struct{ Name, Version string }) bool { return c.Name == want && c.Version != "" }) {
			t.Errorf("no %s", want)
		}
	}
}

func debInstalls(t *testing.T, path string) {
	needs(t, "dpkg")
	root := t.TempDir()
	for _, dir := range []string{"updates", "info", "triggers"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	ran(t, root, "dpkg", "--root="+root, "--force-not-root", "--force-script-chrootless", "--log=/dev/null", "-i", path)
	installed(t, root)
	ran(t, root, "dpkg", "--root="+root, "--force-not-root", "--log=/dev/null", "-r", "cairn")
	if _, err := os.Lstat(filepath.Join(root, "usr/bin/cairn")); !os.IsNotExist(err) {
		t.Error("removal leaves the program:", err)
	}
}

func rpmInstalls(t *testing.T, path string) {
	needs(t, "rpm")
	root := t.TempDir()
	ran(t, root, "rpm", "--root", root, "--nodeps", "--ignorearch", "--nosignature", "-i", path)
	installed(t, root)
	if got := ran(t, root, "rpm", "--root", root, "-q", "--qf", "%{NAME} %{VERSION} %{LICENSE}", "cairn"); got != "cairn 1.2.3 Apache-2.0" {
		t.Errorf("%q", got)
	}
	ran(t, root, "rpm", "--root", root, "-e", "cairn")
}

// apkUnpacks: Alpine's program is not to be had on other systems, so the package is unpacked as an
// archive, which it is: control data, then files.
func apkUnpacks(t *testing.T, path string) {
	root := t.TempDir()
	ran(t, root, "tar", "-xzf", path)
	installed(t, root)
	data, err := os.ReadFile(filepath.Join(root, ".PKGINFO"))
	if err != nil || !strings.Contains(string(data), "pkgname = cairn\npkgver = 1.2.3") {
		t.Errorf("%s %v", data, err)
	}
}

// npmInstalls: npm takes the packages without a network and without running a script of theirs; the
// starter passes on arguments, output, status and signals.
func npmInstalls(t *testing.T, dir string) {
	needs(t, "npm")
	home := t.TempDir()
	root := filepath.Join(home, ".npm", "_npx", "0a1b2c") // where npx puts it
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	own := found(t, dir, "cairn-cli-linux-*.tgz")
	ran(t, root, "npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", root, "--cache", filepath.Join(root, "cache"), own, filepath.Join(dir, "cairn-cli-1.2.3.tgz"))
	starter := filepath.Join(root, "node_modules/.bin/cairn")
	if got := ran(t, root, starter, "version"); !strings.Contains(got, "v1.2.3") {
		t.Errorf("%q", got)
	}
	setsUpFromCache(t, starter, home)
	cmd := exec.Command(starter, "no-such-command")
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("the status of the program is lost: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(root, "node_modules", strings.TrimSuffix(filepath.Base(own), "-1.2.3.tgz"))); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(starter, "version").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "is not installed") {
		t.Errorf("without a program: %q, %v", out, err)
	}
}

// setsUpFromCache: the hooks call a copy that stays when the cache of npx is emptied.
func setsUpFromCache(t *testing.T, starter, home string) {
	cmd := exec.Command(starter, "setup", "claude-code")
	cmd.Env, cmd.Dir = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+filepath.Join(home, "data"), "CLAUDE_CONFIG_DIR="+filepath.Join(home, "claude")), home
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "lies in a cache") {
		t.Fatalf("%v: %s", err, out)
	}
	settings, err := os.ReadFile(filepath.Join(home, "claude", "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(settings), home+"/data")
	path, _, found := strings.Cut(rest, "/bin/cairn")
	if !found || strings.Contains(string(settings), "_npx") {
		t.Fatalf("the hooks name no copy: %s", settings)
	}
	if got := ran(t, home, filepath.Join(home, "data", path, "bin/cairn"), "version"); !strings.Contains(got, "v1.2.3") {
		t.Errorf("the copy says %q", got)
	}
}
