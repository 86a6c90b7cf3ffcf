package history

import (
	"context"
	"iter"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// LogOptions selects checkpoints. The zero value selects all.
type LogOptions struct {
	Paths        []string  // that change any of these paths, or a path below them
	Since, Until time.Time // of this time; zero = any
	Text         string    // that change how often a file contains this text, see Paths
}

// LogOf yields the checkpoints that Checkpoints yields and opt selects, newest first. A checkpoint is
// compared with the one before it on its line. The first of a line is compared with the newest
// older one of any line. If no checkpoint ever had one of the paths, the last error wraps
// state.ErrNotFound.
func (r *Store) LogOf(ctx context.Context, opt LogOptions) iter.Seq2[*Checkpoint, error] {
	return func(yield func(*Checkpoint, error) bool) {
		scope, err := r.ScopeOf(opt.Paths)
		if err != nil {
			yield(nil, err)
			return
		}
		l := &pathLog{repo: r, ctx: ctx, opt: opt, scope: scope, counts: make(map[object.ID]int)}
		for _, path := range opt.Paths {
			rel, err := r.Rel(path)
			if err != nil {
				yield(nil, err)
				return
			}
			if rel == "" {
				l.finders, l.opt.Paths = nil, nil
				break
			}
			l.finders = append(l.finders, r.NewPathFinder(rel))
		}
		l.run(yield)
	}
}

// pathLog is one call of LogOf.
type pathLog struct {
	repo    *Store
	ctx     context.Context
	opt     LogOptions
	scope   *state.PathScope
	finders []*PathFinder
	found   bool              // a checkpoint had one of the paths
	counts  map[object.ID]int // of LogOptions.Text, by blob
	yield   func(*Checkpoint, error) bool
}

func (l *pathLog) run(yield func(*Checkpoint, error) bool) {
	l.yield = yield
	var held *Checkpoint // waits for the next older one
	for c, err := range ahead(l.ctx, l.repo.Checkpoints) {
		if err != nil {
			yield(nil, err)
			return
		}
		if held != nil && !l.consider(held, c) {
			return
		}
		held = c
		if !l.opt.Since.IsZero() && c.When.Before(l.opt.Since) {
			return
		}
	}
	if held != nil && !l.consider(held, nil) {
		return
	}
	if len(l.finders) > 0 && !l.found && l.opt.Since.IsZero() {
		yield(nil, state.NotFound("path %s in any checkpoint", l.opt.Paths[0]))
	}
}

// consider yields a checkpoint if it is selected. older is the next one of the walk, nil for none.
// It returns false if the walk ends.
func (l *pathLog) consider(c, older *Checkpoint) bool {
	if !l.opt.Until.IsZero() && c.When.After(l.opt.Until) {
		return true
	}
	changed, err := l.changes(c, older)
	if err != nil {
		l.yield(nil, err)
		return false
	}
	return !changed || l.yield(c, nil)
}

func (l *pathLog) changes(c, older *Checkpoint) (bool, error) {
	if len(l.finders) == 0 && l.opt.Text == "" {
		return true, nil
	}
	before, err := l.before(c, older)
	if err != nil {
		return false, err
	}
	if changed, err := l.changesPath(before, c.tree); !changed || err != nil || l.opt.Text == "" {
		return changed, err
	}
	return l.changesText(before, c.tree)
}

// before returns the tree that a checkpoint is compared with.
func (l *pathLog) before(c, older *Checkpoint) (object.ID, error) {
	switch {
	case older != nil && (c.Parent == "" || older.ID == c.Parent):
		return older.tree, nil
	case c.Parent == "":
		return object.EmptyTree, nil
	}
	m, err := l.repo.readMoment(c.commit.Parents[0])
	if err != nil {
		return object.ID{}, err
	}
	return m.Tree, nil
}

func (l *pathLog) changesPath(before, after object.ID) (bool, error) {
	if len(l.finders) == 0 {
		return before != after, nil
	}
	changed := false
	for _, f := range l.finders {
		was, err := f.In(before)
		if err != nil {
			return false, err
		}
		is, err := f.In(after)
		if err != nil {
			return false, err
		}
		changed = changed || was != is
		l.found = l.found || was.Mode != 0 || is.Mode != 0
	}
	return changed, nil
}

// aheadCheckpoints is how many checkpoints are read before the one that is looked at.
const aheadCheckpoints = 256

// ahead yields what walk yields, which runs in a goroutine of its own: reading commits and reading
// trees take about as long.
func ahead(ctx context.Context, walk func(context.Context) iter.Seq2[*Checkpoint, error]) iter.Seq2[*Checkpoint, error] {
	type result struct {
		c   *Checkpoint
		err error
	}
	return func(yield func(*Checkpoint, error) bool) {
		results, stop := make(chan result, aheadCheckpoints), make(chan struct{})
		go func() {
			defer close(results)
			for c, err := range walk(ctx) {
				select {
				case results <- result{c, err}: // also the error of a context that has ended
				case <-stop:
					return
				}
			}
		}()
		defer func() {
			close(stop)
			for range results { // until the goroutine has ended
			}
		}()
		for r := range results {
			if !yield(r.c, r.err) {
				return
			}
		}
	}
}
