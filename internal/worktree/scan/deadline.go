package scan

import (
	"context"
	"errors"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// errUnread says that the deadline passed while a file was read.
var errUnread = errors.New("unread")

// interrupted ends the scan because its context has ended: at once, or where the
// deadline has passed by looking at nothing more.
func (sc *scanner) interrupted() {
	if errors.Is(sc.ctx.Err(), context.DeadlineExceeded) {
		sc.late.Store(true)
		return
	}
	sc.fail(context.Cause(sc.ctx))
}

// overdue asks the context itself, which may know earlier than interrupted.
func (sc *scanner) overdue() (late bool, err error) {
	switch err := sc.ctx.Err(); {
	case err == nil:
		return false, nil
	case !errors.Is(err, context.DeadlineExceeded):
		return false, err
	}
	sc.late.Store(true)
	return true, nil
}

// leave notes a path that is not looked at any more.
func (sc *scanner) leave(path string) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.unread = append(sc.unread, path)
}

// leaveDir leaves a directory unread. What the index has of it stays there: it may
// be stale, but the next scan looks at every stat before it believes it.
func (w *worker) leaveDir(n *node) {
	w.leave(n.path)
	if n.prev != nil {
		n.unread = true
		return
	}
	n.absent = true
	n.parent.replace(n.slot, nil)
}

// leaveName leaves a listed name unread. What it is is not known any more, so it is
// passed over only if it is ignored whatever it is.
func (w *worker) leaveName(n *node, name string, rec index.Record) {
	path := index.Join(n.path, name)
	n.leaky = true // the rules are not asked what it is
	if w.excluded(path) || rec == nil && !w.visible(n, path, false) && !w.visible(n, path, true) {
		return
	}
	w.keepUnread(n, path, rec)
}

// keepUnread keeps the entry that the index has, if any, as a cache.
func (w *worker) keepUnread(n *node, path string, rec index.Record) {
	if rec != nil {
		n.block = append(n.block, rec...)
	}
	n.leaky = true
	w.leave(path)
}
