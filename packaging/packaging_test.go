package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
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
	first, files, again := madeTwice(t, systems)
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
	t.Run("feature", func(t *testing.T) { featureInstalls(t, first) })
	t.Run("image", func(t *testing.T) { imageServes(t, files["cairn_1.2.3_linux_"+own.arch+".tar.gz"]) })
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

// TestRefusesSystems: the error for a text that names no system has the form of a name.
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

// madeTwice makes a release out of two clones at once. What a program consists of is compiled before,
// for both.
func madeTwice(t *testing.T, systems []string) (first string, files, again map[string][]byte) {
	t.Helper()
	roots := []string{clone(t), clone(t)}
	for _, name := range systems {
		system, arch, _ := strings.Cut(name, "/")
		for _, tags := range []string{"", "lean"} {
			ran(t, roots[0], "env", "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "go", "build", "-tags", tags, "-trimpath", "./cmd/cairn/internal/...")
		}
	}
	dirs, made, errs := []string{t.TempDir(), t.TempDir()}, make([]map[string][]byte, 2), make([]error, 2)
	var wg sync.WaitGroup
	for i, root := range roots {
		wg.Go(func() { made[i], errs[i] = madeIn(dirs[i], root, systems) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return dirs[0], made[0], made[1]
}

func madeIn(dir, root string, systems []string) (files map[string][]byte, err error) {
	r := release{
		version: "1.2.3", out: dir, npm: "cairn-cli", maintainer: "Nobody <nobody@localhost>", homepage: "http://localhost/",
		systems: systems, root: root, time: time.Unix(1_700_000_000, 0).UTC(), level: gzip.BestSpeed,
	}
	made, err := r.make()
	files = make(map[string][]byte)
	for _, path := range made {
		data, readErr := os.ReadFile(path)
		files[filepath.Base(path)], err = data, errors.Join(err, readErr)
	}
	return files, err
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

// archiveHas: an archive has the program, a page for each command, scripts, license and changelog.
func archiveHas(t *testing.T, files map[string][]byte, own target) {
	names := namesIn(t, files["cairn_1.2.3_linux_"+own.arch+".tar.gz"])
	for _, want := range []string{
		"bin/cairn", "lib/cairn/cairn-full", "share/bash-completion/completions/cairn", "share/doc/cairn/CHANGELOG.md", "share/doc/cairn/LICENSE",
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
	for _, name := range []string{"bin/cairn.exe", "lib/cairn/cairn-full.exe"} {
		if f, err := archive.Open("cairn-1.2.3/" + name); err != nil {
			t.Error(err)
		} else if err := f.Close(); err != nil {
			t.Error(err)
		}
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
