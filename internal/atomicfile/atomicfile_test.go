package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// holdEnv makes the test binary create a claimed file in the directory it names
// and wait: the writer that the tests kill.
const holdEnv = "ATOMICFILE_TEST_HOLD"

func TestMain(m *testing.M) {
	dir := os.Getenv(holdEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	f, err := Create(dir, Prefix)
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString(filepath.Base(f.Name()) + "\n")
	io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(f)
}

// hold starts a process that has a claimed file in dir. kill ends it without a
// chance to clean up.
func hold(t *testing.T, dir string) (name string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"="+dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("child said %q: %v", line, err)
	}
	var once sync.Once
	kill = func() {
		once.Do(func() {
			cmd.Process.Kill()
			stdin.Close()
			cmd.Wait()
		})
	}
	t.Cleanup(kill)
	return strings.TrimSpace(line), kill
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestWriteCreatesAndReplaces(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		for _, want := range []string{"first", "", strings.Repeat("second ", 1<<16)} {
			if err := Write(path, 0o640, sync, text(want)); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != want {
				t.Fatalf("read %d bytes, %v; want %d", len(got), err, len(want))
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if runtime.GOOS != "windows" && info.Mode() != 0o640 {
				t.Fatalf("mode %v, want 0640", info.Mode())
			}
		}
		if got := names(t, dir); !slices.Equal(got, []string{"f"}) {
			t.Fatalf("directory holds %q", got)
		}
	}
}

// A reader never sees part of a file.
func TestWriteIsAtomicForReaders(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	contents := []string{strings.Repeat("a", 100_000), strings.Repeat("b", 50_000)}
	if err := Write(path, 0o600, false, text(contents[0])); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(stop)
		for i := range 200 {
			if err := Write(path, 0o600, false, text(contents[i%2])); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for done := false; !done; {
		select {
		case <-stop:
			done = true
		default:
		}
		got, err := Read(path)
		if err != nil {
			if runtime.GOOS == "windows" {
				continue
			}
			t.Fatal(err)
		}
		if !slices.Contains(contents, string(got)) {
			t.Fatalf("read a mixture of %d bytes", len(got))
		}
	}
	wg.Wait()
}

func TestWriteFailuresLeaveTheTargetAlone(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	tests := []struct {
		name  string
		setup func(t *testing.T, dir string) (target string)
		write func(io.Writer) error
		want  error
		left  []string
	}{
		{
			name: "producer fails half-way",
			setup: func(t *testing.T, dir string) string {
				return filepath.Join(dir, "old")
			},
			write: func(w io.Writer) error {
				io.WriteString(w, "half")
				return boom
			},
			want: boom,
			left: []string{"full", "old"},
		},
		{
			name: "target is a directory that is not empty",
			setup: func(t *testing.T, dir string) string {
				return filepath.Join(dir, "full")
			},
			write: text("x"),
			left:  []string{"full", "old"},
		},
		{
			name: "no such directory",
			setup: func(t *testing.T, dir string) string {
				return filepath.Join(dir, "none", "f")
			},
			write: text("x"),
			want:  fs.ErrNotExist,
			left:  []string{"full", "old"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "old"), []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(dir, "full", "sub"), 0o700); err != nil {
				t.Fatal(err)
			}
			target := tt.setup(t, dir)
			err := Write(target, 0o600, true, tt.write)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Fatalf("error %v, want %v", err, tt.want)
			}
			if !strings.Contains(err.Error(), target) {
				t.Errorf("error %q does not name %s", err, target)
			}
			if got := names(t, dir); !slices.Equal(got, tt.left) {
				t.Errorf("directory holds %q, want %q", got, tt.left)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "old")); err != nil || string(got) != "old" {
				t.Errorf("old file reads %q, %v", got, err)
			}
		})
	}
}

