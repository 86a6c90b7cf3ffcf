package capture

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/watch"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/scan"
)

// watching knows in which directories something may have changed since the last capture. It never decides what a file holds, only which
// directories a scan may leave out.
//
// A scan may leave out directories if an earlier scan covered all of them, each was under watch
// before it was listed, and the stat cache is the one that this Repo remembers. Rules outside
// of the directory are compared with those of the last capture. A changed .gitignore means a full
// scan, because it affects directories that did not change.
type watching struct {
	mu      sync.Mutex
	watcher *watch.Watcher
	failed  error     // why there is no watcher; tried again after retryWatch
	at      time.Time // time of the last attempt

	sure    bool          // the conditions above hold
	reason  string        // why they do not
	pending watch.Changes // taken from the watcher, but not yet scanned

	linked linkedFiles // seen by the scan that vouches for every directory, or later

	rules state.IgnoreContext // of the scan that vouches for every directory
	never string              // id of the deny list that it applied

	idle idleWork
}

// retryWatch is the pause after the system's limit of watches was reached: each attempt costs as
// much as a scan.
const retryWatch = 10 * time.Minute

// distrust makes the next scan one of everything, because the stat cache had to be loaded.
func (w *watching) distrust() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.doubt("another process has changed the stat cache, or a capture has failed")
}

// start makes a watcher if there is none.
func (w *watching) start(r *Capturer) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watcher != nil || w.failed != nil && time.Since(w.at) < retryWatch {
		return
	}
	w.at, w.sure = time.Now(), false
	if w.watcher, w.failed = watch.New(r.Root); w.failed != nil {
		w.watcher = nil
		r.Log.Info("not watching", "error", w.failed)
	}
}

func (w *watching) doubt(reason string) { w.sure, w.reason = false, reason }

// scope drains the watcher and returns the paths to scan, nil for everything. It leaves w unsure: a
// capture that succeeds calls commit.
func (w *watching) scope(x *index.Index, rules *ruleSource) *watchScope {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watcher == nil {
		return nil
	}
	w.drain()
	if w.sure && !w.sameRules(rules) {
		w.doubt("rules outside of the directory have changed")
	}
	if !w.sure {
		w.pending = watch.Changes{}
		w.linked.reset()
		return nil
	}
	w.pending.Merge(w.linked.files)
	w.doubt("a capture is under way, or has failed")
	scope := NewWatchScope(&w.pending, x)
	return &scope
}

// sameRules reports whether the inputs outside of the directory are as at the last capture: ignore
// rules, the user's index and the deny list.
func (w *watching) sameRules(now *ruleSource) bool {
	return (now.user == nil || now.user.full == nil) && w.never == now.aux.Never && reflect.DeepEqual(w.rules, now.context)
}

// drain moves the watcher's changes to pending.
func (w *watching) drain() {
	c := w.watcher.Changes()
	if c.All {
		w.doubt(c.Reason)
		return
	}
	if touchesRules(&c) {
		w.doubt("ignore rules have changed")
	}
	w.pending.Merge(c)
}

// touchesRules reports whether a .gitignore may have changed. A file system that folds case reports it by the
// spelling that a process used.
func touchesRules(c *watch.Changes) bool {
	for _, names := range c.Dirs {
		for name := range names {
			if index.IsIgnoreFile(name) {
				return true
			}
		}
	}
	return false
}

// enter returns the function that puts directories under watch, nil without a watcher. With a
// non-nil fresh, a directory that x has is under watch already unless fresh names it; so it is for
// a scan that scope has limited.
func (w *watching) enter(r *Capturer, x *index.Index, fresh map[string]bool) scan.Enter {
	if w == nil || w.watcher == nil {
		return nil
	}
	watcher := w.watcher
	return func(path string, handle int) {
		if fresh != nil && !fresh[path] && x.Dirs[path] != nil {
			return
		}
		err := watcher.AddHandle(path, handle)
		if err == nil {
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.watcher != watcher {
			return
		}
		w.watcher, w.failed = nil, err
		r.Log.Info("watching ended", "error", errors.Join(err, watcher.Close()))
	}
}

// commit notes a published capture. whole reports that the capture, given its scope, vouches for
// every directory.
func (w *watching) commit(r *Capturer, c *Snapshot, whole bool) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.foldSoon(r, c.Index)
	if !whole || w.watcher == nil {
		return
	}
	w.sure, w.reason, w.pending, w.rules, w.never = true, "", watch.Changes{}, c.rules.context, c.rules.aux.Never
	w.linked.merge(&c.linked)
	if reason := w.linked.tooMuch(); reason != "" {
		w.doubt(reason)
	}
}

// remember keeps the answer of a Track, to be given again while nothing changes.
func (r *Capturer) remember(t *TrackResult, line string, id object.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last.answer = &answer{*t, line, id}
	r.last.answer.Changed = 0
	r.last.answer.Secrets = slices.Clone(t.Secrets)
	for i := range r.last.answer.Secrets {
		r.last.answer.Secrets[i].New = false
	}
}

// unchanged returns the last answer if it still holds: nothing has changed in the directory, the
// rules, the stat cache and the line. It takes no lock of the store. With an operation under way
// there is no such answer: its process may be dead, and the next command finishes it.
func (r *Capturer) unchanged(ctx context.Context, opt TrackOptions) *TrackResult {
	w := r.Watch
	if w == nil || !reflect.DeepEqual(opt, TrackOptions{}) || ctx.Err() != nil {
		return nil
	}
	r.mu.Lock()
	last := r.last
	r.mu.Unlock()
	// A later line is that of a clock that was ahead: see history.Store.CurrentLine.
	if last.answer == nil || last.answer.line < r.Today() || r.UnderWay() || !w.quiet() || !r.counts(&last) || !r.gitUnchanged() {
		return nil
	}
	if id, err := r.DB.Ref(last.answer.line); err != nil || id != last.answer.id {
		return nil
	}
	if r.RefreshDenied() != nil || !w.sameRules(r.rulesNow(last.aux)) {
		return nil
	}
	again := last.answer.TrackResult
	again.Skipped = append([]state.Skipped{}, again.Skipped...)
	again.Secrets = slices.Clone(again.Secrets)
	return &again
}

// quiet reports whether nothing has changed since a scan that vouches for every directory.
func (w *watching) quiet() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.sure || w.watcher == nil {
		return false
	}
	w.drain()
	return w.sure && w.pending.None() && w.linked.count == 0
}

// Close ends the watching.
func (w *watching) Close() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watcher == nil {
		return nil
	}
	watcher := w.watcher
	w.watcher, w.failed, w.at = nil, os.ErrClosed, time.Now()
	w.doubt("closed")
	return watcher.Close()
}
