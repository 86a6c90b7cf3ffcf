package repair

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/fsck"
	"github.com/seed-fb9cbc17/cairn/internal/retention"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// CheckOptions controls a check.
type CheckOptions struct { // repair everything that can be repaired without loss
	Fix   bool // repair what can be repaired without losing anything
	Quick bool // do not read the contents of objects

	// From is a git repository or a store that may hold lost objects: a URL or a path. The
	// project's own repository, the disk and other stores are searched in any case.
	From string
}

// Fault is one fault of a store.
type Fault struct {
	Kind   string     `json:"kind"`             // one word or two, such as "pack", "ref", "permissions"
	Path   state.Path `json:"path,omitempty"`   // of a file
	Ref    string     `json:"ref,omitempty"`    // name
	ID     string     `json:"id,omitempty"`     // of an object
	Text   string     `json:"text"`             // the fault in words
	Repair string     `json:"repair,omitempty"` // how to repair it; "" = not repairable
	Fixed  bool       `json:"fixed"`            // it has been repaired

	passing bool // may be the work of a running process
}

// maxFindings is the largest number of findings about one store.
const maxFindings = 1000

// Check checks the whole store and returns its faults, none for a sound store. cairn.Repo.Check
// states the contract.
func (r *Doctor) Check(ctx context.Context, opt CheckOptions) ([]Fault, error) {
	if f := r.unreadable(); f != nil {
		return []Fault{*f}, nil
	}
	c := &checker{repo: r, opt: opt, bad: make(map[object.ID]bool)}
	if !opt.Fix {
		err := c.run(ctx, nil)
		if err == nil {
			c.found, err = r.withoutPassing(ctx, c.found)
		}
		if err == nil {
			err = c.mend(ctx)
		}
		return c.found, err
	}
	repaired, err := fsck.RepairLock(r.DB)
	for _, path := range slices.Compact(repaired) {
		c.found = append(c.found, Fault{
			Kind: "lock", Path: state.Path(path), Text: "not a regular file", Repair: "set it aside",
			Fixed: true,
		})
	}
	if err != nil {
		return c.found, err
	}
	if err := c.finishInterrupted(ctx); err != nil {
		return c.found, err
	}
	err = r.Locked(ctx, func(l *history.Locked) error { return c.run(ctx, l) })
	if err == nil {
		err = c.mend(ctx)
	}
	return c.found, err
}

// secondLooks are the pauses before each further look at passing findings, each with the lock held.
// A publish renames the pack before its index, and removes its leftovers after it has released the
// lock.
var secondLooks = []time.Duration{0, 10 * time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond, 400 * time.Millisecond}

// withoutPassing drops the findings that were work in progress of another process.
func (r *Doctor) withoutPassing(ctx context.Context, found []Fault) ([]Fault, error) {
	passing := func(f Fault) bool { return f.passing }
	for _, pause := range secondLooks {
		if !slices.ContainsFunc(found, passing) {
			break
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return found, ctx.Err()
		}
		again := &checker{repo: r, opt: CheckOptions{Quick: true}, bad: make(map[object.ID]bool)}
		err := r.Locked(ctx, func(l *history.Locked) error { return again.run(ctx, l) })
		if errors.Is(err, state.ErrLocked) { // a running process holds the lock; the findings are its own
			return slices.DeleteFunc(found, passing), ctx.Err()
		}
		if err != nil { // for instance a read-only store, in which no process works
			return found, ctx.Err()
		}
		found = slices.DeleteFunc(found, func(f Fault) bool { return f.passing && !again.has(f) })
	}
	return found, nil
}

// has reports whether the check found the same fault at the same path.
func (c *checker) has(f Fault) bool {
	return slices.ContainsFunc(c.found, func(g Fault) bool { return g.Kind == f.Kind && g.Path == f.Path })
}

type checker struct {
	repo  *Doctor
	opt   CheckOptions
	found []Fault
	bad   map[object.ID]bool // objects that are damaged or gone
	torn  []string           // refs whose value cannot be read
}

// note adds a finding, and repairs it if wanted and possible.
func (c *checker) note(f Fault, mend func() error) {
	if c.opt.Fix && mend != nil {
		err := mend()
		if f.Fixed = err == nil; err != nil {
			f.Text += "; not repaired: " + err.Error()
		}
	}
	if len(c.found) < maxFindings {
		c.found = append(c.found, f)
	}
}

// finishInterrupted does the work of the next command: otherwise the journal of an interrupted
// operation would stay a finding.
func (c *checker) finishInterrupted(ctx context.Context) error {
	if len(c.interrupted()) == 0 {
		return nil
	}
	err := c.repo.Exclusive(ctx, func(*history.Locked) error { return nil })
	if errors.Is(err, state.ErrLocked) || ctx.Err() != nil {
		return err
	}
	f := Fault{
		Kind: "operation", Path: state.Path(c.repo.DB.JournalPath(history.JournalName)),
		Text: "an operation was interrupted", Repair: "finish it", Fixed: err == nil,
	}
	if err != nil {
		f.Text += "; it cannot be finished: " + err.Error()
	}
	c.found = append(c.found, f)
	return nil
}

// interrupted lists the journals of unfinished operations.
func (c *checker) interrupted() []odb.Journal {
	journals, err := c.repo.DB.Journals()
	if err != nil {
		return nil
	}
	var list []odb.Journal
	for _, j := range journals {
		if j.Name == history.JournalName {
			list = append(list, j)
		}
	}
	return list
}

