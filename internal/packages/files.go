package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// file is one file of a package.
type file struct {
	name string // below the prefix, as in bin/cairn
	mode int64
	data []byte
}

// files builds the program and collects everything that a package has. The program of this machine
// writes pages and scripts, because that of another system does not run here.
func (r *release) files(dir string) ([]file, error) {
	program := filepath.Join(dir, "program"+suffix(r.os))
	if err := r.build(program, r.os, r.arch); err != nil {
		return nil, err
	}
	own := program
	if r.os != runtime.GOOS || r.arch != runtime.GOARCH {
		own = filepath.Join(dir, "own"+suffix(runtime.GOOS))
		if err := r.build(own, runtime.GOOS, runtime.GOARCH); err != nil {
			return nil, err
		}
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	files := []file{{"bin/cairn" + suffix(r.os), 0o755, data}}
	pages := filepath.Join(dir, "pages")
	if _, err := r.run(own, "help", "--man", pages); err != nil {
		return nil, err
	}
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

func suffix(system string) string {
	if system == "windows" {
		return ".exe"
	}
	return ""
}

// buildProgram builds the program for a system.
func (r *release) buildProgram(to, system, arch string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-o", to, "./cmd/cairn")
	cmd.Dir, cmd.Env = r.root, append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	cmd.Stderr = os.Stderr
	return cmd.Run()
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

// tarGz packs files and their directories. They belong to root, and are all of one time.
func tarGz(files []file, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressed)
	made := make(map[string]bool)
	for _, f := range files {
		for i, c := range f.name {
			if dir := f.name[:i+1]; c == '/' && !made[dir] {
				made[dir] = true
				if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755, ModTime: at, Uname: "root", Gname: "root"}); err != nil {
					return nil, err
				}
			}
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: at, Uname: "root", Gname: "root"}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
