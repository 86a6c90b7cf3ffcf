package odb

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// The test binary serves as the other process, too: childEnv says what it does,
// dirEnv with which store.
const (
	childEnv = "ODB_TEST_CHILD"
	dirEnv   = "ODB_TEST_DIR"
)

var children = map[string]func(db *DB) error{
	"lock":    childLock,
	"spill":   childSpill,
	"work":    childWork,
	"count":   childCount,
	"none":    func(*DB) error { return nil },
	"promise": childPromise, "promise beside": childPromiseBeside,
}

func TestMain(m *testing.M) {
	work := children[os.Getenv(childEnv)]
	if work == nil {
		os.Exit(m.Run())
	}
	runtime.LockOSThread() // so that strace can count system calls, which it does by thread
	opt := Options{Command: "child " + os.Getenv(childEnv)}
	if strings.HasPrefix(os.Getenv(childEnv), "promise") {
		opt.token = boot(1).token
	}
	db, err := Create(os.Getenv(dirEnv), testRoot, opt)
	if err == nil {
		err = work(db)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// ready tells the parent that the child has reached its point, and waits for the parent to close
// the pipe.
func ready() {
	os.Stdout.WriteString("ready\n")
	io.Copy(io.Discard, os.Stdin)
}

// childLock holds the lock.
func childLock(db *DB) error {
	unlock, err := db.Lock(context.Background())
	if err != nil {
		return err
	}
	ready()
	return unlock()
}

// childSpill holds a batch that has written a temporary file.
func childSpill(db *DB) error {
	b := db.NewBatch()
	if _, err := b.Add(object.Blob, noise(7, 2*pack.SpillAt)); err != nil {
		return err
	}
	ready()
	runtime.KeepAlive(b)
	return nil
}

// workBlob is the n-th blob that childWork stores.
func workBlob(n int) []byte { return prose(uint64(1000+n), 300) }

// workRef is the ref of the last blob that childWork stores.
const workRef = "refs/cairn/work"

// childWork makes one write of every kind.
func childWork(db *DB) error {
	unlock, err := db.Lock(context.Background())
	if err != nil {
		return err
	}
	if err := db.Sweep(); err != nil {
		return err
	}
	if err := db.WriteJournal("work", []byte("under way"), nil); err != nil {
		return err
	}
	b := db.NewBatch()
	defer b.Discard()
	var last object.ID
	for n := range 6 {
		if last, err = b.Add(object.Blob, workBlob(n)); err != nil {
			return err
		}
	}
	if err := b.Commit(); err != nil {
		return err
	}
	if err := db.SetRef(workRef, last); err != nil {
		return err
	}
	if err := db.DeleteRef("refs/cairn/old"); err != nil && !strings.Contains(err.Error(), "not found") {
		return err
	}
	if _, err := db.Fold(context.Background()); err != nil {
		return err
	}
	if err := db.RemoveJournal("work"); err != nil {
		return err
	}
	return unlock()
}

// countRounds is how often each child of a counting test takes the lock.
const countRounds = 8

// childCount adds one to a number in a file, again and again, under the lock.
func childCount(db *DB) error {
	for range countRounds {
		if err := addOne(db); err != nil {
			return err
		}
	}
	return nil
}

func addOne(db *DB) error {
	unlock, err := db.Lock(context.Background())
	if err != nil {
		return err
	}
	defer unlock()
	data, err := os.ReadFile(db.PrivatePath("count"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	n := 0
	fmt.Sscan(string(data), &n)
	if err := os.WriteFile(db.PrivatePath("count"), fmt.Appendln(nil, n+1), 0o600); err != nil {
		return err
	}
	return unlock()
}

func childCommand(what, dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+what, dirEnv+"="+dir)
	return cmd
}

// child is another process at work on a store.
type child struct {
	pid  int
	end  func() error // lets it finish
	kill func()       // without a chance to clean up
}

// startChild starts a process and waits until it is ready.
func startChild(t *testing.T, what, dir string) child {
	t.Helper()
	cmd := childCommand(what, dir)
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	must(t, cmd.Start())
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		cmd.Wait()
		t.Fatalf("child says %q, %v: %s", line, err, stderr.String())
	}
	wait := sync.OnceValue(func() error {
		stdin.Close()
		return cmd.Wait()
	})
	c := child{pid: cmd.Process.Pid, end: wait, kill: func() {
		cmd.Process.Kill()
		wait()
	}}
	t.Cleanup(c.kill)
	return c
}
