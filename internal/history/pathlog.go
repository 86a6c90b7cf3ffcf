package history

import (
	"context"
	"iter"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// pathLog is one call of LogOf. It goes back over the checkpoints of all lines, which are states of
// one disk, and cuts them into runs of neighbours between which nothing of the selection changes.
// The first state of a run shows a change. It may show on several lines: a step's end and a later
// checkpoint of the day have it both.
type pathLog struct {
	repo    *Store
	ctx     context.Context
	opt     LogOptions
	of      lines
	scope   *state.PathScope
	finders []*PathFinder
	found   bool              // a checkpoint had one of the paths
	counts  map[object.ID]int // of LogOptions.Text, by blob
	yield   func(*Checkpoint, error) bool

	held *Checkpoint   // the oldest one of the run so far
	run  []*Checkpoint // of the run: those on whose lines the change shows, newest first
}

// selects reports whether changes select checkpoints.
func (l *pathLog) selects() bool { return len(l.finders) > 0 || l.opt.Text != "" }

// walk yields the selected checkpoints.
func (l *pathLog) walk(yield func(*Checkpoint, error) bool) {
	l.yield = yield
	for c, err := range l.all() {
		goOn := false
		if err == nil {
			goOn, err = l.goBack(c)
		}
		if err != nil {
			yield(nil, err)
		}
		if err != nil || !goOn {
			return
		}
	}
	if l.held != nil {
		if goOn, err := l.goBack(nil); err != nil {
			yield(nil, err)
		} else if !goOn {
			return
		}
	}
	if len(l.finders) > 0 && !l.found && l.opt.Since.IsZero() {
		yield(nil, state.NotFound("path %s in any checkpoint", l.opt.Paths[0]))
	}
}

// all yields what is selected from. Of many other stores each has few checkpoints that are wanted, so none is read ahead.
func (l *pathLog) all() iter.Seq2[*Checkpoint, error] {
	walk := func(ctx context.Context) iter.Seq2[*Checkpoint, error] {
		return l.repo.checkpointsOf(ctx, l.of, l.selects())
	}
	if l.of.foreign != nil {
		return walk(l.ctx)
	}
	return ahead(l.ctx, walk)
}

// goBack goes on to the next older checkpoint, nil after the oldest. It returns false if the walk
// ends.
func (l *pathLog) goBack(c *Checkpoint) (goOn bool, err error) {
	if c != nil {
		if silent, err := l.silent(c, l.held); silent || err != nil {
			return true, err
		}
	}
	if l.held == nil {
		l.held = c
		return true, nil
	}
	changed, err := l.changes(c, l.held)
	if err != nil {
		return false, err
	}
	if err := l.addHeld(c, changed); err != nil {
		return false, err
	}
	if changed && !l.close(c) {
		return false, nil
	}
	l.held = c
	early := c != nil && !l.opt.Since.IsZero() && c.When.Before(l.opt.Since)
	return !early || !changed, nil
}

// addHeld adds the held checkpoint to its run if the change shows on its line. older is the next one
// of the walk, and changed says what a comparison with that one shows.
func (l *pathLog) addHeld(older *Checkpoint, changed bool) error {
	c := l.held
	if c.Parent == "" {
		return nil
	}
	if older == nil || older.ID != c.Parent {
		parent, err := l.before(c)
		if err != nil {
			return err
		}
		if changed, err = l.changes(parent, c); err != nil {
			return err
		}
	}
	if changed {
		l.add(c)
	}
	return nil
}

// named reports whether a checkpoint tells who made its changes.
func named(c *Checkpoint) bool { return c.Author != DefaultAuthor }

// endsStep reports whether a checkpoint is the captured end of a step.
func endsStep(c *Checkpoint) bool { return named(c) && captured(c.commit.Header(LineHeader)) }

// add keeps all checkpoints of a run with a named author, else the oldest one.
func (l *pathLog) add(c *Checkpoint) {
	switch n := len(l.run); {
	case n == 0, named(c) && named(l.run[0]):
		l.run = append(l.run, c)
	case named(c), !named(l.run[0]):
		l.run = append(l.run[:0], c)
	}
}

// close yields the checkpoints of the run. older is the one before it, nil for none. It returns
// false if the caller wants no more.
func (l *pathLog) close(older *Checkpoint) bool {
	list := l.run
	if older == nil {
		older = &Checkpoint{}
	}
	if len(list) == 0 || endsStep(l.held) && !named(list[0]) {
		list = []*Checkpoint{l.held}
		if l.selects() {
			l.held.compared = &older.ID
		}
	}
	l.run = nil
	for _, c := range list {
		if within(c.When, l.opt.Since, l.opt.Until) && !l.yield(c, nil) {
			return false
		}
	}
	return true
}

// within reports whether a time is between two others. A zero time is no bound.
func within(t, since, until time.Time) bool {
	return (since.IsZero() || !t.Before(since)) && (until.IsZero() || !t.After(until))
}

// silent reports whether a checkpoint says nothing about one of the paths. newer is the next newer
// checkpoint, nil for none.
func (l *pathLog) silent(c, newer *Checkpoint) (bool, error) {
	for _, f := range l.finders {
		if leftOut, err := l.leavesOut(f, c, newer); leftOut || err != nil {
			return leftOut, err
		}
	}
	return false, nil
}

// leavesOut reports whether a checkpoint's capture left a path out. The answer takes the metadata,
// which are read only where the path appears absent and the newer checkpoint has it. Of a later release's
// checkpoint it is not known, so that says nothing about the path.
func (l *pathLog) leavesOut(f *PathFinder, c, newer *Checkpoint) (bool, error) {
	if e, err := f.In(c.tree); e.Mode != 0 || err != nil {
		return false, err
	}
	if newer != nil {
		if has, err := f.has(newer); !has || err != nil {
			return false, err
		}
	}
	meta, err := knownMetadata(c)
	if meta == nil {
		return err == nil, err
	}
	return !state.NewCoverage(meta).Covers(f.path()), nil
}

// before returns the newest checkpoint before c on its line that knows the paths, nil for none.
func (l *pathLog) before(c *Checkpoint) (*Checkpoint, error) {
	for at := c; len(at.commit.Parents) > 0; {
		parent, err := l.repo.ReadCheckpoint(at.commit.Parents[0])
		if err != nil && l.of.foreign != nil { // as the walk has told
			break
		}
		if err != nil {
			return nil, err
		}
		silent, err := l.silent(parent, c)
		if !silent || err != nil {
			return parent, err
		}
		at = parent
	}
	return nil, nil
}

// changes reports whether something that is selected differs between two checkpoints. Before the oldest, nil, there
// was nothing.
func (l *pathLog) changes(before, after *Checkpoint) (bool, error) {
	if !l.selects() {
		return true, nil
	}
	was, is := treeOf(before), after.tree
	changed, err := l.changesPath(was, is)
	switch {
	case err != nil:
		return false, err
	case !changed && len(l.finders) > 0:
		bits, err := l.changesBits(before, after) // which change no text
		return bits && l.opt.Text == "", err
	case !changed || l.opt.Text == "":
		return changed, nil
	}
	return l.changesText(was, is)
}

func treeOf(c *Checkpoint) object.ID {
	if c == nil {
		return object.EmptyTree
	}
	return c.tree
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
