package odb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// tryLocking tries once to get the lock.
func tryLocking(t *testing.T, db *DB) (func() error, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	return db.Lock(ctx)
}

func TestLock(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	db.opt.Command = "track"
	for range 3 {
		unlock, err := db.Lock(t.Context())
		must(t, err)
		h := readHolder(db.path(holderFile))
		host, _ := os.Hostname()
		if h.PID != os.Getpid() || h.Host != host || h.Command != "track" || time.Since(h.Since).Abs() > time.Hour {
			t.Errorf("holder %+v", h)
		}
		if runtime.GOOS == "linux" && len(h.BootID) != 36 {
			t.Errorf("boot id %q", h.BootID)
		}
		must(t, unlock())
		must(t, unlock())
		if h := readHolder(db.path(holderFile)); h != (Holder{}) {
			t.Errorf("holder %+v of a free lock", h)
		}
	}
}

// Of the goroutines of one store, and of several stores in one process, one has the lock at a
// time.
func TestLockExcludesInOneProcess(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	stores := []*DB{db, db, db, reopen(t, db), reopen(t, db)}
	var inside atomic.Int32
	var wg sync.WaitGroup
	for _, db := range stores {
		wg.Go(func() {
			for range 20 {
				unlock, err := db.Lock(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d have the lock", n)
				}
				runtime.Gosched()
				inside.Add(-1)
				if err := unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestR87EightProcesses(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "snapshot", "store")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if out, err := childCommand("count", dir).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	data, err := os.ReadFile(filepath.Join(dir, privateDir, "count"))
	if err != nil || string(data) != "64\n" {
		t.Errorf("counted %q, %v; want 64", data, err)
	}
}

func TestLockWaitsForALivingProcess(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	c := startChild(t, "lock", db.Dir())
	_, err := tryLocking(t, db)
	var locked *LockedError
	if !errors.As(err, &locked) || !errors.Is(err, ErrLocked) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v", err)
	}
	if locked.Holder.PID != c.pid || locked.Holder.Command != "child lock" || locked.Path != db.path(lockFile) {
		t.Errorf("error %+v, the holder is %d", locked, c.pid)
	}
	for _, part := range []string{locked.Holder.Host, "child lock", locked.Holder.Since.Format("2006-01-02T15:04"), db.path(lockFile), "try again"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
	var ending atomic.Bool
	got := make(chan error)
	go func() {
		unlock, err := db.Lock(t.Context())
		if err == nil && !ending.Load() {
			err = errors.New("two have the lock")
		}
		if unlock != nil {
			err = errors.Join(err, unlock())
		}
		got <- err
	}()
	ending.Store(true)
	must(t, c.end())
	must(t, <-got)
}

func TestLockEndsWithItsContext(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	unlock, err := db.Lock(t.Context())
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, other := range map[string]*DB{"same": db, "other": reopen(t, db)} {
		if _, err := other.Lock(ctx); !errors.Is(err, ErrLocked) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, unlock())
	// A free lock is granted even then.
	unlock, err = db.Lock(ctx)
	must(t, err)
	must(t, unlock())
}

func TestR86LockOfAKilledProcess(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	for range 3 {
		c := startChild(t, "lock", db.Dir())
		if _, err := tryLocking(t, db); !errors.Is(err, ErrLocked) {
			t.Fatalf("lock of a living process: %v", err)
		}
		c.kill()
		if h := readHolder(db.path(holderFile)); h.PID != c.pid {
			t.Fatalf("holder %+v, killed was %d", h, c.pid)
		}
		unlock, err := tryLocking(t, db)
		if err != nil {
			t.Fatalf("lock of a killed process: %v", err)
		}
		must(t, unlock())
	}
}

func TestLockOfOtherMachines(t *testing.T) {
	t.Parallel()
	here := machine()
	tests := []struct {
		name    string
		holder  Holder
		foreign bool
	}{
		{"this machine, this boot", Holder{PID: 1 << 22, Host: here.Host, BootID: here.BootID}, false},
		{"this machine, an earlier boot", Holder{PID: 7, Host: here.Host, BootID: "earlier"}, false},
		{"another machine", Holder{PID: 7, Host: "elsewhere", BootID: "another", Command: "track"}, true},
		{"another machine without a boot id", Holder{PID: 7, Host: "elsewhere"}, true},
		{"a container of this machine, or a new name", Holder{PID: 7, Host: "elsewhere", BootID: here.BootID}, here.BootID == ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := newStore(t)
			tt.holder.Since = time.Unix(1700000000, 0).UTC() // age decides nothing
			line, err := encodeHolder(tt.holder)
			must(t, err)
			must(t, os.WriteFile(db.path(holderFile), line, 0o600))
			unlock, err := db.Lock(t.Context())
			if !tt.foreign {
				must(t, err)
				must(t, unlock())
				return
			}
			var locked *LockedError
			if !errors.As(err, &locked) || locked.Holder != tt.holder || locked.Path != db.path(holderFile) {
				t.Fatalf("error %v", err)
			}
			for _, part := range []string{"elsewhere", "process 7", "2023-11-14", "if that machine is gone, remove " + db.path(holderFile)} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
			// The step in the message helps, and the refusal has changed nothing.
			if got := readHolder(db.path(holderFile)); got != tt.holder {
				t.Errorf("record is now %+v", got)
			}
			must(t, os.Remove(db.path(holderFile)))
			unlock, err = db.Lock(t.Context())
			must(t, err)
			must(t, unlock())
		})
	}
}

func TestHolderRecord(t *testing.T) {
	t.Parallel()
	h := Holder{PID: 42, Host: "a b\"c", BootID: "boot", Command: "track -m 'x\ny' \u00e9", Since: time.Unix(1700000000, 5e6).UTC()}
	line, err := encodeHolder(h)
	must(t, err)
	if strings.Count(string(line), "\n") != 1 {
		t.Errorf("record %q", line)
	}
	for _, file := range []string{string(line), string(line) + "rest of a longer record\n"} {
		if got, ok := decodeHolder([]byte(file)); !ok || got != h {
			t.Errorf("%q: %+v, %v", file, got, ok)
		}
	}
	for i := range line {
		if got, ok := decodeHolder(line[:i]); ok && i < len(line)-1 {
			t.Fatalf("cut to %d: %+v", i, got)
		}
		bad := slices.Clone(line)
		bad[i] ^= 0x04
		if got, ok := decodeHolder(bad); ok && got != h {
			t.Fatalf("flip in byte %d: %+v", i, got)
		}
	}
}

// An invalid record, as after a loss of power, names no holder.
func TestTornHolderRecord(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	for _, record := range []string{"", "\n", "garbage", strings.Repeat("\x00", 200), `{"pid":1}`, strings.Repeat("x", 2*maxHolder)} {
		must(t, os.WriteFile(db.path(holderFile), []byte(record), 0o600))
		unlock, err := db.Lock(t.Context())
		if err != nil {
			t.Fatalf("%.20q: %v", record, err)
		}
		if h := readHolder(db.path(holderFile)); h.PID != os.Getpid() {
			t.Errorf("%.20q: holder %+v", record, h)
		}
		if _, err := tryLocking(t, reopen(t, db)); !errors.Is(err, ErrLocked) {
			t.Errorf("%v", err)
		}
		must(t, unlock())
	}
}

func TestLockFileIsMadeAgain(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be removed on this system")
	}
	db := newStore(t)
	must(t, os.Remove(db.path(lockFile)))
	unlock, err := db.Lock(t.Context())
	must(t, err)
	must(t, unlock())
	if _, err := os.Stat(db.path(lockFile)); err != nil {
		t.Error(err)
	}
}

func TestLockOnAReplacedFileDoesNotCount(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be removed on this system")
	}
	path := filepath.Join(t.TempDir(), "lock")
	fl := flock.New(path)
	for _, replace := range []func() error{
		func() error { return os.Remove(path) },
		func() error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
	} {
		if ok, err := tryLock(fl); !ok || err != nil {
			t.Fatal(ok, err)
		}
		must(t, replace())
		if ok, err := tryLock(fl); ok || err != nil { // it has the lock, but of what?
			t.Errorf("%v, %v", ok, err)
		}
	}
	if ok, err := tryLock(fl); !ok || err != nil {
		t.Error(ok, err)
	}
	must(t, fl.Unlock())
}

func TestR98LockThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	must(t, os.Remove(db.path(lockFile)))
	must(t, os.Mkdir(db.path(lockFile), 0o700))
	must(t, os.WriteFile(db.path(lockFile, "x"), nil, 0o600))
	// A directory can be locked on Unix, so the record is what fails there.
	must(t, os.Mkdir(db.path(holderFile), 0o700))
	_, err := db.Lock(t.Context())
	if err == nil || errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), db.Dir()) {
		t.Errorf("error %v", err)
	}
	must(t, os.RemoveAll(db.path(lockFile)))
	must(t, os.Remove(db.path(holderFile)))
	unlock, err := db.Lock(t.Context())
	must(t, err)
	must(t, unlock())
}

