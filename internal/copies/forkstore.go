package copies

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/envelope"
	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/usergit"
)

// leftOver says what the store of a new directory is before the fork.
type leftOver int

const (
	storeEmpty      leftOver = iota // no ref: no checkpoint was ever made
	storeUnfinished                 // of a fork whose process died, and as that left it
	storeUsed
)

// kindOf looks at a store. That of an unfinished fork has a mark, which lists all refs that the fork was
// going to write. A later capture in the directory changes the refs.
func kindOf(db *odb.DB) (leftOver, error) {
	refs, err := db.Refs("refs/")
	if err != nil {
		return storeUsed, err
	}
	if len(refs) == 0 {
		return storeEmpty, nil
	}
	mark, err := db.ReadPrivate(odb.PrivateForking)
	if errors.Is(err, odb.ErrNotFound) {
		return storeUsed, nil
	}
	if err != nil {
		return storeUsed, err
	}
	planned := make(map[string]bool)
	for line := range strings.Lines(string(mark)) {
		planned[strings.TrimSuffix(line, "\n")] = true
	}
	for _, ref := range refs {
		if ref.Err != nil || !planned[markLine(ref.Name, ref.ID)] {
			return storeUsed, nil
		}
	}
	return storeUnfinished, nil
}

func markLine(ref string, id object.ID) string { return id.String() + " " + ref }

// errUsed refuses a directory whose store has checkpoints.
func (f *fork) errUsed() error {
	return fmt.Errorf("%w: a store with checkpoints of %s, a directory that was there before; name another one (cairn doctor --remove-abandoned removes the stores of directories that are gone)", history.ErrExists, f.at)
}

