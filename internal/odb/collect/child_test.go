package collect

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/fsck"
	"github.com/seed-fb9cbc17/cairn/internal/odb/odbtest"
)

// The test binary is also the other process of the tests: childEnv names its work, and dirEnv its
// store.
const (
	childEnv = "COLLECT_TEST_CHILD"
	dirEnv   = "COLLECT_TEST_DIR"
)

var children = map[string]func(db *odb.DB) error{
	"collect": childCollect, "repack": childRepack,
	"soak write": childSoakWrite, "soak collect": childSoakCollect,
}

func TestMain(m *testing.M) {
	work := children[os.Getenv(childEnv)]
	if work == nil {
		os.Exit(m.Run())
	}
	runtime.LockOSThread() // the tracer counts system calls by thread
	db, err := odb.Create(os.Getenv(dirEnv), odbtest.Root, odb.Options{Command: "child " + os.Getenv(childEnv)})
	if err == nil {
		err = work(db)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// childCommand returns the command of another process that works on a store.
func childCommand(what, dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+what, dirEnv+"="+dir)
	return cmd
}

func must(t testing.TB, err error) {
	t.Helper()
	odbtest.Must(t, err)
}

func must1[T any](v T, err error) T { return odbtest.Must1(v, err) }

// faults returns the faults of a store.
func faults(t testing.TB, db *odb.DB) (all []fsck.Fault) {
	t.Helper()
	for f, err := range fsck.Verify(t.Context(), odbtest.Reopen(t, db), fsck.Options{}) {
		must(t, err)
		all = append(all, f)
	}
	return all
}
