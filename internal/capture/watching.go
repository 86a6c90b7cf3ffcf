package capture

import (
	"context"
	"errors"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/watch"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/scan"
)

// watching holds what a Repo with Options.Watch remembers between captures: the stat cache, and the
// directories where something may have changed. It never decides what a file holds, only which
// directories a scan may leave out.
//
// A scan may leave out directories if an earlier scan covered all of them, each was under watch
// before it was listed, and only this Repo has changed the stat cache on disk since. Rules outside
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

	index  *index.Index // as of the last capture
	saved  [2]fileState // its files
	rules  state.IgnoreContext
	never  string       // id of the deny list that was applied at the last capture
	last   *TrackResult // the answer of the last Track, nil if the store has changed since
	lastAt object.ID
	line   string

	stores  atomic.Pointer[[]string] // see Capturer.knownStoreDirs
	outside git.Files                // cached rules and configuration of the user's git

	idle idleWork
}

// fileState identifies one state of a file that is replaced or appended to.
type fileState struct {
	size, mtime int64
	there       bool
}

// retryWatch is the pause after the system's limit of watches was reached: each attempt costs as
// much as a scan.
const retryWatch = 10 * time.Minute

// begin removes the stat cache from memory and returns it, nil if it must be loaded. A failed
// capture leaves none in memory.
func (w *watching) begin(r *Capturer) (x *index.Index) {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	overtaken := w.overtaken(r)
	x, w.index, w.last = w.index, nil, nil
	if overtaken {
		w.doubt("somebody else has changed the stat cache")
		x = nil
	}
	w.start(r)
	return x
}

// Distrust drops the stat cache from memory, so that the next capture loads it.
func (w *watching) Distrust() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.index, w.last = nil, nil
}

// start makes a watcher if there is none.
func (w *watching) start(r *Capturer) {
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
		return nil
	}
	w.doubt("a capture is under way, or has failed")
	scope := NewWatchScope(&w.pending, x)
	return &scope
}

// sameRules reports whether the inputs outside of the directory are as at the last capture: ignore
// rules, the user's index and the deny list.
func (w *watching) sameRules(now *ruleSource) bool {
	return (now.user == nil || now.user.full == nil) && w.never == now.aux.Never && reflect.DeepEqual(w.rules, now.context)
}

// files returns the cache of files outside of the directory. Without watching there is none: a
// network file system may return old stats until a file is opened.
func (w *watching) files() *git.Files {
	if w == nil {
		return nil
	}
	return &w.outside
}

// drain moves the watcher's changes to pending.
func (w *watching) drain() {
	c := w.watcher.Changes()
	if c.All {
		w.doubt(c.Reason)
		return
	}
	for _, names := range c.Dirs {
		if _, ok := names[".gitignore"]; ok {
			w.doubt("ignore rules have changed")
		}
	}
	w.pending.Merge(c)
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

// commit keeps the stat cache of a published capture. whole reports that the capture, given its
// scope, vouches for every directory.
func (w *watching) commit(r *Capturer, c *Snapshot, whole bool) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.index, w.saved = c.Index, r.indexState()
	w.foldSoon(r)
	if !whole || w.watcher == nil {
		return
	}
	w.sure, w.reason, w.pending, w.rules, w.never = true, "", watch.Changes{}, c.rules.context, c.rules.aux.Never
}

// remember keeps the answer of a Track, to be returned again while nothing changes.
func (w *watching) remember(t *TrackResult, line string, id object.ID) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.sure {
		return
	}
	again := *t
	again.Changed = 0
	w.last, w.line, w.lastAt = &again, line, id
}

// unchanged returns the last answer if it still holds: nothing has changed in the directory, the
// rules, the stat cache and the line. It takes no lock. If another process is in the middle of an
// operation, either the directory has changed or the operation has not begun to change it.
func (r *Capturer) unchanged(ctx context.Context, opt TrackOptions) *TrackResult {
	w := r.Watch
	if w == nil || !reflect.DeepEqual(opt, TrackOptions{}) || ctx.Err() != nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil || !w.sure || w.watcher == nil || w.line != r.Today() {
		return nil
	}
	if w.drain(); !w.sure || !w.pending.None() || w.saved != r.indexState() {
		return nil
	}
	if id, err := r.DB.Ref(w.line); err != nil || id != w.lastAt {
		return nil
	}
	r.RefreshDenied()
	rules, err := r.loadRules(w.index)
	if err != nil || !w.sameRules(rules) {
		return nil
	}
	again := *w.last
	again.Skipped = append([]state.Skipped{}, again.Skipped...)
	return &again
}

// renamePacks is Capturer.RenamePacks for the stat cache in memory. done is false if another
// process has saved the stat cache since. The caller holds the store's lock.
func (w *watching) renamePacks(r *Capturer, have, left []string) (done bool, err error) {
	if w == nil {
		return false, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.overtaken(r) || lackedBy(w.index, have) != "" {
		return false, nil
	}
	w.index.SetPrivate(left, w.index.Aux)
	err = w.index.Append(r.IndexFile())
	w.saved = r.indexState()
	return true, err
}

// overtaken reports whether another process has saved the stat cache since, or a capture has
// failed. The caller holds w.mu.
func (w *watching) overtaken(r *Capturer) bool { return w.index == nil || w.saved != r.indexState() }

func (r *Capturer) indexState() (s [2]fileState) {
	f := r.IndexFile()
	for i, path := range []string{f.Base, f.Delta} {
		if info, err := os.Lstat(path); err == nil {
			s[i] = fileState{info.Size(), info.ModTime().UnixNano(), true}
		}
	}
	return s
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
