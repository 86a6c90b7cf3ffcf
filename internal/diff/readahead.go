package diff

import (
	"iter"
	"runtime"
	"sync"
)

// What may have been made and not yet been taken, counted in shares: one for each piece
// of work and one for each mebibyte that it reads. So some small files are ready when
// they are asked for, and large ones come one at a time.
const (
	readAheadShares = 8
	readAheadShare  = 1 << 20
	readAheadBusy   = 4 // goroutines at most, one per processor
)

// readAhead yields what work makes of 0 to n-1, in this order, while several
// goroutines are at what comes next. size says how many bytes work will hold. The first
// error ends it. Nobody is left at work when it returns.
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

	shares chan struct{}  // holds what is taken of them
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

// hand gives out the pieces in order. It alone takes shares, so that the piece that is
// waited for always has its own.
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
		a.begun <- p // neither blocks: there is room for as many as there are shares
		a.jobs <- p
	}
}

func (a *aheadReader[T]) labour() {
	for p := range a.jobs {
		select {
		case <-a.stop: // nobody waits for it
		default:
			p.value, p.err = a.work(p.i)
		}
		close(p.done)
	}
}
