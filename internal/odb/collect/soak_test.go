package collect

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/odbtest"
)

const seedEnv = "ODB_TEST_SEED"

// soakRounds is how much a process does unless it is killed.
const soakRounds = 6

// childSoakWrite captures again and again, and checks each time that no object is missing.
func childSoakWrite(db *odb.DB) error {
	r := soakRand()
	for range soakRounds {
		if err := writeSomething(context.Background(), db, r); err != nil {
			if errors.Is(err, errIncomplete) {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(3)
			}
			return err
		}
	}
	return nil
}

// childSoakCollect cleans up again and again.
func childSoakCollect(db *odb.DB) error {
	r := soakRand()
	for range 2 {
		out, err := Run(context.Background(), db, Options{Thorough: r.IntN(2) == 0})
		if len(out.Lost) > 0 {
			fmt.Fprintf(os.Stderr, "%+v\n", out)
			os.Exit(3)
		}
		if err != nil && !errors.Is(err, ErrBusy) {
			return err
		}
	}
	return nil
}

func soakRand() *rand.Rand {
	seed, _ := strconv.Atoi(os.Getenv(seedEnv))
	return rand.New(rand.NewPCG(uint64(seed), 59))
}

// TestSoak lets processes write, delete and clean up in one store, kills them at random system
// calls and lets their writes fail. Afterwards every object that a ref leads to is there, git
// finds no fault, and no leftover is there. CAIRN_SOAK=n makes it n times as long.
func TestSoak(t *testing.T) {
	t.Parallel()
	runs := 8 * gittest.SoakFactor()
	if testing.Short() || gittest.Race {
		runs = 2
	}
	db := odbtest.New(t)
	permanentRef(t, db)
	var writers, collectors sync.WaitGroup
	var done atomic.Bool
	var cleaned atomic.Int32
	for n := range 4 {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 60))
			for i := range runs {
				act(t, db, "soak write", r, n*1000+i)
			}
		})
	}
	for n := range 2 {
		collectors.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 61))
			for i := 0; !done.Load() && !t.Failed(); i++ {
				act(t, db, "soak collect", r, 100_000*(n+1)+i)
				cleaned.Add(1)
			}
		})
	}
	writers.Wait()
	done.Store(true)
	collectors.Wait()
	if t.Failed() || t.Skipped() {
		return
	}
	t.Logf("%d processes have cleaned up beside %d that wrote", cleaned.Load(), 4*runs)
	must(t, complete(odbtest.Reopen(t, db)))
	odbtest.Fsck(t, db)
	collect(t, db, Options{Thorough: true})
	must(t, complete(odbtest.Reopen(t, db)))
	odbtest.WantClean(t, db, "after the soak")
	if got := faults(t, db); len(got) > 0 {
		t.Errorf("faults: %+v", got)
	}
	if n := len(db.PackNames()); n > 2 {
		t.Errorf("%d packs", n)
	}
	odbtest.Fsck(t, db)
}

// act runs one process, disturbed or not.
func act(t *testing.T, db *odb.DB, role string, r *rand.Rand, seed int) {
	child := childCommand(role, db.Dir())
	argv, env := []string{child.Path}, append(child.Env, seedEnv+"="+strconv.Itoa(seed), "GOMAXPROCS=2")
	at := 1 + r.IntN(120)
	var end gittest.Crash
	switch r.IntN(4) {
	case 0:
		end = gittest.KillAt(t, argv, env, gittest.WriteCalls, at)
	case 1:
		end = gittest.FailFrom(t, argv, env, gittest.WriteCalls, at, syscall.ENOSPC)
	case 2:
		end = gittest.FailAt(t, argv, env, gittest.WriteCalls, at, []syscall.Errno{syscall.EIO, syscall.EDQUOT, syscall.ENOSPC}[r.IntN(3)])
	default:
		end = gittest.Undisturbed(t, argv, env)
	}
	if end.ExitCode == 3 || end.ExitCode > 1 || end.ExitCode == 1 && !end.Hit {
		t.Fatalf("run %d: %s\n%s", seed, end, end.Stderr)
	}
}
