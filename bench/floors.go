package main

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	fastzlib "github.com/klauspost/compress/zlib"
)

// Floors are what the machine can do at best. Whoever looks at every file cannot be
// faster than the bare walk; whoever stores every byte under its SHA-1 in zlib form
// has to read, hash and compress.

// walked is what a bare walk saw.
type walked struct {
	dirs, files int64
}

// timeWalk times one bare walk with an lstat of everything in it.
func timeWalk(dir string) (float64, error) {
	begin := time.Now()
	if _, err := walkTree(dir); err != nil {
		return 0, fmt.Errorf("walk %s: %w", dir, err)
	}
	return time.Since(begin).Seconds(), nil
}

// timeRead times the parallel reading of all files.
func timeRead(dir string) (float64, error) {
	begin := time.Now()
	if _, err := readAll(dir); err != nil {
		return 0, fmt.Errorf("read %s: %w", dir, err)
	}
	return time.Since(begin).Seconds(), nil
}

// throughput is bytes per second on one processor, over contents of the corpus.
type throughput struct {
	SHA1     float64 `json:"sha1"`
	Zlib     float64 `json:"zlib"`     // level 1 of the standard library
	FastZlib float64 `json:"fastZlib"` // level 1 of klauspost/compress
}

// sampleBytes is how much is hashed and compressed.
const sampleBytes = 32 << 20

func measureThroughput(dir string) (t throughput, err error) {
	contents, total, err := sampleContents(dir)
	if err != nil || total == 0 {
		return t, err
	}
	if t.SHA1, err = perSecond(contents, total, hasher{sha1.New()}); err != nil {
		return t, err
	}
	std, err := zlib.NewWriterLevel(io.Discard, 1)
	if err != nil {
		return t, err
	}
	if t.Zlib, err = perSecond(contents, total, std); err != nil {
		return t, err
	}
	fast, err := fastzlib.NewWriterLevel(io.Discard, 1)
	if err != nil {
		return t, err
	}
	t.FastZlib, err = perSecond(contents, total, fast)
	return t, err
}

// sampleContents reads files of the tree until there are sampleBytes. Every 7th is
// taken, so that the sample spreads over the directories.
func sampleContents(dir string) (contents [][]byte, total int64, err error) {
	n := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if n++; n%7 != 1 {
			return nil
		}
		data, err := os.ReadFile(path)
		contents, total = append(contents, data), total+int64(len(data))
		if err == nil && total >= sampleBytes {
			err = filepath.SkipAll
		}
		return err
	})
	return contents, total, err
}

// sink consumes one content after another, as objects are.
type sink interface {
	io.Writer
	Reset(io.Writer)
	Close() error
}

type hasher struct{ hash.Hash }

func (h hasher) Reset(io.Writer) { h.Hash.Reset() }
func (h hasher) Close() error    { h.Sum(nil); return nil }

// perSecond passes all contents twice and times the second pass.
func perSecond(contents [][]byte, total int64, s sink) (float64, error) {
	var begin time.Time
	for range 2 {
		begin = time.Now()
		for _, data := range contents {
			s.Reset(io.Discard)
			if _, err := s.Write(data); err != nil {
				return 0, err
			}
			if err := s.Close(); err != nil {
				return 0, err
			}
		}
	}
	return float64(total) / time.Since(begin).Seconds(), nil
}

// buildEmpty compiles a program that does nothing: what starting a process costs.
func buildEmpty(dir string) (string, error) {
	source := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		return "", err
	}
	program := filepath.Join(dir, "empty"+exeSuffix)
	return program, goBuild(dir, program, source)
}

func timeSpawn(program string) (float64, error) {
	begin := time.Now()
	if err := exec.Command(program).Run(); err != nil {
		return 0, err
	}
	return time.Since(begin).Seconds(), nil
}

// goBuild compiles a package or file of dir.
func goBuild(dir, program, what string) error {
	cmd := exec.Command("go", "build", "-o", program, what)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as releases are built
	var diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &diagnostics, &diagnostics
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", what, err, diagnostics.String())
	}
	return nil
}
