package merge

import (
	"context"
	"errors"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/diff"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/transfer"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// kindMerge is the kind of the operations of this package.
const kindMerge = "merge"

// onASide is where a path has to be, in the error for one that is not.
const onASide = "on one of the sides"

// Merger merges into the directory of an Operator.
type Merger struct {
	*operation.Operator
	Differ    *diff.Differ
	Transport *transfer.Transport
}

// Source is where changes come from.
type Source struct {
	Store      *history.Store // nil = the store of the Merger
	Checkpoint string         // as for Lookup
	Name       string         // for messages
}

// Options controls a merge.
type Options struct {
	Paths  []string // and everything below them; none = all
	Hunks  []string // only these, by their names or the beginnings of these
	Base   string   // the state that both sides come from; "" = the newest that they have in common
	DryRun bool     // only say what would be done
	Plan   string   // id of the plan to carry out; ErrMoved if it would be another one now
}

// side is a Source that was looked up.
type side struct {
	store *history.Store
	at    *history.Checkpoint
	name  string
}

func (m *Merger) side(ctx context.Context, src Source) (side, error) {
	s := side{store: src.Store, name: src.Name}
	if s.store == nil {
		s.store = m.Store
	}
	var err error
	s.at, err = s.store.Lookup(ctx, src.Checkpoint)
	return s, err
}

// Merge brings into the directory what changed at a source since the common checkpoint.
// cairn.Repo.Merge states the contract.
func (m *Merger) Merge(ctx context.Context, src Source, opt Options) (*operation.Result, error) {
	if err := m.Enabled(); err != nil && !opt.DryRun {
		return nil, err
	}
	scope, err := m.ScopeOf(opt.Paths)
	if err != nil {
		return nil, err
	}
	theirs, base, err := m.meet(ctx, src, opt.Base, !opt.DryRun)
	if err != nil {
		return nil, err
	}
	from, err := history.StateOf(base)
	if err != nil {
		return nil, err
	}
	to, err := history.StateOf(theirs)
	if err != nil {
		return nil, err
	}
	fork := src.forked()
	q := operation.Merging{Target: theirs.ID, Without: fork.Without, DryRun: opt.DryRun, Plan: opt.Plan}
	if scope != nil {
		q.Scope = scope.Paths
	}
	if len(opt.Hunks) > 0 {
		q.Scope = append(q.Scope, opt.Hunks...)
	}
	q.Incoming = func(ctx context.Context, batch *odb.Batch, ours state.State) (*operation.Incoming, error) {
		if err := m.CheckNamed(scope, onASide, from, to, ours); err != nil {
			return nil, err
		}
		return m.incoming(ctx, batch, lister(src, opt.Base), sides{from, to, ours, fork.Lacks}, scope, opt.Hunks)
	}
	res, err := m.Operator.Merge(ctx, q)
	if res != nil {
		res.Base = base.ID
	}
	return res, err
}

// lister is the command that lists the names of the hunks that a merge can bring.
func lister(src Source, base string) string {
	command := "cairn compare --hunk-ids " + wording.ShellWord(src.Name)
	if base != "" {
		command += " --base " + wording.ShellWord(base)
	}
	return command
}

// meet returns a source and the checkpoint that it has in common with the directory, both as they
// are in this store. What the store lacks is brought. keep makes the brought checkpoint stay; without
// it a cleaning removes it.
func (m *Merger) meet(ctx context.Context, src Source, baseSpec string, keep bool) (theirs, base *history.Checkpoint, err error) {
	s, err := m.side(ctx, src)
	if err != nil {
		return nil, nil, err
	}
	if baseSpec == "" {
		base, err = m.findCommon(ctx, s)
	} else {
		base, err = m.givenBase(ctx, s, baseSpec)
	}
	if err != nil || s.store == m.Store {
		return s.at, base, err
	}
	if base.ID == s.at.ID || history.Exported(base) == s.at.ID {
		return base, base, nil
	}
	theirs, err = m.bring(ctx, s.store, s.at, base, keep)
	return theirs, base, err
}

// givenBase looks the base up here, and then at the other side, from where it is brought.
func (m *Merger) givenBase(ctx context.Context, s side, spec string) (*history.Checkpoint, error) {
	base, err := m.Lookup(ctx, spec)
	if !errors.Is(err, state.ErrNotFound) || s.store == m.Store {
		return base, err
	}
	if base, err = s.store.Lookup(ctx, spec); err != nil {
		return nil, err
	}
	return m.bring(ctx, s.store, base, nil, false)
}

// Keep brings a checkpoint of another store into this one, where it stays, and returns it as it is here.
// base is a checkpoint of the other store; what this one has of it is not copied again.
func (m *Merger) Keep(ctx context.Context, from *history.Store, spec, base string) (*history.Checkpoint, error) {
	c, err := from.Lookup(ctx, spec)
	if err != nil {
		return nil, err
	}
	known, err := m.Lookup(ctx, base)
	if err != nil {
		known = nil // it was cleaned away here
	}
	return m.bring(ctx, from, c, known, true)
}

// bring adds a checkpoint of another store to this one, all of it or nothing.
func (m *Merger) bring(ctx context.Context, from *history.Store, c, known *history.Checkpoint, keep bool) (*history.Checkpoint, error) {
	var id object.ID
	err := m.Exclusive(ctx, func(*history.Locked) (err error) {
		batch := m.NewBatch(capture.ForCapture)
		defer batch.Discard()
		if id, err = m.Transport.Bring(ctx, batch, from, c, known); err != nil {
			return state.AsNoSpace(err)
		}
		var refs []odb.RefUpdate
		if keep {
			refs = append(refs, odb.RefUpdate{Name: history.RefImported + id.String(), ID: id})
		}
		return state.AsNoSpace(batch.Commit(refs...))
	})
	if err != nil {
		return nil, err
	}
	brought, err := m.ReadCheckpoint(id)
	if err == nil {
		m.Transport.TellPurged(ctx, brought, from.Root, keep)
	}
	return brought, err
}
