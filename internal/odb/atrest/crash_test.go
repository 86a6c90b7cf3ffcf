package atrest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/atrest"
	"github.com/seed-fb9cbc17/cairn/internal/odb/fsck"
	"github.com/seed-fb9cbc17/cairn/internal/odb/odbtest"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
)

func TestMain(m *testing.M) {
	if command := os.Getenv("CAIRN_TEST_COMMAND"); command != "" {
		if err := asProcess(command); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// asProcess is the process that gets killed.
func asProcess(command string) error {
	dir, opt := os.Getenv("CAIRN_TEST_STORE"), atrest.Options{Sealer: sealed.Age{}, Recipients: []string{os.Getenv("CAIRN_TEST_RECIPIENT")}, Identity: []byte(os.Getenv("CAIRN_TEST_KEY"))}
	open := func() (*odb.DB, error) { return odb.OpenSealed(dir, odb.Options{}) }
	call := map[string]func(context.Context, *odb.DB, atrest.Options) (*atrest.Result, error){"seal": atrest.Seal, "reseal": atrest.Reseal, "unseal": atrest.Unseal}[command]
	if command == "seal" {
		open = func() (*odb.DB, error) { return odb.Open(dir, odbtest.Root, odb.Options{}) }
	}
	db, err := open()
	if err != nil {
		return err
	}
	defer db.Close()
	unlock, err := db.Lock(context.Background())
	if err != nil {
		return err
	}
	defer unlock()
	_, err = call(context.Background(), db, opt)
	return err
}

// crashed is a store, and a command on it that is killed or fails over and over.
type crashed struct {
	*testing.T
	command       string
	dir, pristine string
	key           atrest.Options
	open          gittest.Listing
	lines         *odbtest.Lines
}

func newCrashed(t *testing.T, command string) *crashed {
	t.Helper()
	l := filled(t)
	c := &crashed{T: t, command: command, dir: l.Dir(), pristine: filepath.Join(t.TempDir(), "store"), key: keyPair(t), lines: l}
	c.open = listing(t, c.dir)
	if command != "seal" {
		_, err := seal(t, l.DB, c.key)
		odbtest.Must(t, err)
	}
	gittest.CopyTree(t, c.dir, c.pristine)
	return c
}

// reset brings the first state back.
func (c *crashed) reset() {
	c.Helper()
	gittest.CopyTree(c, c.pristine, c.dir)
}

func (c *crashed) env() []string {
	return append(os.Environ(), "CAIRN_TEST_COMMAND="+c.command, "CAIRN_TEST_STORE="+c.dir, "CAIRN_TEST_RECIPIENT="+c.key.Recipients[0],
		"CAIRN_TEST_KEY="+string(c.key.Identity), "GOMAXPROCS=2")
}

// check: the store is open and whole, or it is sealed and opens; nothing is left over.
func (c *crashed) check(when string) {
	c.Helper()
	if odb.IsSealed(c.dir) {
		if _, err := onSealed(c, c.dir, c.key, atrest.Unseal); err != nil {
			c.Fatalf("%s: the sealed store does not open: %v", when, err)
		}
	}
	db, err := odb.Open(c.dir, odbtest.Root, odb.Options{NoSync: true})
	if err != nil {
		c.Fatalf("%s: %v", when, err)
	}
	defer db.Close()
	for fault, err := range fsck.Verify(c.Context(), db, fsck.Options{}) {
		if err != nil || fault.Kind != fsck.FaultTemporary {
			c.Errorf("%s: %+v, %v", when, fault, err)
		}
	}
	odbtest.Must(c, locked(c, db, func() error { return db.Sweep() })) // a kill beside the commit leaves the version of a sealed store
	got := listing(c, c.dir)
	gittest.AssertEqual(c, when, c.open, got)
	c.lines.Check(true)
}

// TestOpenStoreWithVersionOfSealed: a kill beside the commit leaves an open store the version of a sealed one. That is no
// damage, and the next sweep writes its own version again. A sealed store keeps its version.
func TestOpenStoreWithVersionOfSealed(t *testing.T) {
	t.Parallel()
	l := filled(t)
	odbtest.Must(t, locked(t, l.DB, func() error { return l.DB.MarkSealed(true) }))
	for fault, err := range fsck.Verify(t.Context(), l.DB, fsck.Options{}) {
		t.Errorf("%+v, %v", fault, err)
	}
	odbtest.Must(t, locked(t, l.DB, func() error { return l.DB.Sweep() }))
	if got := listing(t, l.Dir())["cairn/version"]; got != listing(t, filled(t).Dir())["cairn/version"] {
		t.Errorf("the version is %v", got)
	}
	_, err := seal(t, l.DB, keyPair(t))
	odbtest.Must(t, err)
	version := listing(t, l.Dir())["cairn/version"]
	odbtest.Must(t, l.DB.Sweep())
	if got := listing(t, l.Dir())["cairn/version"]; got != version {
		t.Errorf("the version of a sealed store became %v", got)
	}
}

// TestKilled kills each command before its write-type system calls.
func TestKilled(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	for _, command := range []string{"seal", "unseal", "reseal"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			c := newCrashed(t, command)
			gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
				c.reset()
				return gittest.KillAt(t, []string{os.Args[0]}, c.env(), gittest.WriteCalls, n)
			}, c.check)
			c.check("undisturbed")
		})
	}
}

// TestWriteErrors lets one write fail after the other. A command that says that it failed has changed nothing, or
// has come so far that the next one finishes it.
func TestWriteErrors(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	for _, command := range []string{"seal", "unseal", "reseal"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			c := newCrashed(t, command)
			gittest.Failed(t, []syscall.Errno{syscall.ENOSPC}, gittest.First(), gittest.Stride(), func(n int, errno syscall.Errno) gittest.Crash {
				c.reset()
				return gittest.FailAt(t, []string{os.Args[0]}, c.env(), gittest.WriteCalls, n, errno)
			}, func(when string, _ gittest.Crash) { c.check(when) })
			c.check("undisturbed")
		})
	}
}
