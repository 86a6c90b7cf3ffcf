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

// watching is what a Repo with Options.Watch remembers from one capture to the next:
// the stat cache, and where something may have happened since. It never decides what
// a file holds, only which directories a scan may leave out.
//
// A scan may leave out directories only after one that looked at all of them, with
// every one under watch before it was listed, and as long as nothing but this Repo
// has touched the stat cache on the disk. Rules that live outside of the directories
// are compared with those of the last capture, and a change of a .gitignore counts as
// a change of everything, because it reaches into directories that did not change.
type watching struct {
	mu      sync.Mutex
	watcher *watch.Watcher
	failed  error // why there is no watching; tried again after retryWatch
	at      time.Time

	sure    bool // the conditions above hold
	reason  string
	pending watch.Changes // taken from the watcher, but not yet looked at

	index  *index.Index // as it was captured last
	saved  [2]fileState // the files that hold it
	rules  state.IgnoreContext
	never  string // the deny list that all of it was put to
	last   *Track // the answer of the last Track, if nothing has happened in the store since
	lastAt object.ID
	line   string

	stores  atomic.Pointer[[]string] // see Repo.knownStoreDirs
	outside git.Files                // rules and configuration of the user's git

	idle idleWork
}

// fileState tells one state of a file that is replaced or appended to from another.
type fileState struct {
	size, mtime int64
	there       bool
}

// retryWatch is how long scans go on without watching after the system's limit was
// reached: setting up costs as much as a scan.
const retryWatch = 10 * time.Minute

// begin returns the stat cache to go by, nil if it has to be loaded. It counts as
// taken: a capture that fails leaves none behind.
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

// Distrust has the next capture load the stat cache.
func (w *watching) Distrust() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.index, w.last = nil, nil
}

// start makes a watcher where there is none.
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

// scope drains the queue and returns what is to be looked at, nil for everything. It
// leaves w unsure: who looks at them, and succeeds, calls commit.
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

// sameRules reports whether what lies outside of the directories is as at the last capture:
// ignore rules, the user's index and the deny list.
func (w *watching) sameRules(now *ruleSource) bool {
	return (now.user == nil || now.user.full == nil) && w.never == now.aux.Never && reflect.DeepEqual(w.rules, now.context)
}

// files is the memory of what lies outside of the directory. Without watching there is
// none: a network file system may be late with its stats until a file is opened.
func (w *watching) files() *git.Files {
	if w == nil {
		return nil
	}
	return &w.outside
}

// drain moves what has happened from the watcher to pending.
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

// enter returns the function that puts directories under watch, nil where nobody
// watches. Those that x has are under watch already if fresh, which is then not nil,
// does not name them: a scan that scope has narrowed down goes through them.
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

// commit keeps what a capture has published. whole tells that it vouches for every
// directory, given the scope that it began with.
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

// remember keeps the answer of a Track, to be given again while nothing happens.
func (w *watching) remember(t *Track, line string, id object.ID) {
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

// unchanged returns the last answer if it still is the answer: nothing has happened
// in the directory, nor to the rules, the stat cache and the line. It needs no lock.
// An operation of another process that is under way has changed the directory, or it
// has not begun to.
func (r *Capturer) unchanged(ctx context.Context, opt TrackOptions) *Track {
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

// renamePacks is Repo.renamePacks for the stat cache in memory, if nobody has saved since:
// the next capture goes on with that. It is called with the store's lock.
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

// overtaken reports whether another process has saved since, or a capture has failed. It is
// called with w.mu.
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
