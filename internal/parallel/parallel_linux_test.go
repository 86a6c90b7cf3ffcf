package parallel

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// allowed returns the distinct sets of processors that the threads of this process may use.
func allowed(t *testing.T) map[string]bool {
	t.Helper()
	sets := make(map[string]bool)
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		text, _ := os.ReadFile(file) // "" of a thread that has ended
		for line := range strings.Lines(string(text)) {
			if value, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
				sets[strings.TrimSpace(value)] = true
			}
		}
	}
	return sets
}

// TestLeaveProcessor: leaving a processor keeps the set of processors that the thread may
// use.
func TestLeaveProcessor(t *testing.T) {
	var before, after, only unix.CPUSet
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	if before.Count() < 2 {
		t.Skip("there is one processor")
	}
	here := currentProcessor()
	if here < 0 || !before.IsSet(int(here)) {
		t.Fatalf("on processor %d of %v", here, before)
	}
	here.leave()
	if err := unix.SchedGetaffinity(0, &after); err != nil || after != before {
		t.Errorf("%v afterwards, %v before (%v)", after, before, err)
	}
	only.Set(int(here))
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		t.Fatal(err)
	}
	here.leave() // cannot
	if err := unix.SchedGetaffinity(0, &after); err != nil || after != only {
		t.Errorf("%v afterwards, %v before (%v)", after, only, err)
	}
	if err := unix.SchedSetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
}

// TestRunLeavesThreadsAsTheyWere: no thread has fewer processors after Run.
func TestRunLeavesThreadsAsTheyWere(t *testing.T) {
	before := allowed(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				var calls atomic.Int32
				Run(4, func() { calls.Add(1) })
				if n := calls.Load(); n != 4 {
					t.Errorf("%d calls", n)
				}
			}
		})
	}
	wg.Wait()
	if after := allowed(t); len(after) != len(before) {
		t.Errorf("threads may run on %v, before on %v", after, before)
	}
}
