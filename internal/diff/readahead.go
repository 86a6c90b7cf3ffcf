package diff

import (
	"iter"
	"runtime"
	"sync"
)

// Limits of the results that are made ahead of the caller, counted in shares. Each piece of work
// takes one share, and one more for each mebibyte that it reads. So some small files are ready when
// the caller asks for them, and large files are read one at a time.
const (
	readAheadShares = 8
	readAheadShare  = 1 << 20
	readAheadBusy   = 4 // largest number of goroutines, at most one per processor
)

// readAhead yields the results of work for 0 to n-1, in this order, while several goroutines work
// on the next ones. size returns the number of bytes that work will hold. The first error ends the
// iteration. All goroutines have ended when it returns.
func readAhead[T any](n int, size func(i int) int64, work func(i int) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		busy := min(readAheadBusy, runtime.GOMAXPROCS(0), n)
		if busy < 2 {
			for i := range n {
				if v, err := work(i); !yield(v, err) || err != nil {
					return
				}
			}
			return
		}
		a := &aheadReader[T]{
			size: size, work: work, shares: make(chan struct{}, readAheadShares), stop: make(chan struct{}),
			begun: make(chan *piece[T], readAheadShares), jobs: make(chan *piece[T], readAheadShares),
		}
		a.all.Go(func() { a.hand(n) })
		for range busy {
			a.all.Go(a.labour)
		}
		defer a.all.Wait()
		defer close(a.stop)
		for p := range a.begun {
			<-p.done
			if !yield(p.value, p.err) || p.err != nil {
				return
			}
			for range p.shares {
				<-a.shares
			}
		}
	}
}

type aheadReader[T any] struct {
	size func(i int) int64
	work func(i int) (T, error)

	shares chan struct{}  // filled with the shares in use
	begun  chan *piece[T] // in order
	jobs   chan *piece[T]
	stop   chan struct{}
	all    sync.WaitGroup
}

type piece[T any] struct {
	i, shares int
	value     T
	err       error
	done      chan struct{}
}

// hand sends out the pieces in order. No other goroutine takes shares, so the piece that the caller
// waits for always has its own.
func (a *aheadReader[T]) hand(n int) {
	defer close(a.begun)
	defer close(a.jobs)
	for i := range n {
		p := &piece[T]{i: i, shares: int(min(readAheadShares, 1+a.size(i)/readAheadShare)), done: make(chan struct{})}
		for range p.shares {
			select {
			case a.shares <- struct{}{}:
			case <-a.stop:
				return
			}
		}
		a.begun <- p // neither blocks: both channels have room for as many pieces as there are shares
		a.jobs <- p
	}
}

// labour works on pieces until hand ends.
func (a *aheadReader[T]) labour() {
	for p := range a.jobs {
		select {
		case <-a.stop: // the caller has stopped
		default:
			p.value, p.err = a.work(p.i)
		}
		close(p.done)
	}
}