// run looks at everything. Without Fix the lock may be nil.
func (c *checker) run(ctx context.Context, l *history.Locked) error {
	c.statCache(l)
	c.ends(ctx)
	c.purged()
	c.project()
	c.unfinishedPurge()
	if err := c.later(ctx); err != nil {
		return err
	}
	if !c.opt.Fix {
		for _, j := range c.interrupted() {
			if j.Err == nil { // Verify reports torn journals
				c.note(Fault{
					Kind: "operation", Path: state.Path(c.repo.DB.JournalPath(history.JournalName)),
					Text:   "an operation was interrupted",
					Repair: "the next command that changes anything finishes it", passing: true,
				}, nil)
			}
		}
	}
	return c.store(ctx)
}

// statCache checks whether the stat cache can be read. It is only a cache.
func (c *checker) statCache(l *history.Locked) {
	_, err := index.Load(c.repo.IndexFile())
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return
	}
	c.note(Fault{
		Kind: "stat cache", Path: state.Path(c.repo.IndexFile().Base), Text: err.Error(),
		Repair: "drop it; the next track reads every file",
	},
		func() error { c.repo.FreshIndex(l); return nil })
}

// ends checks the list of commits at which lines end.
func (c *checker) ends(ctx context.Context) {
	_, err := c.repo.DB.Shallow()
	if err == nil {
		return
	}
	c.note(Fault{
		Kind: "ends of lines", Path: state.Path(filepath.Join(c.repo.DB.Dir(), "shallow")),
		Text: err.Error(), Repair: "make the list anew, of the commits whose parents are not there",
	}, func() error {
		ends, err := c.repo.withoutParents(ctx)
		if err != nil {
			return err
		}
		return c.repo.DB.SetShallow(ends)
	})
}

// purged checks the list of purged paths.
func (c *checker) purged() {
	_, err := c.repo.PurgedPaths()
	if err == nil {
		return
	}
	path := c.repo.DB.PrivatePath(string(odb.PrivatePurged))
	c.note(Fault{
		Kind: "purged paths", Path: state.Path(path), Text: err.Error(),
		Repair: "set the list aside; then cairn purge PATH for each that is to stay out of captures",
	}, func() error { return errors.Join(c.repo.DB.SetAside(path), c.repo.RefreshDenied()) })
}

// project checks what the project is known by on remotes.
func (c *checker) project() {
	data, err := c.repo.DB.ReadPrivate(odb.PrivateProject)
	if errors.Is(err, odb.ErrNotFound) {
		return
	}
	if err == nil {
		_, err = identity.Decode(data)
	}
	if err == nil || errors.Is(err, identity.ErrLater) {
		return
	}
	path := c.repo.DB.PrivatePath(string(odb.PrivateProject))
	c.note(Fault{
		Kind: "project", Path: state.Path(path), Text: err.Error(),
		Repair: "set it aside; it is found again, but for an id that cairn adopt --id gave",
	}, func() error { return c.repo.DB.SetAside(path) })
}

// unfinishedPurge tells of a purge that has rewritten the history and was interrupted before it had dropped everything.
func (c *checker) unfinishedPurge() {
	if unfinished, err := c.repo.PurgeUnfinished(); err != nil || !unfinished {
		return
	}
	c.note(Fault{
		Kind: "purge", Path: state.Path(c.repo.DB.PrivatePath(string(odb.PrivatePurging))),
		Text:   "a purge has not ended: the store may still hold what it has taken out of the history",
		Repair: "the same cairn purge again finishes it, if none is running", passing: true,
	}, nil)
}

// withoutParents lists the reachable commits whose parents are missing.
func (r *Doctor) withoutParents(ctx context.Context) ([]object.ID, error) {
	s, err := retention.NewSurvey(ctx, r.Store)
	if err != nil {
		return nil, err
	}
	var ends []object.ID
	for id, n := range s.Known {
		for _, p := range n.Parents {
			if ok, err := r.DB.Has(p); err != nil {
				return nil, err
			} else if !ok {
				ends = append(ends, id)
				break
			}
		}
	}
	return ends, nil
}

// store adds the faults that the object database reports.
func (c *checker) store(ctx context.Context) error {
	for fault, err := range fsck.Verify(ctx, c.repo.DB, fsck.Options{Quick: c.opt.Quick, Progress: c.repo.Opt.Told()}) {
		if err != nil {
			return fmt.Errorf("check %s: %w", c.repo.DB.Dir(), err)
		}
		f := Fault{Kind: string(fault.Kind), Path: state.Path(fault.Path), Ref: fault.Ref, Repair: fault.Repair, Text: "damaged"}
		if fault.Err != nil {
			f.Text = fault.Err.Error()
		}
		f.passing = fault.Kind == fsck.FaultTemporary || errors.Is(fault.Err, fs.ErrNotExist)
		if !fault.ID.IsZero() {
			f.ID = fault.ID.String()
		}
		if isObjectFault(&f) {
			c.bad[fault.ID] = true
		}
		if fault.Kind == fsck.FaultRef && fault.Ref != "" {
			c.torn = append(c.torn, fault.Ref)
		}
		var mend func() error
		if fault.Repair != "" {
			mend = func() error { return fsck.Repair(ctx, c.repo.DB, fault) }
		}
		c.note(f, mend)
	}
	return nil
}
