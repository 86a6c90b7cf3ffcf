package diff

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
)

// TestReadAheadIsBounded counts what has been made and not yet been taken: a diff of
// any number of files streams.
func TestReadAheadIsBounded(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		size int64
		most int64
	}{
		"small":    {1, readAheadShares},
		"medium":   {readAheadShare, readAheadShares / 2},
		"large":    {readAheadShares * readAheadShare, 1},
		"very":     {1 << 40, 1},
		"no bytes": {0, readAheadShares},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const n = 1000
			var live, most atomic.Int64
			work := func(i int) (int, error) {
				now := live.Add(1)
				for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
				}
				return i, nil
			}
			want := 0
			for i, err := range readAhead(n, func(int) int64 { return of.size }, work) {
				if i != want || err != nil {
					t.Fatalf("%d, %v instead of %d", i, err, want)
				}
				want++
				if want%100 == 0 { // let the others run as far as they may
					for range 100 {
						runtime.Gosched()
					}
				}
				live.Add(-1)
			}
			if want != n || live.Load() != 0 {
				t.Errorf("%d of %d, %d left", want, n, live.Load())
			}
			if most.Load() > of.most {
				t.Errorf("%d were held at a time, at most %d are wanted", most.Load(), of.most)
			}
		})
	}
}

// TestReadAheadEnds: after a break of the loop, or an error, no goroutine is at work.
func TestReadAheadEnds(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, of := range map[string]struct{ take, fail, want int }{
		"after the first": {take: 1, fail: -1, want: 1},
		"after some":      {take: 20, fail: -1, want: 20},
		"at an error":     {take: 1000, fail: 7, want: 8},
		"at once":         {take: 1000, fail: 0, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var begun, ended atomic.Int64
			got := 0
			var last error
			for _, err := range readAhead(1000, func(int) int64 { return 1 }, func(i int) (int, error) {
				begun.Add(1)
				defer ended.Add(1)
				if i == of.fail {
					return 0, broken
				}
				return i, nil
			}) {
				got, last = got+1, err
				if got == of.take {
					break
				}
			}
			if got != of.want || (of.fail >= 0) != errors.Is(last, broken) {
				t.Errorf("got %d, then %v", got, last)
			}
			if begun.Load() != ended.Load() || begun.Load() > int64(got+readAheadShares) {
				t.Errorf("%d begun, %d ended, %d taken", begun.Load(), ended.Load(), got)
			}
		})
	}
	for range readAhead(0, nil, func(int) (int, error) { return 0, nil }) {
		t.Error("something out of nothing")
	}
}
