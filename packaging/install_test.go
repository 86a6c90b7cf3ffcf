package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// installed looks at what every installation below a root has.
func installed(t *testing.T, root string) {
	t.Helper()
	if got := ran(t, root, filepath.Join(root, "usr/bin/cairn"), "version"); !strings.Contains(got, "v1.2.3") {
		t.Errorf("cairn version: %q", got)
	}
	if got := ran(t, root, filepath.Join(root, "usr/bin/cairn"), "help", "serve"); !strings.Contains(got, "cairn serve answers") {
		t.Errorf("cairn help serve, by cairn-full: %q", got)
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

// apkUnpacks: other systems lack Alpine's program. A package is an archive of control data and files,
// so tar unpacks it.
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
	if got := ran(t, home, filepath.Join(home, "data", path, "bin/cairn"), "help", "serve"); !strings.Contains(got, "cairn serve answers") {
		t.Errorf("the copy has no cairn-full beside it: %q", got)
	}
}

// featureInstalls: the script of the devcontainer feature installs a release, and nothing that was
// changed on its way.
func featureInstalls(t *testing.T, dir string) {
	needs(t, "curl")
	script, err := filepath.Abs("devcontainer/cairn/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	install := func(version, releases string) (prefix, out string, err error) {
		prefix = filepath.Join(t.TempDir(), "prefix")
		cmd := exec.Command(script)
		cmd.Env = append(os.Environ(), "VERSION="+version, "RELEASES="+releases, "PREFIX="+prefix)
		text, err := cmd.CombinedOutput()
		return prefix, string(text), err
	}
	prefix, out, err := install("1.2.3", "file://"+dir)
	if err != nil {
		t.Fatal(out, err)
	}
	if got := ran(t, prefix, filepath.Join(prefix, "bin/cairn"), "version"); !strings.Contains(got, "v1.2.3") {
		t.Errorf("%q", got)
	}
	spoilt := t.TempDir()
	archive := found(t, dir, "cairn_1.2.3_linux_*.tar.gz")
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	ran(t, spoilt, "cp", filepath.Join(dir, "SHA256SUMS"), ".")
	if err := os.WriteFile(filepath.Join(spoilt, filepath.Base(archive)), append(data, 0), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, version, releases, want string }{
		{"spoilt", "1.2.3", "file://" + spoilt, "checksum"}, {"missing", "9.9.9", "file://" + dir, "cannot be loaded"},
		{"no version", "", "file://" + dir, "version is missing"}, {"no address", "1.2.3", "", "releases is missing"},
	} {
		if prefix, out, err = install(c.version, c.releases); err == nil || !strings.Contains(out, c.want) {
			t.Errorf("%s: %v: %s", c.name, err, out)
		}
		if _, err := os.Lstat(prefix); !os.IsNotExist(err) {
			t.Errorf("%s: something is installed", c.name)
		}
	}
}

// imageServes builds the image and looks at what a container of it would run.
func imageServes(t *testing.T, archive []byte) {
	needs(t, "buildah")
	file, err := filepath.Abs("container/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.tar.gz"), archive, 0o644); err != nil {
		t.Fatal(err)
	}
	ran(t, dir, "tar", "-xzf", "a.tar.gz", "--strip-components=1")
	store := []string{"--root", filepath.Join(dir, "images"), "--runroot", filepath.Join(dir, "run"), "--storage-driver", "vfs"}
	buildah := func(args ...string) string { return ran(t, dir, "buildah", append(slices.Clone(store), args...)...) }
	buildah("build", "--isolation", "chroot", "-q", "-f", file, "-t", "cairn", dir)
	t.Cleanup(func() { buildah("rmi", "-a", "-f") })
	got := buildah("inspect", "--type", "image", "--format", "{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Volumes}}", "cairn")
	if want := "[/cairn --data-dir /data serve --listen 0.0.0.0:8390 --allow-remote] map[/data:{}]"; strings.TrimSpace(got) != want {
		t.Errorf("the image has %q, want %q", got, want)
	}
}
