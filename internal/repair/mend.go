package repair

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// mender repairs a store that lacks objects. It brings back the objects that another place holds,
// and cuts the others out of the history.
//
//  1. walk finds the objects that are reachable and missing
//  2. seek searches for them in other places
//  3. cut rewrites the history without the rest
//
// A dry mender writes nothing and finds the same.
type mender struct {
	repo  *Doctor
	lock  *history.Locked    // nil in a dry run
	bad   map[object.ID]bool // objects that a check has read and found damaged
	torn  []string           // refs whose value was lost
	batch *odb.Batch

	lost       map[object.ID]string // reachable and missing; one path of each, "" = none
	fit        map[object.ID]bool   // blobs that were checked; true = present
	below      map[object.ID]*treeLoss
	reached    map[object.ID]bool               // commits reachable from refs
	back       map[object.ID]string             // the place of each object that was found
	held       map[object.ID]foundObject        // of a dry run: found commits and trees that the store lacks
	commits    map[object.ID]object.ID          // new id of each commit; zero = cannot stay
	states     map[object.ID]*state.MendedState // by tree
	ends       []object.ID
	asides     map[string]object.ID // refs of older parts of lines
	strays     []*stray
	looked     bool               // strays holds the unreachable commits
	captured   bool               // the disk was captured
	operations map[object.ID]bool // commits that are in the list of operations
	line       string             // ref that is being rewritten

	gone  []history.Loss
	paths map[string]*pathLoss
}

// foundObject is a commit or a tree from another place.
type foundObject struct {
	kind    object.Kind
	content []byte
}

// treeLoss lists the missing objects of a tree.
type treeLoss struct {
	itself bool     // the tree cannot be read
	paths  []string // lost paths below it
}

// pathLoss lists the checkpoints that lost a path.
type pathLoss struct{ ids []object.ID }

func newMender(r *Doctor, bad map[object.ID]bool) *mender {
	m := &mender{repo: r, bad: bad, back: make(map[object.ID]string), held: make(map[object.ID]foundObject)}
	m.reset()
	return m
}

// reset forgets the result of the last walk, but not the objects that were brought back.
func (m *mender) reset() {
	m.lost, m.fit, m.below = make(map[object.ID]string), make(map[object.ID]bool), make(map[object.ID]*treeLoss)
	m.reached, m.commits, m.states = make(map[object.ID]bool), make(map[object.ID]object.ID), make(map[object.ID]*state.MendedState)
	m.operations = make(map[object.ID]bool)
	m.asides, m.paths = make(map[string]object.ID), make(map[string]*pathLoss)
}

// isLoss reports whether an error means that the object is missing or damaged. Any other error,
// such as that of a disk that cannot be read at present, says nothing about the object.
func isLoss(err error) bool {
	return errors.Is(err, odb.ErrNotFound) || errors.Is(err, state.ErrCorrupt)
}

// read returns a commit or a tree. ok is false if it is lost.
func (m *mender) read(id object.ID) (kind object.Kind, content []byte, ok bool, err error) {
	if f, found := m.held[id]; found {
		return f.kind, f.content, true, nil
	}
	kind, content, err = m.repo.DB.Read(id)
	if err != nil && isLoss(err) {
		return 0, nil, false, nil
	}
	return kind, content, err == nil, err
}

// walk checks everything that is reachable from a ref.
func (m *mender) walk(ctx context.Context) error {
	refs, err := m.repo.DB.Refs("refs/")
	if err != nil {
		return err
	}
	for _, ref := range refs {
		if ref.Err != nil {
			continue // the check of refs reports it
		}
		if err := m.reach(ctx, ref.ID); err != nil {
			return err
		}
	}
	return nil
}

// reach checks an object, its ancestors and everything that they hold.
func (m *mender) reach(ctx context.Context, id object.ID) error {
	for stack := []object.ID{id}; len(stack) > 0; {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if m.reached[id] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		m.reached[id] = true
		more, err := m.visit(ctx, id)
		if err != nil {
			return err
		}
		stack = append(stack, more...)
	}
	return nil
}

