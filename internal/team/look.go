package team

import (
	"context"
	"errors"
	"sync"
	"time"
)

// look is one thing on the remote: the list of the projects, or the lines of a project.
type look struct {
	mu      sync.Mutex
	running chan struct{} // closed at the end of the look under way; nil without one
	last    time.Time     // end of the last look
	good    time.Time     // end of the last one that succeeded; zero = there was none
	err     error         // of the last one
}

// Freshness says how old a state is.
type Freshness struct {
	When time.Time // of the last look at the remote that succeeded; zero = none did
	Err  error     // of the last look; nil if it succeeded
}

func (l *look) freshness() Freshness {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Freshness{l.good, l.err}
}

// errBusy: no look has ended yet.
var errBusy = errors.New("the remote has not answered yet")

// at looks at the remote, unless the last look is newer than Options.Every, and returns how old the
// state is. A caller for whom there is a state waits no longer than Options.Patience.
func (t *Team) at(ctx context.Context, l *look, do func(context.Context) error) Freshness {
	l.mu.Lock()
	if l.running == nil && t.opt.Now().Sub(l.last) >= t.opt.Every {
		l.running = make(chan struct{})
		t.looking.Go(func() { t.run(l, do) })
	}
	running, known := l.running, !l.good.IsZero()
	l.mu.Unlock()
	if running == nil {
		return l.freshness()
	}
	var enough <-chan time.Time
	if known {
		enough = time.After(t.opt.Patience)
	}
	select {
	case <-running:
		return l.freshness()
	case <-enough:
	case <-ctx.Done():
	}
	f := l.freshness()
	f.Err = errors.Join(f.Err, errBusy)
	return f
}

func (t *Team) run(l *look, do func(context.Context) error) {
	ctx, cancel := context.WithTimeout(t.life, t.opt.Timeout)
	defer cancel()
	err := do(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last, l.err = t.opt.Now(), err
	if err == nil {
		l.good = l.last
	} else {
		t.opt.Logger.Warn("the remote cannot be read", "error", err)
	}
	close(l.running)
	l.running = nil
}