func TestWriteFailsWhenItsTemporaryFileVanishes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed on this system")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	err := Write(path, 0o600, true, func(w io.Writer) error {
		for _, name := range names(t, dir) {
			os.Remove(filepath.Join(dir, name))
		}
		return nil
	})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %v", err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Fatalf("directory holds %q", got)
	}
}

func TestSyncDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := SyncDir(dir); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := SyncDir(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %v", err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := SyncDir(file); !errors.Is(err, syscall.ENOTDIR) {
		t.Fatalf("a file: error %v", err)
	}
}

func TestSweepTakesTheDeadOnly(t *testing.T) {
	t.Parallel()
	if !sweeps() {
		t.Skip("no lock on this system dies with its owner")
	}
	dir := t.TempDir()
	mine, err := Create(dir, Prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	theirs, kill := hold(t, dir)
	left := Prefix + "0123456789abcdef"
	for _, name := range []string{left, "tmp_other", "file"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, Prefix+"dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	check := func(want ...string) {
		t.Helper()
		if err := Sweep(dir, Prefix); err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		if got := names(t, dir); !slices.Equal(got, want) {
			t.Fatalf("left %q, want %q", got, want)
		}
	}
	own := filepath.Base(mine.Name())
	check(own, theirs, "tmp_other", "file", Prefix+"dir")
	kill()
	check(own, "tmp_other", "file", Prefix+"dir")
	mine.Close()
	check("tmp_other", "file", Prefix+"dir")
}

func TestSweepOfAMissingDirectory(t *testing.T) {
	t.Parallel()
	if err := Sweep(filepath.Join(t.TempDir(), "none"), Prefix); err != nil {
		t.Fatal(err)
	}
	if gone, err := RemoveDead(filepath.Join(t.TempDir(), "none")); !gone || err != nil {
		t.Fatalf("gone %v, %v", gone, err)
	}
}

// A temporary file that is a link is not followed and not removed.
func TestSweepDoesNotFollowLinks(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	target := filepath.Join(outside, "f")
	if err := os.WriteFile(target, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, Prefix+"l")); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	if err := Sweep(dir, Prefix); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(target); err != nil {
		t.Fatal(err)
	}
}

// Writers and sweepers at the same time: every write succeeds, because a writer
// that loses its file before the claim makes another.
func TestCreateAgainstSweepers(t *testing.T) {
	t.Parallel()
	if !sweeps() {
		t.Skip("no lock on this system dies with its owner")
	}
	dir := t.TempDir()
	stop := make(chan struct{})
	var sweepers, writers sync.WaitGroup
	for range 2 {
		sweepers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := Sweep(dir, Prefix); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 4 {
		writers.Go(func() {
			for range 200 {
				f, err := Create(dir, Prefix)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := os.Lstat(f.Name()); err != nil {
					t.Errorf("a claimed file is gone: %v", err)
				}
				if err := RemoveClaimed(f); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	sweepers.Wait()
	if got := names(t, dir); len(got) != 0 {
		t.Fatalf("left %q", got)
	}
}

func sweeps() bool {
	return slices.Contains([]string{"darwin", "dragonfly", "freebsd", "linux", "netbsd", "openbsd", "windows"}, runtime.GOOS)
}

func BenchmarkWrite(b *testing.B) {
	for name, sync := range map[string]bool{"plain": false, "sync": true} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "f")
			for b.Loop() {
				if err := Write(path, 0o600, sync, text("contents\n")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A file belongs to its writer until it has its name, whichever process sweeps.
func TestWriteBesideSweeps(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be renamed here: see keepClaim")
	}
	dir := t.TempDir()
	done := make(chan struct{})
	var sweepers sync.WaitGroup
	for range 2 {
		sweepers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := Sweep(dir, Prefix); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range gittest.Rounds(2000) {
		if err := Write(filepath.Join(dir, "file"), 0o600, false, func(w io.Writer) error {
			_, err := fmt.Fprint(w, i)
			return err
		}); err != nil {
			t.Errorf("write %d: %v", i, err)
			break
		}
	}
	close(done)
	sweepers.Wait()
}
