//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

const (
	soakTrackers = 4
	soakWindow   = 60 // checkpoints that gc keeps
	soakShort    = 6 * time.Second
)

// soakTime is how long the soak test runs: CAIRN_SOAK_TIME=2h makes it long.
func soakTime(t *testing.T) time.Duration {
	if text := os.Getenv("CAIRN_SOAK_TIME"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("CAIRN_SOAK_TIME=%s: %v", text, err)
		}
		return d
	}
	if testing.Short() {
		return time.Second
	}
	return soakShort
}

// soak is a project that several processes track, each looking after a directory of
// its own, while others clean the store, are killed, and run out of disk.
type soak struct {
	*testing.T
	program, dir, home, data string

	mu    sync.Mutex
	taken []soakPoint
	bad   []string
}

// soakPoint is a checkpoint whose id was printed, and the contents of the directory at
// that moment.
type soakPoint struct {
	hash, dir string
	files     map[string]string
}

func (s *soak) env() []string {
	return []string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "CAIRN_DATA_DIR=" + s.data, "CAIRN_NO_BACKGROUND=1",
		fmt.Sprintf("CAIRN_MAX_COUNT=%d", soakWindow), "CAIRN_MIN_FREE_BYTES=none",
	}
}

func (s *soak) command(args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(s.program, append([]string{"-C", s.dir}, args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = s.env(), &stdout, &stderr
	return cmd, &stdout, &stderr
}

// complain is for goroutines, which must not end the test.
func (s *soak) complain(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bad = append(s.bad, fmt.Sprintf(format, args...))
}

// track edits and tracks until the time is over. Every fourth track is killed.
func (s *soak) track(who int, end time.Time) {
	rng := rand.New(rand.NewPCG(uint64(who), 7))
	dir := fmt.Sprintf("tracker%d", who)
	files := make(map[string]string)
	for n := 0; time.Now().Before(end); n++ {
		name := fmt.Sprintf("f%d", rng.IntN(10))
		content := fmt.Sprintf("%d %d %s", who, n, strings.Repeat(fmt.Sprint(rng.Uint64()), rng.IntN(500)))
		if err := os.WriteFile(filepath.Join(s.dir, dir, name), []byte(content), 0o644); err != nil {
			s.complain("%v", err)
			return
		}
		files[name] = content
		cmd, stdout, stderr := s.command("track", "-m", fmt.Sprintf("%d.%d", who, n))
		if err := cmd.Start(); err != nil {
			s.complain("%v", err)
			return
		}
		killed := rng.IntN(4) == 0
		if killed {
			time.Sleep(time.Duration(rng.IntN(40)) * time.Millisecond)
			cmd.Process.Kill()
		}
		err := cmd.Wait()
		if err != nil && !killed && !onlySkipped(err) {
			s.complain("track: %v: %s", err, stderr)
		}
		if hash := strings.TrimSpace(stdout.String()); len(hash) == 40 {
			point := soakPoint{hash, dir, make(map[string]string)}
			for name, content := range files {
				point.files[name] = content
			}
			s.mu.Lock()
			s.taken = append(s.taken, point)
			s.mu.Unlock()
		}
	}
}

// onlySkipped: a file of another tracker kept changing while it was read.
func onlySkipped(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == cli.ExitPartly
}

// collect cleans until the time is over. Every third cleaning is killed.
func (s *soak) collect(end time.Time) {
	rng := rand.New(rand.NewPCG(99, 7))
	for n := 0; time.Now().Before(end); n++ {
		args := []string{"gc"}
		if n%2 == 0 {
			args = append(args, "--thorough")
		}
		cmd, _, stderr := s.command(args...)
		if err := cmd.Start(); err != nil {
			s.complain("%v", err)
			return
		}
		killed := rng.IntN(3) == 0
		if killed {
			time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
			cmd.Process.Kill()
		}
		if err := cmd.Wait(); err != nil && !killed && !strings.Contains(stderr.String(), "being cleaned up") {
			s.complain("gc: %v: %s", err, stderr)
		}
	}
}

// fill makes tracks and cleanings meet a full disk, from a call on that is chosen at
// random.
func (s *soak) fill(end time.Time) {
	rng := rand.New(rand.NewPCG(1, 7))
	for n := 0; time.Now().Before(end); n++ {
		args := []string{s.program, "-C", s.dir, "track", "-m", "full"}
		if n%2 == 0 {
			args = []string{s.program, "-C", s.dir, "gc", "--thorough"}
		}
		gittest.FailFrom(s.T, args, s.env(), "write,pwrite64,fsync,rename,renameat,mkdir,mkdirat", 1+rng.IntN(40), syscall.ENOSPC)
	}
}

// TestSoak runs everything at once, and then looks whether every checkpoint inside the
// window is there, byte by byte, git finds nothing wrong, and nothing is left over.
func TestSoak(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	s := &soak{T: t, program: program, dir: filepath.Join(t.TempDir(), "project"), home: t.TempDir(), data: t.TempDir()}
	gittest.Create(t, s.dir, gittest.Tree{"shared": gittest.File("the same for all")})
	for who := range soakTrackers {
		gittest.Create(t, s.dir, gittest.Tree{fmt.Sprintf("tracker%d", who): gittest.Dir()})
	}
	if first, _, stderr := s.command("track", "-m", "first"); first.Run() != nil {
		t.Fatal(stderr) // without a store there is nothing to clean
	}
	end := time.Now().Add(soakTime(t))
	var all sync.WaitGroup
	for who := range soakTrackers {
		all.Go(func() { s.track(who, end) })
	}
	all.Go(func() { s.collect(end) })
	s.fill(end)
	all.Wait()
	for _, text := range s.bad {
		t.Error(text)
	}
	t.Logf("%d checkpoints were taken", len(s.taken))
	s.settle()
	s.verify()
}

// settle lets the store put itself in order, as the next commands would.
func (s *soak) settle() {
	s.Helper()
	for _, args := range [][]string{{"track"}, {"gc", "--thorough"}, {"doctor"}} {
		cmd, stdout, stderr := s.command(args...)
		if err := cmd.Run(); err != nil && !onlySkipped(err) {
			s.Errorf("%v: %v: %s%s", args, err, stdout, stderr)
		}
	}
}

func (s *soak) verify() {
	s.Helper()
	repo, err := cairn.Open(cairn.Options{Root: s.dir, DataDir: s.data, MustExist: true})
	if err != nil {
		s.Fatal(err)
	}
	defer repo.Close()
	gittest.NewOracle(s).Fsck(repo.StoreDir())
	inWindow := s.inWindow(repo)
	found := 0
	for i, p := range s.taken {
		if !inWindow[p.hash] {
			continue
		}
		found++
		for name, content := range p.files {
			_, rc, err := repo.OpenFile(s.Context(), p.hash, p.dir+"/"+name)
			if err != nil {
				s.Errorf("checkpoint %d: %v", i, err)
				continue
			}
			data, err := io.ReadAll(rc)
			rc.Close()
			if err != nil || string(data) != content {
				s.Errorf("checkpoint %d: %s holds %.40q, %v; want %.40q", i, name, data, err, content)
			}
		}
		if found%10 == 0 {
			s.restore(repo, p)
		}
	}
	if len(s.taken) > 0 && found == 0 {
		s.Error("none of the checkpoints is in the window")
	}
	s.leftovers(repo.StoreDir(), s.dir)
}

// inWindow lists the trees of the checkpoints that have to be there: as many as the
// policy keeps.
func (s *soak) inWindow(repo *cairn.Repo) map[string]bool {
	s.Helper()
	trees := make(map[string]bool)
	n := 0
	for c, err := range repo.Checkpoints(s.Context()) {
		if err != nil {
			s.Fatal(err)
		}
		trees[c.Hash] = true
		n++
	}
	if n > soakWindow {
		s.Errorf("%d checkpoints are left, want at most %d", n, soakWindow)
	}
	if len(s.taken) > 2*soakWindow && n < soakWindow {
		s.Errorf("%d checkpoints are left, want %d", n, soakWindow)
	}
	return trees
}

func (s *soak) restore(repo *cairn.Repo, p soakPoint) {
	s.Helper()
	if _, err := repo.Restore(s.Context(), p.hash, cairn.RestoreOptions{}); err != nil {
		s.Errorf("restore %s: %v", p.hash, err)
		return
	}
	for name, content := range p.files {
		if data, err := os.ReadFile(filepath.Join(s.dir, p.dir, name)); err != nil || string(data) != content {
			s.Errorf("restore %s: %s holds %.40q, %v", p.hash, name, data, err)
		}
	}
}

// leftovers looks for temporary files.
func (s *soak) leftovers(dirs ...string) {
	s.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && (strings.HasPrefix(d.Name(), ".tmp") || strings.HasPrefix(d.Name(), "tmp_") || strings.HasSuffix(d.Name(), ".lock")) {
				s.Errorf("left over: %s", path)
			}
			return err
		})
		if err != nil {
			s.Error(err)
		}
	}
}
