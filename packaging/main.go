// Command packaging makes the files of a release: for every system an archive and a package for
// npm; for Linux packages for Debian, RPM and Alpine, too; what the program is made of, and the
// checksums of all.
//
//	go -C packaging run . -version 1.2.3 -out DIR
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
	"regexp"
	"strconv"
	"strings"
	"time"
)

// systems are those that a release is for.
const systems = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	log.SetFlags(0)
	log.SetPrefix("packaging: ")
	r := release{root: ".."}
	flag.StringVar(&r.version, "version", "", "of the release, as in 1.2.3 or 1.2.3-rc1")
	flag.StringVar(&r.out, "out", "", "directory for the files")
	flag.StringVar(&r.npm, "npm", "cairn-cli", "name of the package for npm")
	flag.StringVar(&r.maintainer, "maintainer", "The authors of cairn <cairn@localhost>", "of the packages")
	flag.StringVar(&r.homepage, "homepage", "", "address in the packages")
	list := flag.String("systems", systems, "as GOOS/GOARCH, with commas between")
	flag.Parse()
	r.systems = strings.Split(*list, ",")
	if !versions.MatchString(r.version) || r.out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	made, err := r.make()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Join(made, "\n"))
}

// versions are those that all kinds of packages can express.
var versions = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$`)

// release is one run.
type release struct {
	version, out              string
	npm, maintainer, homepage string
	systems                   []string // as GOOS/GOARCH

	root  string // of the repository
	time  time.Time
	level int // of gzip and deflate; 0 = each format's own, for a release
	made  []string
}

// make makes everything and returns the paths.
func (r *release) make() ([]string, error) {
	if err := r.date(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "cairn-packaging-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return nil, err
	}
	texts, err := r.texts(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range r.systems {
		system, arch, ok := strings.Cut(name, "/")
		if !ok {
			return nil, fmt.Errorf("%q is no system: give GOOS/GOARCH, as in linux/amd64", name)
		}
		if err := r.packages(dir, target{system, arch}, texts); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := r.npmMain(); err != nil {
		return nil, err
	}
	return r.made, r.checksums()
}

// packages makes what a release has for one system.
func (r *release) packages(dir string, t target, texts []file) error {
	programs, full, err := r.programs(dir, t)
	if err != nil {
		return err
	}
	files := append(programs, texts...)
	makers := []func(target, []file) error{r.archive, r.npmProgram}
	if t.system == "linux" {
		makers = append(makers, r.linux)
	}
	for _, m := range makers {
		if err := m(t, files); err != nil {
			return err
		}
	}
	return r.contents(t, full)
}

// write puts a file of the release into its directory.
func (r *release) write(name string, data []byte) error {
	path := filepath.Join(r.out, name)
	r.made = append(r.made, path)
	return os.WriteFile(path, data, 0o644)
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
