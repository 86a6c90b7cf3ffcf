package cairn_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func TestR03_FileVanishesWhileListed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"keep": gittest.File("k")})
	stop := churn(t, func(n int) {
		os.WriteFile(f.path("t"), nil, 0o644)
		os.Mkdir(f.path("d"), 0o755)
		os.WriteFile(f.path("d/x"), []byte("x"), 0o644)
		os.RemoveAll(f.path("d"))
		os.Remove(f.path("t"))
	})
	for range 50 {
		f.track()
	}
	stop()
	f.write("keep", "changed")
	before := f.trackAll()
	if got := readAt(t, f, before, "keep"); got != "changed" {
		t.Errorf("keep at the checkpoint: %q", got)
	}
}

func TestR04_UnreadableFile(t *testing.T) {
	if os.Geteuid() == 0 {
		rerunAsUser(t)
		return
	}
	f := newFixture(t, gittest.Tree{"a.txt": gittest.File("one"), "s": gittest.File("secret"), "dir/in": gittest.File("in")})
	first := f.trackAll()
	for _, name := range []string{"s", "dir"} {
		if err := os.Chmod(f.path(name), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(f.path("dir"), 0o755) })
	f.write("a.txt", "two")
	got := f.track()
	skippedAs(t, got.Skipped, "s", "unreadable")
	skippedAs(t, got.Skipped, "dir", "unreadable")
	if got.Reasons["s"] == nil {
		t.Error("the system's answer is missing")
	}
	if text := readAt(t, f, got.Hash, "a.txt"); text != "two" {
		t.Errorf("a.txt at the checkpoint: %q", text)
	}
	if names := f.patch(first); !slices.Equal(names, []string{"a.txt"}) {
		t.Errorf("what could not be read counts as changed: %q", names)
	}
	os.Chmod(f.path("s"), 0o600)
	os.Chmod(f.path("dir"), 0o755)
	res := f.restore(got.Hash)
	if !f.exists("s") || !f.exists("dir/in") {
		t.Errorf("going back deleted what it had not captured: %+v", res)
	}
}

func TestR05_FileRewrittenWhileRead(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	f := newFixture(t, gittest.Tree{"quiet": gittest.File("q")})
	block := strings.Repeat("0123456789abcdef", 4096)
	stop := churn(t, func(n int) {
		os.WriteFile(f.path("busy"), []byte(fmt.Sprint(n, block)), 0o644)
	})
	sawBusy := false
	for range 20 {
		got := f.track()
		for _, s := range got.Skipped {
			sawBusy = true
			if s.Path != "busy" || s.Reason != "unstable" {
				t.Errorf("skipped %+v", s)
			}
		}
		if len(got.Skipped) == 0 {
			if ok, _ := f.repo().Exists(background, got.Hash, "busy"); ok {
				checkWhole(t, readAt(t, f, got.Hash, "busy"), block)
			}
		}
		if text := readAt(t, f, got.Hash, "quiet"); text != "q" {
			t.Fatalf("quiet: %q", text)
		}
	}
	stop()
	t.Logf("reported as unstable: %v", sawBusy)
	f.trackAll()
}

// checkWhole fails for a mixture of two versions of the busy file. Truncation to
// nothing or a part is a state that the file really had.
func checkWhole(t *testing.T, text, block string) {
	t.Helper()
	digits := strings.IndexByte(text, '0')
	if len(text) > len(block) && !strings.HasSuffix(text, block) || digits < 0 && text != "" && len(text) > 20 {
		t.Errorf("captured a state that never was: %d bytes", len(text))
	}
}

func TestR23_RacyTimestamps(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	f := newFixture(t, gittest.Tree{"f": gittest.File("aa")})
	r := f.repo()
	stamp := time.Now().Add(-time.Hour)
	seen := map[string]bool{}
	for i := range 200 {
		// Same size, same mtime, no pause: only ctime can tell, and within one tick
		// of the clock not even that.
		f.write("f", fmt.Sprintf("%02d", i%100))
		if err := os.Chtimes(f.path("f"), stamp, stamp); err != nil {
			t.Fatal(err)
		}
		got, err := r.Track(background, cairn.TrackOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if text := readAt(t, f, got.Hash, "f"); text != fmt.Sprintf("%02d", i%100) {
			t.Fatalf("round %d captured %q", i, text)
		}
		seen[got.Hash] = true
	}
	if len(seen) != 100 {
		t.Errorf("%d different hashes for 100 contents", len(seen))
	}
}

// churn runs edit over and over until the returned function is called.
func churn(t *testing.T, edit func(n int)) (stop func()) {
	t.Helper()
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			default:
				edit(n)
			}
		}
	})
	stop = sync.OnceFunc(func() { close(done); wg.Wait() })
	t.Cleanup(stop)
	return stop
}

func readAt(t *testing.T, f *fixture, hash, path string) string {
	t.Helper()
	_, rc, err := f.repo().OpenFile(background, hash, path)
	if err != nil {
		t.Fatalf("%s at %s: %v", path, hash, err)
	}
	defer rc.Close()
	data, err := io.ReadAll(rc)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func removeIndex(t *testing.T, f *fixture) {
	t.Helper()
	for _, name := range []string{"index", "index.delta"} {
		if err := os.RemoveAll(filepath.Join(f.repo().StoreDir(), "cairn", name)); err != nil {
			t.Fatal(err)
		}
	}
}

// rerunAsUser runs the calling test once more as a user without privileges, for
// whom permissions mean something.
func rerunAsUser(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "test.bin") // the build's own directory is closed to others
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	gittest.Program(t, binary, data)
	cmd := exec.Command(binary, "-test.run=^"+t.Name()+"$", "-test.v")
	for d := dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	if !asNobody(cmd) {
		t.Skip("permissions do not stop this user, and there is no other to be had")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as another user: %v\n%s", err, out)
	} else if !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Skipf("the test binary cannot be run by another user:\n%s", out)
	}
}
