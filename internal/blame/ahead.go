package blame

import (
	"runtime"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

// compared is a version with its content and its difference from the one before.
type compared struct {
	content []byte
	edits   []linediff.Edit
	err     error
}

// ahead reads versions, and compares each with the one before, on several processors. Both take
// most of the time, and only following the lines needs an order. It holds the contents of a few
// versions at a time.
type ahead struct {
	contents []chan []byte // by version: its content, for the comparison with the next one
	done     []chan compared
	room     chan struct{} // filled with the versions that were begun and not taken
	stop     chan struct{}
	all      sync.WaitGroup
}

// aheadVersions is how many versions are read before the one that is followed.
const aheadVersions = 16

func readAhead(n int, content func(i int) ([]byte, error), diff func(a, b []byte) []linediff.Edit) *ahead {
	a := &ahead{stop: make(chan struct{}), room: make(chan struct{}, aheadVersions)}
	for range n {
		a.contents, a.done = append(a.contents, make(chan []byte, 1)), append(a.done, make(chan compared, 1))
	}
	jobs := make(chan int)
	a.all.Go(func() {
		defer close(jobs)
		for i := range n {
			select {
			case a.room <- struct{}{}:
			case <-a.stop:
				return
			}
			select {
			case jobs <- i:
			case <-a.stop:
				return
			}
		}
	})
	for range min(n, runtime.GOMAXPROCS(0)) {
		a.all.Go(func() {
			for i := range jobs {
				a.done[i] <- a.compare(i, content, diff)
			}
		})
	}
	return a
}

// compare reads a version. The version before was begun earlier, so its content comes.
func (a *ahead) compare(i int, content func(i int) ([]byte, error), diff func(a, b []byte) []linediff.Edit) compared {
	text, err := content(i)
	a.contents[i] <- text
	var before []byte
	if i > 0 {
		before = <-a.contents[i-1]
	}
	if err != nil {
		return compared{err: err}
	}
	return compared{text, diff(before, text), nil}
}

// versionAt returns a version. Each is taken once, in order.
func (a *ahead) versionAt(i int) compared {
	c := <-a.done[i]
	<-a.room
	return c
}

// end ends all work.
func (a *ahead) end() {
	close(a.stop)
	a.all.Wait()
}
