package transfer

import (
	"container/heap"
	"context"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// RemoteStatus says how far a remote is behind this store, as far as this store knows: what another
// program removed there is not seen.
type RemoteStatus struct {
	Remote   string    `json:"remote"` // URL or absolute path, without a password
	Behind   int       `json:"behind"` // checkpoints and operations that were not pushed
	Pushed   time.Time `json:"pushed,omitzero"`
	Tried    time.Time `json:"tried,omitzero"`    // the last push, whatever became of it
	Failures int       `json:"failures,omitzero"` // pushes that failed since Pushed
	Error    string    `json:"error,omitempty"`   // of the last push
	Sync     bool      `json:"sync,omitempty"`    // Sync pushes there
	Sealed   int       `json:"sealed,omitempty"`  // recipients that the next push is sealed for, 0 = it is open
	Retry    time.Time `json:"retry,omitzero"`    // before that Sync does nothing, because pushes have failed
}

// RemoteStatus tells of the remote of calls that name none, nil where there is none. It does not ask the remote.
func (r *Transport) RemoteStatus(ctx context.Context) (*RemoteStatus, error) {
	where, err := r.Remote()
	if err != nil || where == "" {
		return nil, err
	}
	s := r.standingOf(where)
	behind, err := r.behind(ctx, s)
	if err != nil {
		return nil, err
	}
	status := &RemoteStatus{Remote: Redacted(where), Behind: behind, Pushed: s.Pushed, Tried: s.Tried, Failures: s.Failed, Error: s.Error}
	recipients, err := r.recipients(where)
	if status.Sealed = len(recipients); err != nil {
		status.Error = err.Error()
	}
	if status.Sync = r.Opt.Sync != ""; status.Sync {
		status.Retry = s.retry(r.Now())
	}
	return status, nil
}

// Unpushed returns a function that reports whether the remote of calls that name none lacks the newest
// state of a line, by its ref. It is nil where there is no such remote.
func (r *Transport) Unpushed() (func(ref string) bool, error) {
	where, err := r.Remote()
	if err != nil || where == "" {
		return nil, err
	}
	s := r.standingOf(where)
	return func(name string) bool {
		id, err := r.DB.Ref(name)
		return err == nil && s.lacks(odb.Ref{Name: name, ID: id})
	}, nil
}

// behind counts the commits of this store's lines that pushed tips do not lead to.
func (r *Transport) behind(ctx context.Context, pushed *standing) (n int, err error) {
	refs, err := r.ownRefs()
	if err != nil {
		return 0, err
	}
	w := &difference{read: r.ReadCheckpoint, met: make(map[object.ID]*meeting)}
	for _, ref := range refs {
		if pushed.lacks(ref) {
			w.meet(ref.ID, false)
		}
	}
	if len(w.queue) == 0 {
		return 0, nil
	}
	for name, text := range pushed.Tips {
		if id, err := object.ParseID(text); err == nil && !slices.Contains(pushed.Left, name) {
			w.meet(id, true)
		}
	}
	return w.count(ctx)
}

// difference walks back over two sets of commits, newest first, and counts those of the one that the
// other does not lead to.
type difference struct {
	read  func(object.ID) (*history.Checkpoint, error)
	met   map[object.ID]*meeting
	queue meetings
	open  int // commits in the queue that are not pushed, as far as is known
}

// meeting is a commit that the walk has met.
type meeting struct {
	id      object.ID
	at      int64
	parents []object.ID
	pushed  bool
	done    bool
}

// meet adds a commit to the walk. One that cannot be read has been cleaned away or is damaged: it does
// not count.
func (w *difference) meet(id object.ID, pushed bool) {
	m := w.met[id]
	switch {
	case m == nil:
		m = &meeting{id: id, pushed: pushed}
		w.met[id] = m
		c, err := w.read(id)
		if err != nil {
			m.pushed, m.done = true, true
			return
		}
		m.at, m.parents = c.At(), history.CommitOf(c).Parents
	case !pushed || m.pushed:
		return
	case m.done: // it was counted before a clock that ran backwards showed that it is there
		m.pushed = true
	default:
		m.pushed = true
		w.open--
		return
	}
	m.done = false
	if !m.pushed {
		w.open++
	}
	heap.Push(&w.queue, m)
}

// count goes on while the queue holds a commit that was not pushed.
func (w *difference) count(ctx context.Context) (n int, err error) {
	for w.open > 0 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		m := heap.Pop(&w.queue).(*meeting)
		m.done = true
		if !m.pushed {
			w.open--
		}
		for _, parent := range m.parents {
			w.meet(parent, m.pushed)
		}
	}
	for _, m := range w.met {
		if !m.pushed {
			n++
		}
	}
	return n, nil
}

// meetings is a heap of commits, newest first.
type meetings []*meeting

func (q meetings) Len() int           { return len(q) }
func (q meetings) Less(i, j int) bool { return q[i].at > q[j].at }
func (q meetings) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *meetings) Push(x any)        { *q = append(*q, x.(*meeting)) }
func (q *meetings) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