func TestUnknownHolderInText(t *testing.T) {
	t.Parallel()
	err := &LockedError{Path: "p"}
	if got := err.Error(); !strings.Contains(got, "an unknown process") {
		t.Error(got)
	}
	if !errors.Is(err, ErrLocked) || errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// eventually waits until a condition holds that is bound to hold.
func eventually(t *testing.T, happens func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !happens(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it has not happened within a minute")
		}
	}
}

// A process or goroutine that waits for the lock is noticed, from the same process and from
// another, until it has got the lock, has given up or has died.
func TestWanted(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	unlock, err := db.Lock(t.Context())
	must(t, err)
	if db.LockWanted() {
		t.Fatal("no process waits")
	}
	other := reopen(t, db)
	got := make(chan error)
	go func() {
		unlock, err := other.Lock(t.Context())
		if err == nil {
			err = unlock()
		}
		got <- err
	}()
	eventually(t, db.LockWanted)
	must(t, unlock())
	must(t, <-got)
	if db.LockWanted() {
		t.Error("no process waits any more")
	}
	unlock, err = db.Lock(t.Context())
	must(t, err)
	go func() {
		unlock, err := db.Lock(t.Context())
		if err == nil {
			err = unlock()
		}
		got <- err
	}()
	eventually(t, db.LockWanted)
	must(t, unlock())
	must(t, <-got)

	unlock, err = db.Lock(t.Context())
	must(t, err)
	waiter := childCommand("lock", db.Dir())
	must(t, waiter.Start())
	eventually(t, db.LockWanted)
	must(t, waiter.Process.Kill())
	waiter.Wait()
	eventually(t, func() bool { return !db.LockWanted() })
	must(t, unlock())
}
