// Command packages makes the packages of a version: an archive for any system, and for Linux a
// package for Debian and its relatives. Beside the program they have its manual pages and its
// completion scripts, which the program writes itself.
//
//	go run ./internal/packages -version 1.2.3 -os linux -arch amd64 -out DIR
//
// Equal sources give equal bytes: SOURCE_DATE_EPOCH is the time of all files, without it the
// time of the last commit.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("packages: ")
	r := release{root: "."}
	r.build = r.buildProgram
	flag.StringVar(&r.version, "version", "", "of the packages, as in 1.2.3")
	flag.StringVar(&r.os, "os", runtime.GOOS, "as in GOOS")
	flag.StringVar(&r.arch, "arch", runtime.GOARCH, "as in GOARCH")
	flag.StringVar(&r.out, "out", "", "directory for the packages")
	flag.Parse()
	if r.version == "" || r.version[0] < '0' || r.version[0] > '9' || r.out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	made, err := r.make()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Join(made, "\n"))
}

// release is one run.
type release struct {
	version, os, arch, out string

	root  string // of the repository
	build func(to, system, arch string) error
	time  time.Time
}

// make makes the packages and returns their paths.
func (r *release) make() (made []string, err error) {
	if err := r.date(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "cairn-packages-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	files, err := r.files(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("cairn_%s_%s_%s.tar.gz", r.version, r.os, r.arch)
	made = []string{filepath.Join(r.out, name)}
	archive, err := tarGz(under("cairn-"+r.version, files), r.time)
	if err == nil {
		err = os.WriteFile(made[0], archive, 0o644)
	}
	if err != nil || r.os != "linux" {
		return made, err
	}
	deb, err := r.debian(files)
	if err != nil {
		return made, err
	}
	made = append(made, filepath.Join(r.out, fmt.Sprintf("cairn_%s_%s.deb", r.version, debianArch(r.arch))))
	return made, os.WriteFile(made[1], deb, 0o644)
}

// date sets the time of all files, unless it is set.
func (r *release) date() error {
	if !r.time.IsZero() {
		return nil
	}
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.Command("git", "-C", r.root, "log", "-1", "--format=%ct").Output()
		if err != nil {
			return fmt.Errorf("set SOURCE_DATE_EPOCH, or run in a clone: %w", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	r.time = time.Unix(seconds, 0).UTC()
	return err
}
