// Command corpus writes pairs of files that really followed each other: files
// that differ between consecutive versions of well-known Go modules, as the go
// command downloads them. The differential test of package linediff reads the
// outcome when CAIRN_DIFF_CORPUS names it.
//
//	go run ./internal/linediff/corpus -out DIR -pairs 20000
//	CAIRN_DIFF_CORPUS=DIR go test -run TestCorpus -v ./internal/linediff
//
// DIR gets the trees old and new with the same numbered names in both, and
// index.tsv, which says what each number is.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("corpus: ")
	out := flag.String("out", "", "directory to write to; it must not exist")
	pairs := flag.Int("pairs", 20000, "how many pairs to write")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*out, *pairs); err != nil {
		log.Fatal(err)
	}
}

// run downloads, samples and writes. The module cache of the user is left alone.
func run(out string, pairs int) error {
	if err := os.Mkdir(out, 0o777); err != nil {
		return err
	}
	cache, err := os.MkdirTemp("", "cairn-corpus-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(cache)

	var found []candidate
	for _, h := range histories {
		zips, err := h.download(cache)
		if err != nil {
			return err
		}
		n := len(found)
		for i := 1; i < len(zips); i++ {
			if found, err = appendCandidates(found, zips[i-1], zips[i]); err != nil {
				return err
			}
		}
		log.Printf("%s: %d versions, %d MiB, %d pairs", h.module, len(zips), totalSize(zips)>>20, len(found)-n)
	}
	written, err := writeSample(out, sample(found, pairs))
	log.Printf("%d of %d pairs, %d MiB", min(pairs, len(found)), len(found), written>>20)
	return err
}

// archive is a downloaded module version.
type archive struct{ Path, Version, Zip, Dir, Error string }

func totalSize(zips []archive) (size int64) {
	for _, z := range zips {
		if info, err := os.Stat(z.Zip); err == nil {
			size += info.Size()
		}
	}
	return size
}

// download has the go command fetch and verify the versions into cache; what it
// unpacks is removed again.
func (h history) download(cache string) ([]archive, error) {
	args := []string{"mod", "download", "-json"}
	for _, v := range h.versions {
		args = append(args, h.module+"@"+v)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = cache // outside of any module
	cmd.Env = append(os.Environ(), "GOMODCACHE="+filepath.Join(cache, "mod"), "GOFLAGS=-modcacherw", "GOWORK=off")
	cmd.Stderr = os.Stderr
	stdout, runErr := cmd.Output() // fails as well if a single version does, which then says so
	byVersion := map[string]archive{}
	for dec := json.NewDecoder(bytes.NewReader(stdout)); ; {
		var a archive
		if err := dec.Decode(&a); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: output of go mod download: %w", h.module, err)
		}
		if a.Error != "" {
			return nil, fmt.Errorf("%s@%s: %s", a.Path, a.Version, a.Error)
		}
		byVersion[a.Version] = a
		if err := os.RemoveAll(a.Dir); err != nil {
			return nil, err
		}
	}
	if runErr != nil {
		return nil, fmt.Errorf("%s: go mod download: %w", h.module, runErr)
	}
	zips := make([]archive, len(h.versions)) // in the order of history
	for i, v := range h.versions {
		zips[i] = byVersion[v]
	}
	return zips, nil
}