// checkStore refuses a store that a fork does not replace, and what checkGit refuses. The branch of an
// unfinished fork exists, git may list its work tree, and the next fork removes both.
func (f *fork) checkStore(ctx context.Context) error {
	db, err := odb.Open(string(f.res.Store), f.at, odb.Options{})
	if errors.Is(err, odb.ErrNotStore) {
		return f.checkGit(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", state.ErrStore, err)
	}
	defer db.Close()
	kind, err := kindOf(db)
	if err == nil && kind == storeUsed {
		err = f.errUsed()
	}
	if err == nil {
		if err = f.checkGit(ctx); kind == storeUnfinished && (errors.Is(err, history.ErrExists) || errors.Is(err, usergit.ErrRegistered)) {
			err = nil
		}
	}
	return err
}

// openStore makes the store of the new directory and locks it. It drops that of an unfinished fork.
func (f *fork) openStore(ctx context.Context) error {
	for {
		db, err := odb.Create(string(f.res.Store), f.at, odb.Options{NoSync: f.Opt.NoSync, Command: f.Opt.Command})
		if err != nil {
			return fmt.Errorf("%w: %w", state.ErrStore, err)
		}
		unlock, err := f.lock(ctx, db)
		if err != nil {
			return errors.Join(err, db.Close())
		}
		kind, err := kindOf(db)
		if err == nil && kind == storeEmpty {
			f.db, f.unlock = db, unlock
			return nil
		}
		if err == nil && kind == storeUnfinished {
			if err = f.unlink(ctx, db); err == nil {
				err = db.Remove(unlock)
			}
		} else if err == nil {
			err = f.errUsed()
		}
		if err = errors.Join(err, unlock(), db.Close()); err != nil {
			return err
		}
	}
}

// lock locks the store of a fork. The options of the first store bound the wait.
func (r *Copier) lock(ctx context.Context, db *odb.DB) (func() error, error) {
	ctx, cancel := r.Waiting(ctx)
	defer cancel()
	return db.Lock(ctx)
}

// fillStore gives the new store all objects and the history of this one.
func (f *fork) fillStore(ctx context.Context, l *history.Locked) error {
	f.Holds(l)
	f.res.NotForked = nil
	batch := f.db.NewBatch()
	defer batch.Discard()
	refs, err := f.refs(ctx, batch)
	if err != nil {
		return err
	}
	var mark strings.Builder
	for _, ref := range refs {
		mark.WriteString(markLine(ref.Name, ref.ID) + "\n")
	}
	if err := f.db.WritePrivate(odb.PrivateForking, []byte(mark.String())); err != nil {
		return err
	}
	linked, copied, err := f.db.TakeAll(f.DB)
	if err != nil {
		return err
	}
	f.res.PacksLinked, f.res.PacksCopied = Amount{linked.Packs, linked.Bytes}, Amount{copied.Packs, copied.Bytes}
	if err := f.writePrivate(l); err != nil {
		return err
	}
	if err := batch.Commit(refs...); err != nil {
		return err
	}
	return f.DB.SetRef(f.ref(), history.IDOf(f.start))
}

// history that is no ref.
var forkedFiles = []odb.Private{
	odb.PrivateReplaced, odb.PrivateLost, odb.PrivatePurged, odb.PrivateReviewed, odb.PrivateProject, odb.PrivateMachines,
}

// writePrivate writes what belongs to the history beside the refs, and where it came from.
func (f *fork) writePrivate(l *history.Locked) error {
	f.Holds(l)
	ends, err := f.DB.Shallow()
	if err != nil {
		return err
	}
	if err := f.db.SetShallow(ends); err != nil {
		return err
	}
	for _, name := range forkedFiles {
		data, err := f.DB.ReadPrivate(name)
		if errors.Is(err, odb.ErrNotFound) {
			continue
		}
		if err == nil {
			err = f.db.WritePrivate(name, data)
		}
		if err != nil {
			return err
		}
	}
	if err := f.writeSealed(); err != nil {
		return err
	}
	id, err := f.DB.Identity(true)
	if err != nil {
		return err
	}
	rec := &history.ForkRecord{Root: state.Path(f.Root), Store: id, Session: f.opt.Session, At: f.Now().UnixNano()}
	if from := f.Forked(); from != nil {
		rec.Earlier = append(rec.Earlier, from.Earlier...)
		rec.Earlier = append(rec.Earlier, history.ForkedRoot{Root: from.Root, At: from.At})
		rec.Lacks, rec.Without = from.Lacks, from.Without
	}
	for _, m := range f.Moved() {
		rec.Earlier = append(rec.Earlier, history.ForkedRoot{Root: state.Path(m.Root), At: m.At})
	}
	s, err := history.StateOf(f.present)
	if err != nil {
		return err
	}
	rec.Ignore = s.Meta.Ignore
	if f.link != nil {
		rec.Git = &history.ForkedGit{Branch: f.link.work.Branch, Commit: f.link.work.Commit}
	}
	data, err := rec.Encode()
	if err != nil {
		return err
	}
	return f.db.WritePrivate(odb.PrivateForked, data)
}

// noteLacking records the paths that the directory of the fork could not be made with, or begins without. No process
// of the fork has deleted them, and a merge must not either, or say so.
func (f *fork) noteLacking(c *checkout) error {
	if len(c.lacks)+len(c.res.LeftOut) == 0 {
		return nil
	}
	rec, err := history.ReadForkRecord(string(f.res.Store))
	if err != nil || rec == nil {
		return err
	}
	rec.Lacks = append(rec.Lacks, c.lacks...)
	for i := range c.res.LeftOut {
		rec.Without = append(rec.Without, c.res.LeftOut[i].Path)
	}
	data, err := rec.Encode()
	if err != nil {
		return err
	}
	return f.db.WritePrivate(odb.PrivateForked, data)
}

// writeSealed makes pushes of the fork sealed for the same recipients: what it holds must not go open to the remote.
func (f *fork) writeSealed() error {
	data, err := f.DB.ReadPrivate(odb.PrivateSealed)
	if errors.Is(err, odb.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if pushes, err := envelope.DecodePushes(data); err == nil { // else the fork's pushes fail as those of the store do
		if data, err = pushes.Forked().Encode(); err != nil {
			return err
		}
	}
	return f.db.WritePrivate(odb.PrivateSealed, data)
}

// warm makes the stat cache of the fork, so that its first capture reads no file. A failure costs time
// only.
func (f *fork) warm(ctx context.Context, c *checkout) {
	err := f.capture(context.WithoutCancel(ctx), c.entries)
	if err != nil {
		f.Log.Warn("stat cache of the fork not made", "error", err)
	}
}

func (f *fork) capture(ctx context.Context, entries map[string]index.Entry) error {
	opt := f.Opt
	opt.Root, opt.Watch, opt.GitDir, opt.GitWorkTree, opt.ForRoot = f.at, false, "", "", nil
	db, err := odb.Open(string(f.res.Store), f.at, odb.Options{NoSync: opt.NoSync, Command: opt.Command})
	if err != nil {
		return err
	}
	defer db.Close()
	s := history.New(opt, f.at)
	s.Use(db)
	var none *git.Repo
	k := capture.New(s, none)
	s.Disturbed, s.Recovery = k.Forget, func(context.Context, *history.Locked) error { return nil }
	if err := k.RefreshDenied(); err != nil {
		return err
	}
	k.RefreshRepository()
	index.Share(k.IndexFile(), f.IndexFile()) // else the stat cache takes more room
	return k.Locked(ctx, func(l *history.Locked) error {
		disk, err := k.Capture(ctx, l, capture.Options{Known: knownFrom(entries)})
		if err != nil {
			return err
		}
		defer disk.Discard()
		return disk.Publish(ctx, l)
	})
}

// knownFrom returns the ids of the files that were just made.
func knownFrom(entries map[string]index.Entry) func(string, object.Mode, *index.Stat) (object.ID, bool, bool) {
	return func(path string, mode object.Mode, st *index.Stat) (id object.ID, lasting, ok bool) {
		e, there := entries[path]
		if !there || e.Mode != mode || e.Stat != *st || e.ID.IsZero() {
			return object.ID{}, false, false
		}
		return e.ID, !e.Racy, true
	}
}
