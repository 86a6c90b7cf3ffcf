package scan

import (
	"context"
	"errors"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// errUnread: the deadline passed while a file was read.
var errUnread = errors.New("unread")

// interrupted ends the scan when its context ends. After a passed deadline, workers list the
// remaining paths as unread; any other end is an error.
func (sc *scanner) interrupted() {
	if errors.Is(sc.ctx.Err(), context.DeadlineExceeded) {
		sc.late.Store(true)
		return
	}
	sc.fail(context.Cause(sc.ctx))
}

// overdue reads the context itself, which may end earlier than interrupted is called.
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

// leave records a path as unread.
func (sc *scanner) leave(path string) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.unread = append(sc.unread, path)
}

// leaveDir leaves a directory unread and keeps its index entries. They may be stale, but the next
// scan compares every stat before it uses them.
func (w *worker) leaveDir(n *node) {
	w.leave(n.path)
	if n.prev != nil {
		n.unread = true
		return
	}
	n.absent = true
	n.parent.replace(n.slot, nil)
}

// leaveName leaves a listed name unread. Its kind is not known, so it is passed over only if the
// rules ignore both a file and a directory of that name.
func (w *worker) leaveName(n *node, name string, rec index.Record) {
	path := index.Join(n.path, name)
	n.leaky = true // the rules are not applied
	if w.excluded(path) || rec == nil && !w.visible(n, path, false) && !w.visible(n, path, true) {
		return
	}
	w.appendUnread(n, path, rec)
}

// appendUnread keeps the index entry, if any, as a cache.
func (w *worker) appendUnread(n *node, path string, rec index.Record) {
	if rec != nil {
		n.block = append(n.block, rec...)
	}
	n.leaky = true
	w.leave(path)
}
