package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// file is one file of a package.
type file struct {
	name string // below the prefix, as in bin/cairn
	mode int64
	data []byte
}

// target is a system that a program runs on.
type target struct {
	system, arch string // as GOOS and GOARCH
}

func (t target) suffix() string {
	if t.system == "windows" {
		return ".exe"
	}
	return ""
}

// texts are manual pages, completion scripts, license and changelog. The program of this machine
// writes pages and scripts, because that of another system does not run here.
func (r *release) texts(dir string) ([]file, error) {
	here := target{runtime.GOOS, runtime.GOARCH}
	own, err := r.build(dir, here, "")
	if err != nil {
		return nil, err
	}
	pages := filepath.Join(dir, "pages")
	if _, err := r.run(own, "help", "--man", pages); err != nil {
		return nil, err
	}
	var files []file
	for _, from := range []struct{ pattern, to string }{
		{filepath.Join(pages, "*.1"), "share/man/man1"}, {filepath.Join(r.root, "LICENSE"), "share/doc/cairn"},
		{filepath.Join(r.root, "CHANGELOG.md"), "share/doc/cairn"},
	} {
		if files, err = appendFiles(files, from.pattern, from.to); err != nil {
			return nil, err
		}
	}
	for shell, to := range map[string]string{
		"bash": "share/bash-completion/completions/cairn", "zsh": "share/zsh/site-functions/_cairn", "fish": "share/fish/vendor_completions.d/cairn.fish",
	} {
		script, err := r.run(own, "completion", shell)
		if err != nil {
			return nil, err
		}
		files = append(files, file{to, 0o644, script})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

// programs are the two programs of a release: a lean one, and cairn-full, which does what that one lacks. full is the
// path of the latter, which has all that the lean one is made of, too.
func (r *release) programs(dir string, t target) (files []file, full string, err error) {
	for _, p := range []struct{ name, tags string }{{"bin/cairn", "lean"}, {"lib/cairn/cairn-full", ""}} {
		if full, err = r.build(dir, t, p.tags); err != nil {
			return nil, "", err
		}
		data, err := os.ReadFile(full)
		if err != nil {
			return nil, "", err
		}
		files = append(files, file{p.name + t.suffix(), 0o755, data})
	}
	return files, full, nil
}

// build builds the program for a system into a directory, once: static, without symbols, and with no
// path of this machine.
func (r *release) build(dir string, t target, tags string) (program string, err error) {
	program, err = filepath.Abs(filepath.Join(dir, t.system+"-"+t.arch+tags+t.suffix()))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	cmd := exec.Command("go", "build", "-tags", tags, "-trimpath", "-ldflags", "-s -w -X github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli.release="+r.version, "-o", program, "./cmd/cairn")
	cmd.Dir, cmd.Env = r.root, append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.system, "GOARCH="+t.arch)
	cmd.Stderr = os.Stderr
	return program, cmd.Run()
}

// run runs the program and returns what it prints.
func (r *release) run(program string, args ...string) ([]byte, error) {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
	cmd.Stderr = os.Stderr
	return cmd.Output()
}

func appendFiles(files []file, pattern, to string) ([]file, error) {
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no %s: %v", pattern, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{path.Join(to, filepath.Base(name)), 0o644, data})
	}
	return files, nil
}

// under puts files below a directory.
func under(dir string, files []file) []file {
	out := slices.Clone(files)
	for i := range out {
		out[i].name = dir + "/" + out[i].name
	}
	return out
}