// visit checks one object and returns the commits that it refers to.
func (m *mender) visit(ctx context.Context, id object.ID) ([]object.ID, error) {
	if kind, _, err := m.repo.DB.Stat(id); err == nil && kind == object.Blob {
		_, err := m.blob(id, "")
		return nil, err
	}
	kind, content, ok, err := m.read(id)
	if err != nil {
		return nil, err
	}
	switch {
	case !ok:
		m.lose(id, "")
	case kind == object.Commit:
		c, err := object.ParseCommit(content)
		if err != nil {
			return nil, nil // rewrite reports a malformed commit
		}
		if _, err := m.tree(ctx, c.Tree, ""); err != nil || m.repo.DB.EndsLine(id) {
			return nil, err
		}
		return c.Parents, nil
	case kind == object.Tree:
		_, err = m.tree(ctx, id, "")
	}
	return nil, err
}

func (m *mender) lose(id object.ID, path string) {
	if m.lost[id] == "" {
		m.lost[id] = path
	}
}

// tree finds the losses of a tree. Each tree is read once.
func (m *mender) tree(ctx context.Context, id object.ID, path string) (*treeLoss, error) {
	if t := m.below[id]; t != nil {
		return t, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t := &treeLoss{}
	m.below[id] = t
	if id == object.EmptyTree {
		return t, nil
	}
	kind, content, ok, err := m.read(id)
	if err != nil {
		return nil, err
	}
	var entries []object.Entry
	if ok && kind == object.Tree {
		entries, err = object.ParseTree(content)
	}
	if !ok || kind != object.Tree || err != nil {
		t.itself = true
		m.lose(id, path)
		return t, nil
	}
	for i := range entries {
		if err := m.entry(ctx, t, &entries[i], path); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (m *mender) entry(ctx context.Context, t *treeLoss, e *object.Entry, path string) error {
	at := index.Join(path, e.Name)
	switch e.Mode {
	case object.Gitlink:
		return nil
	case object.Dir:
		sub, err := m.tree(ctx, e.ID, at)
		if err != nil {
			return err
		}
		if sub.itself {
			t.paths = append(t.paths, e.Name)
		}
		for _, p := range sub.paths {
			t.paths = append(t.paths, index.Join(e.Name, p))
		}
		return nil
	}
	ok, err := m.blob(e.ID, at)
	if err == nil && !ok {
		t.paths = append(t.paths, e.Name)
	}
	return err
}

// blob reports whether a blob is present. A blob that the check has found damaged is read again.
func (m *mender) blob(id object.ID, path string) (bool, error) {
	if ok, known := m.fit[id]; known {
		return ok, nil
	}
	ok, err := m.repo.DB.Has(id)
	if ok && m.bad[id] {
		ok, err = m.readable(id)
	}
	if err != nil {
		return false, err
	}
	if ok = ok || m.back[id] != ""; !ok {
		m.lose(id, path)
	}
	m.fit[id] = ok
	return ok, nil
}

func (m *mender) readable(id object.ID) (bool, error) {
	_, _, in, err := m.repo.DB.Open(id)
	if err == nil {
		_, err = io.Copy(io.Discard, in)
		err = errors.Join(err, in.Close())
	}
	if err != nil && isLoss(err) {
		return false, nil
	}
	return err == nil, err
}

// dry reports whether nothing is to be written.
func (m *mender) dry() bool { return m.lock == nil }

// run does the repair. Without the lock it is a dry run.
func (m *mender) run(ctx context.Context, l *history.Locked, places []place) error {
	m.lock = l
	if err := m.walk(ctx); err != nil {
		return fmt.Errorf("look for what is lost: %w", err)
	}
	if err := m.findTips(ctx); err != nil {
		return fmt.Errorf("look for the tips of lines: %w", err)
	}
	if len(m.lost) > 0 && !m.dry() {
		m.repo.FreshIndex(l) // it assumes that the lost objects exist
	}
	if err := m.seek(ctx, places); err != nil {
		return fmt.Errorf("bring back what is lost: %w", err)
	}
	if len(m.lost) == 0 {
		return nil
	}
	if err := m.cut(ctx); err != nil {
		return fmt.Errorf("cut out what is lost: %w", err)
	}
	return nil
}
