//go:build unix

package programmodel

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

const (
	modelPart    = 5 * time.Second // without CAIRN_CRASH
	modelTime    = 15 * time.Second
	modelWorkers = 2
	historySteps = 40
)

var program string // the built cairn

func TestMain(m *testing.M) {
	gittest.Prepare()
	if flag.Parse(); testing.Short() { // TestModel plays nothing
		os.Exit(m.Run())
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "programmodel")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if program = os.Getenv("CAIRN_MODEL_PROGRAM"); program == "" {
		program = filepath.Join(dir, "cairn")
		out, err := exec.Command("go", "build", "-o", program, "github.com/seed-fb9cbc17/cairn/cmd/cairn").CombinedOutput()
		if err != nil {
			fmt.Fprintf(os.Stderr, "build cairn: %v\n%s", err, out)
			return 1
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil { // the unprivileged histories run it, too
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// modelDuration is how long the model runs: CAIRN_MODEL_TIME=1h makes it long.
func modelDuration(t *testing.T) time.Duration {
	if text := os.Getenv("CAIRN_MODEL_TIME"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("CAIRN_MODEL_TIME=%s: %v", text, err)
		}
		return d
	}
	if gittest.Full() {
		return modelTime
	}
	return modelPart
}

// TestModel plays histories until its time is over, or the one of CAIRN_MODEL_SEED.
func TestModel(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: the histories need it")
	}
	if text := os.Getenv("CAIRN_MODEL_SEED"); text != "" {
		replay(t, text)
		return
	}
	first := uint64(1)
	if os.Getenv("CAIRN_MODEL_TIME") != "" {
		first = uint64(time.Now().UnixNano()) / 1000 % 1e12
	}
	var seed, steps atomic.Uint64
	seed.Store(first - 1)
	end := time.Now().Add(modelDuration(t))
	var workers sync.WaitGroup
	for range modelWorkers {
		workers.Go(func() {
			for time.Now().Before(end) && (!t.Failed() || os.Getenv("CAIRN_MODEL_GO_ON") != "") {
				s := seed.Add(1)
				h := history{seed: s, steps: allSteps()}
				found, n := play(t, h)
				steps.Add(uint64(n))
				if found != nil {
					report(t, shorten(t, h, found))
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%d histories from seed %d, %d steps, %d requests over HTTP", seed.Load()-first+1, first, steps.Load(), requests.Load())
}

// replay plays CAIRN_MODEL_SEED, with CAIRN_MODEL_STEPS only these steps of it. What a
// whole history finds is shortened.
func replay(t *testing.T, text string) {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("CAIRN_MODEL_SEED=%s: %v", text, err)
	}
	h := history{seed: seed, steps: allSteps()}
	if list := os.Getenv("CAIRN_MODEL_STEPS"); list != "" {
		h.steps = nil
		for _, word := range strings.Split(list, ",") {
			n, err := strconv.Atoi(word)
			if err != nil {
				t.Fatalf("CAIRN_MODEL_STEPS=%s: %v", list, err)
			}
			h.steps = append(h.steps, n)
		}
	}
	found, n := play(t, h)
	if found == nil {
		t.Logf("%d steps, nothing is wrong", n)
		return
	}
	if os.Getenv("CAIRN_MODEL_STEPS") == "" {
		found = shorten(t, h, found)
	}
	report(t, found)
}

func allSteps() []int {
	steps := make([]int, historySteps)
	for i := range steps {
		steps[i] = i
	}
	return steps
}

// report fails the test with the line that replays a finding and the steps that led
// to it.
func report(t *testing.T, f *finding) {
	var words []string
	for _, n := range f.history.steps {
		words = append(words, strconv.Itoa(n))
	}
	t.Errorf("%s: %s\nCAIRN_MODEL_SEED=%d CAIRN_MODEL_STEPS=%s go test ./internal/programmodel -run TestModel -v\n%s",
		f.rule, f.text, f.history.seed, strings.Join(words, ","), strings.Join(f.log, "\n"))
}
