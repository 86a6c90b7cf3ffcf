package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
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

// TestPackages: both packages have the program, a page for each of its commands and the completion
// scripts, and dpkg takes the one for Debian.
func TestPackages(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the program of the packages has to run here, and they are for Linux")
	}
	if testing.Short() {
		t.Skip("the test builds the program")
	}
	r := ownRelease(t)
	program := filepath.Join(t.TempDir(), "cairn")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/cairn").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.build = func(to, _, _ string) error {
		data, err := os.ReadFile(program)
		return errors.Join(err, os.WriteFile(to, data, 0o755))
	}
	first := madeBy(t, &r)
	pages := filepath.Join(t.TempDir(), "pages")
	if out, err := exec.Command(program, "help", "--man", pages).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	entries, err := os.ReadDir(pages)
	if err != nil || len(entries) < 10 {
		t.Fatal(entries, err)
	}
	archive := "cairn_1.2.3_linux_" + runtime.GOARCH + ".tar.gz"
	want := []string{
		"bin/cairn", "share/bash-completion/completions/cairn", "share/doc/cairn/CHANGELOG.md", "share/doc/cairn/LICENSE",
		"share/fish/vendor_completions.d/cairn.fish", "share/zsh/site-functions/_cairn",
	}
	for _, e := range entries {
		want = append(want, "share/man/man1/"+e.Name())
	}
	slices.Sort(want)
	if got := namesIn(t, first[archive]); !slices.Equal(got, want) {
		t.Errorf("the archive has\n%q, want\n%q", got, want)
	}
	debian(t, filepath.Join(r.out, "cairn_1.2.3_"+debianArch(runtime.GOARCH)+".deb"), len(entries))
}

// ownRelease is a release for this machine.
func ownRelease(t *testing.T) release {
	t.Helper()
	return release{version: "1.2.3", os: runtime.GOOS, arch: runtime.GOARCH, out: t.TempDir(), root: filepath.Join("..", ".."), time: time.Unix(1_700_000_000, 0).UTC()}
}

// smallProgram answers as the program does, and is packed in no time.
func smallProgram(to, _, _ string) error {
	const script = `#!/bin/sh
case $1-$2 in
help---man) mkdir -p "$3" && echo page >"$3/cairn.1" ;;
*) echo "$@" ;;
esac
`
	return os.WriteFile(to, []byte(script), 0o755)
}

// The same sources give the same bytes.
func TestPackagesAgain(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the program of the packages has to run here, and they are for Linux")
	}
	r := ownRelease(t)
	r.build = smallProgram
	if first, again := madeBy(t, &r), madeBy(t, &r); len(first) != 2 || !maps.EqualFunc(first, again, bytes.Equal) {
		t.Errorf("another run makes other packages: %d", len(first))
	}
}

// Another system gets an archive with a program of another name, and no package for Debian.
func TestPackagesOfAnotherSystem(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the program of the packages has to run here, and they are for Linux")
	}
	r := ownRelease(t)
	r.os, r.arch, r.build = "windows", "arm64", smallProgram
	if made := madeBy(t, &r); !slices.Contains(namesIn(t, made["cairn_1.2.3_windows_arm64.tar.gz"]), "bin/cairn.exe") || len(made) != 1 {
		t.Errorf("%d packages, with %q", len(made), namesIn(t, made["cairn_1.2.3_windows_arm64.tar.gz"]))
	}
}

// madeBy makes packages and returns their bytes.
func madeBy(t *testing.T, r *release) map[string][]byte {
	t.Helper()
	made, err := r.make()
	if err != nil {
		t.Fatal(made, err)
	}
	all := make(map[string][]byte)
	for _, path := range made {
		if all[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// namesIn lists the files of an archive without its first directory.
func namesIn(t *testing.T, data []byte) (names []string) {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(plain); ; {
		h, err := archive.Next()
		if err == io.EOF {
			slices.Sort(names)
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			names = append(names, strings.TrimPrefix(h.Name, "cairn-1.2.3/"))
		}
	}
}

// debian unpacks a package as dpkg does, runs the program, and looks a page up as man does.
func debian(t *testing.T, path string, pages int) {
	t.Helper()
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Log("dpkg-deb is not installed: the package is not unpacked")
		return
	}
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Errorf("%s %q: %v: %s", name, args, err, out)
		}
		return string(out)
	}
	run("dpkg-deb", "-x", path, dir)
	run("dpkg-deb", "-e", path, filepath.Join(dir, "DEBIAN"))
	if got := run("dpkg-deb", "-f", path, "Package", "Version", "Architecture"); got != "Package: cairn\nVersion: 1.2.3\nArchitecture: "+debianArch(runtime.GOARCH)+"\n" {
		t.Errorf("%q", got)
	}
	run("sh", "-c", "cd '"+dir+"' && md5sum -c --quiet DEBIAN/md5sums")
	run(filepath.Join(dir, "usr/bin/cairn"), "version")
	found, err := filepath.Glob(filepath.Join(dir, "usr/share/man/man1/*.1.gz"))
	if err != nil || len(found) != pages {
		t.Errorf("%d pages, want %d (%v)", len(found), pages, err)
	}
	if _, err := exec.LookPath("man"); err == nil {
		if got := run("man", "-M", filepath.Join(dir, "usr/share/man"), "-w", "cairn-restore"); !strings.HasSuffix(got, "/cairn-restore.1.gz\n") {
			t.Errorf("man finds %q", got)
		}
	}
}
