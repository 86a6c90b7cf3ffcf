package listen

import (
	"net/http"
	"sync"
	"time"
)

// Idle ends a server that has no requests. A timer runs only while no request is under way, and
// nothing is polled. A stream of events counts as a request until its reader leaves.
type Idle struct {
	after time.Duration

	mu    sync.Mutex
	under int // requests under way
	timer *time.Timer
}

// NewIdle calls end once no request has been under way for a time. The time begins now.
func NewIdle(after time.Duration, end func()) *Idle {
	return &Idle{after: after, timer: time.AfterFunc(after, end)}
}

// Count counts the requests that come in these ways.
func (i *Idle) Count(ways []Way) {
	for n := range ways {
		ways[n].handler = i.counting(ways[n].handler)
	}
}

func (i *Idle) counting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.add(1)
		defer i.add(-1)
		next.ServeHTTP(w, r)
	})
}

func (i *Idle) add(n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.under += n; i.under > 0 {
		i.timer.Stop()
		return
	}
	i.timer.Reset(i.after)
}
