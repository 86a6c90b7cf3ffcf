package main

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	fastzlib "github.com/klauspost/compress/zlib"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// timeWalk times one bare walk with an lstat of everything in it, without entering
// what is ignored.
func timeWalk(dir string, ignored map[string]bool) (float64, error) {
	begin := time.Now()
	if _, err := system.WalkTree(dir, ignored); err != nil {
		return 0, fmt.Errorf("walk %s: %w", dir, err)
	}
	return time.Since(begin).Seconds(), nil
}

// timeWalkAlone is timeWalk on one processor.
func timeWalkAlone(dir string, ignored map[string]bool) (float64, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	return timeWalk(dir, ignored)
}

// timeRead times the parallel reading of all captured files.
func timeRead(dir string, captured []string) (float64, error) {
	begin := time.Now()
	if _, err := trees.ReadAll(dir, captured); err != nil {
		return 0, fmt.Errorf("read %s: %w", dir, err)
	}
	return time.Since(begin).Seconds(), nil
}

// sampleBytes is how much is hashed and compressed.
const sampleBytes = 32 << 20

func measureThroughput(dir string, captured []string) (t report.Throughput, err error) {
	contents, total, err := sampleContents(dir, captured)
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

// sampleContents reads captured files until there are sampleBytes. Every 7th is
// taken, so that the sample spreads over the directories.
func sampleContents(dir string, captured []string) (contents [][]byte, total int64, err error) {
	for i := 0; i < len(captured) && total < sampleBytes; i += 7 {
		name := filepath.Join(dir, filepath.FromSlash(captured[i]))
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() {
			if err != nil {
				return nil, 0, err
			}
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, 0, err
		}
		contents, total = append(contents, data), total+int64(len(data))
	}
	return contents, total, nil
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
	return program, goBuild(dir, program, source, "")
}

func timeSpawn(program string) (float64, error) {
	begin := time.Now()
	if err := exec.Command(program).Run(); err != nil {
		return 0, err
	}
	return time.Since(begin).Seconds(), nil
}

// buildCairn compiles the program as a release has it, with its cairn-full beside it, in the module that this one
// measures: its own go.mod has the versions that users get.
func buildCairn(program string) error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", names.ModulePath).Output()
	if err != nil {
		return fmt.Errorf("the source of cairn is not found, start the benchmark with go -C bench run .: %w", err)
	}
	dir := strings.TrimSpace(string(out))
	full := filepath.Join(filepath.Dir(program), "cairn-full"+exeSuffix)
	return errors.Join(goBuild(dir, program, "./cmd/cairn", "lean"), goBuild(dir, full, "./cmd/cairn", ""))
}

// goBuild compiles a package or file of dir.
func goBuild(dir, program, what, tags string) error {
	cmd := exec.Command("go", "build", "-tags", tags, "-o", program, what)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as releases are built
	var diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &diagnostics, &diagnostics
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", what, err, diagnostics.String())
	}
	return nil
}
