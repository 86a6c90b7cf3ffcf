package trial

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

// pasts makes checkpoints whose ids are their places.
func pasts(n int) []*cairn.Checkpoint {
	steps := make([]*cairn.Checkpoint, n)
	for i := range steps {
		steps[i] = &cairn.Checkpoint{ID: fmt.Sprintf("%040d", i)}
	}
	return steps
}

func place(c *cairn.Checkpoint) int {
	i, _ := strconv.Atoi(c.ID)
	return i
}

// bisect searches states with these statuses. No state may be tried twice.
func bisect(t *testing.T, statuses []int) (*Result, int, error) {
	t.Helper()
	tried := make(map[int]bool)
	res, err := Bisect(t.Context(), pasts(len(statuses)), func(_ context.Context, c *cairn.Checkpoint) (int, error) {
		if tried[place(c)] {
			t.Errorf("%d is tried twice", place(c))
		}
		tried[place(c)] = true
		return statuses[place(c)], nil
	})
	return res, len(tried), err
}

// TestBisectAgainstGit: where states pass up to one and fail from there, with skipped ones in between,
// the answer is that of git bisect run, also where several states could be the first.
func TestBisectAgainstGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	seeds := 24
	if testing.Short() {
		seeds = 8
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(seed), 1))
			statuses := make([]int, 2+rng.IntN(14))
			first := 1 + rng.IntN(len(statuses)-1)
			for i := range statuses {
				switch inner := i > 0 && i < len(statuses)-1; {
				case inner && rng.IntN(3) == 0:
					statuses[i] = 125
				case i >= first:
					statuses[i] = []int{1, 2, 124}[rng.IntN(3)]
				}
			}
			want := gitBisect(t, statuses)
			got, _, err := bisect(t, statuses)
			if err != nil {
				t.Fatal(err)
			}
			var places []int
			for _, c := range got.Candidates {
				places = append(places, place(c))
			}
			if !slices.Equal(places, want) || (got.First != nil) != (len(want) == 1) {
				t.Errorf("%v: %v, git says %v", statuses, places, want)
			}
		})
	}
}

// gitBisect returns the places that git bisect run leaves, in order.
func gitBisect(t *testing.T, statuses []int) (places []int) {
	t.Helper()
	dir := t.TempDir()
	git := func(input string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "advice.detachedHead=false"}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.CombinedOutput()
		if err != nil && args[0] != "bisect" {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("", "init", "-q", "-b", "main")
	var stream strings.Builder
	for i, status := range statuses {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter a <a@b> %d +0000\ndata 1\n%c", 1_000_000_000+i, 'c')
		fmt.Fprintf(&stream, "\nM 644 inline n\ndata %d\n%d\nM 644 inline status\ndata %d\n%d\n\n", len(fmt.Sprint(i)), i, len(fmt.Sprint(status)), status)
	}
	git(stream.String(), "fast-import", "--quiet")
	git("", "checkout", "-q", "main")
	ids := strings.Fields(git("", "rev-list", "--reverse", "main"))
	git("", "bisect", "start", "main", ids[0])
	text := git("", "bisect", "run", "sh", "-c", "exit $(cat status)")
	if len(statuses) == 2 { // git says it at once
		return []int{1}
	}
	if m := regexp.MustCompile(`(?m)^([0-9a-f]{40}) is the first '?bad'? commit`).FindStringSubmatch(text); m != nil {
		return []int{slices.Index(ids, m[1])}
	}
	_, text, ok := strings.Cut(text, "could be any of:")
	if !ok {
		t.Fatalf("git bisect does not find it")
	}
	for _, m := range regexp.MustCompile(`(?m)^[0-9a-f]{40}$`).FindAllString(text, -1) {
		places = append(places, slices.Index(ids, m))
	}
	slices.Sort(places)
	return places
}

// TestBisectAnyHistory: whatever passes and fails, what is found fails, the last good one passes, and
// everything between them cannot be tested. Without skips the search halves.
func TestBisectAnyHistory(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		statuses := make([]int, 2+rng.IntN(30))
		skips := rng.IntN(3)
		for i := range statuses {
			statuses[i] = []int{0, 1, 0, 1, 125}[rng.IntN(4+min(skips, 1))]
		}
		statuses[0], statuses[len(statuses)-1] = 0, 1
		got, tried, err := bisect(t, statuses)
		if err != nil {
			t.Fatal(err)
		}
		good, bad := place(got.Good), place(got.Candidates[len(got.Candidates)-1])
		if statuses[good] != 0 || statuses[bad] != 1 || bad-good != len(got.Candidates) {
			t.Fatalf("%v: %d to %d", statuses, good, bad)
		}
		for _, s := range statuses[good+1 : bad] {
			if s != 125 {
				t.Fatalf("%v: %d to %d", statuses, good, bad)
			}
		}
		if most := 2 + bits.Len(uint(len(statuses)-1)); skips == 0 && tried > most {
			t.Fatalf("%v: %d tries, %d are enough", statuses, tried, most)
		}
	}
}

// TestBisectWithoutAnAnswer: ends that do not hold what they should, and commands that do not end by
// themselves, are errors of their own.
func TestBisectWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		statuses []int
		want     error
	}{
		{nil, ErrUntestable}, {[]int{1}, ErrUntestable}, {[]int{0, 1, 0}, ErrPasses}, {[]int{1, 0, 1}, ErrFails}, {[]int{0, 0, 125}, ErrUntestable},
		{[]int{125, 0, 1}, ErrUntestable}, {[]int{0, 126, 1}, ErrUntestable}, {[]int{0, 130, 1}, ErrUntestable}, {[]int{0, -1, 1}, ErrUntestable},
	} {
		if res, _, err := bisect(t, c.statuses); !errors.Is(err, c.want) || res != nil {
			t.Errorf("%v: %v, not %v", c.statuses, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Bisect(ctx, pasts(3), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestBisectInterrupted: an interrupt during a try ends the search, whatever status the command has made of
// it. None of them is a result.
func TestBisectInterrupted(t *testing.T) {
	t.Parallel()
	for _, status := range []int{0, 1, 125, 143} {
		for last := range 3 { // the tries of the last step, of the first, and of the one between
			ctx, interrupt := context.WithCancel(t.Context())
			tries := 0
			res, err := Bisect(ctx, pasts(3), func(_ context.Context, c *cairn.Checkpoint) (int, error) {
				if tries++; tries > last {
					interrupt()
					return status, nil
				}
				return place(c) / 2, nil
			})
			if !errors.Is(err, context.Canceled) || res != nil {
				t.Errorf("status %d in try %d: %+v, %v", status, last+1, res, err)
			}
		}
	}
}
