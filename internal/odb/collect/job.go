package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/keep"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
	"github.com/seed-fb9cbc17/cairn/internal/odb/reach"
)

// do does a job. The new pack is written and flushed under a temporary name without the lock.
// Then, with the lock held, the marks are brought up to date. Only if no object that is about to
// go has been marked meanwhile, the new pack gets its name and the old ones go.
func (g *collector) do(ctx context.Context, j *job) error {
	var made *pack.Sealed
	if j.live > 0 {
		g.marker.Recent = nil // an object that is marked from here on may be missing in the new pack
		var err error
		if made, err = g.build(ctx, j); err != nil {
			return err
		}
		if made != nil {
			defer made.Discard()
			g.out.Peak = max(g.out.Peak, made.Size)
		}
	}
	for range maxTurns {
		var trash []string
		again := false
		err := g.locked(ctx, func() (err error) {
			trash, again, err = g.replace(ctx, j, made)
			return err
		})
		for _, path := range trash {
			err = errors.Join(err, atomicfile.IgnoreInUse(atomicfile.RemoveIfThere(path)))
		}
		if err == nil && !again && made != nil {
			err = g.removeCopied(ctx, j.loose)
		}
		if err != nil || !again {
			return err
		}
		if err := g.marker.Run(ctx, nil); err != nil { // without the lock, before the next turn
			return err
		}
	}
	return errStale
}

// maxTurns is how often the lock is taken for one job because there was so much to mark that a
// waiting process went first.
const maxTurns = 16

// replace is the part of a job that needs the lock. With again set, the caller gives the lock
// back, marks, and calls replace once more.
func (g *collector) replace(ctx context.Context, j *job, made *pack.Sealed) (trash []string, again bool, err error) {
	// The redo log holds copies of objects that may be about to go, and would bring them back.
	if err := g.db.DropLog(); err != nil {
		return nil, false, err
	}
	if _, err := g.db.Packs(); err != nil { // for the marks, which read new packs of other processes
		return nil, false, err
	}
	if err := g.markRoots(); err != nil {
		return nil, false, err
	}
	if err := g.marker.Run(ctx, g.db.LockWanted); err != nil {
		return nil, false, err
	}
	present, err := g.db.Packs()
	if err != nil {
		return nil, false, err
	}
	switch {
	case !g.marker.Done():
		return nil, true, nil
	case g.marker.Blocked() != nil:
		return nil, false, g.marker.Blocked()
	case g.stale(j, present):
		return nil, false, errStale
	}
	old := j.packs
	if made != nil {
		p, err := g.db.InstallPack(made)
		if err != nil {
			return nil, false, err
		}
		// The new pack may be one of the old ones, with the same objects.
		sameName := func(q *pack.Pack) bool { return q.Stem == p.Stem }
		old = slices.DeleteFunc(slices.Clone(old), sameName)
		present = append(slices.DeleteFunc(present, sameName), p)
		g.out.Added = append(g.out.Added, p.Name())
		g.out.Freed -= p.FileBytes()
		g.out.Dropped -= p.Objects()
	}
	if trash, err = g.retire(old, present); err != nil {
		return trash, false, err
	}
	return trash, false, g.removeLoose(j.garbage)
}

// stale reports whether a pack of the job is gone or was replaced, or whether an object of the
// job was garbage when the job was planned or built, and is needed now.
func (g *collector) stale(j *job, present []*pack.Pack) bool {
	for _, p := range j.packs {
		if !slices.Contains(present, p) || g.protected(p) {
			return true
		}
	}
	for _, slot := range g.marker.Recent {
		id := g.marker.IDs[slot]
		if slices.Contains(j.garbage, id) {
			return true
		}
		for _, p := range j.packs {
			if x, err := p.Index(); err != nil {
				return true
			} else if _, ok, err := x.Find(id); ok || err != nil {
				return true
			}
		}
	}
	return false
}

// retire takes packs out of the store and returns their files, which still have to be removed.
func (g *collector) retire(old, present []*pack.Pack) (trash []string, err error) {
	if len(old) == 0 {
		return nil, nil
	}
	if err := g.announceRemoval(old, present); err != nil {
		return nil, err
	}
	objects, size := make(map[*pack.Pack]int), make(map[*pack.Pack]int64)
	for _, p := range old {
		objects[p], size[p] = p.Objects(), p.FileBytes()
	}
	retired, err := g.db.RetirePacks(old)
	for _, r := range retired {
		trash = append(trash, r.Files...)
		g.out.Removed = append(g.out.Removed, r.Pack.Name())
		g.out.Freed += size[r.Pack]
		g.out.Dropped += objects[r.Pack]
	}
	return trash, err
}

// announceRemoval tells the caller of Run which packs go and which stay.
func (g *collector) announceRemoval(old, present []*pack.Pack) error {
	if g.opt.BeforeRemove == nil {
		return nil
	}
	var gone, left []string
	for _, p := range present {
		if slices.Contains(old, p) {
			gone = append(gone, p.Name())
		} else {
			left = append(left, p.Name())
		}
	}
	slices.Sort(gone)
	slices.Sort(left)
	return g.opt.BeforeRemove(gone, left)
}

// removeCopied removes loose objects that are in a pack now.
func (g *collector) removeCopied(ctx context.Context, ids []object.ID) error {
	for part := range slices.Chunk(ids, removalsAtOnce) {
		if err := g.locked(ctx, func() error { return g.removeLoose(part) }); err != nil {
			return err
		}
	}
	return nil
}

// removeLoose removes the files of loose objects, or gives them to the vault, which may need them for
// a record of the user's git repository. A directory goes with the last of its files.
func (g *collector) removeLoose(ids []object.ID) error {
	vault := keep.At(g.db.PrivatePath(odb.KeptDir), false)
	heir := len(ids) > 0 && !g.opt.Purge && vault.Inherits()
	for _, id := range ids {
		o := g.db.Loose(id)
		size, moved := o.Size(), false
		var err error
		if heir {
			moved, err = vault.Inherit(o.Path)
		}
		if !moved && err == nil {
			err = os.Remove(o.Path)
		}
		if atomicfile.IgnoreInUse(atomicfile.IgnoreMissing(err)) != nil {
			return err
		}
		if err != nil {
			continue
		}
		if !moved {
			g.out.Freed += size
		}
		g.out.Dropped++
		_ = os.Remove(filepath.Dir(o.Path)) // fails while another file is in it
	}
	return nil
}

// build makes the new pack of a job under a temporary name. A loose object that cannot be read
// leaves the job.
func (g *collector) build(ctx context.Context, j *job) (*pack.Sealed, error) {
	if j.delta {
		made, err := g.buildDelta(ctx, j)
		if err == nil || ctx.Err() != nil || isFull(err) {
			return made, err
		}
		g.out.Unpacked = err
		return nil, errStale // the next round plans without deltas
	}
	w := g.db.NewPackWriter()
	defer w.Discard()
	w.Expect(j.live)
	c := &copier{db: g.db, w: w, all: g.marker.Census, isLive: g.isLive, copied: reach.NewBitset(len(g.marker.IDs)), room: g.room(j.bytes)}
	if g.opt.Progress != nil {
		c.tell = func() { g.opt.Progress("copy", w.Len(), j.live, w.Written()) }
	}
	if err := c.room(0); err != nil {
		return nil, err
	}
	var unreadable []object.ID
	for _, id := range j.loose {
		err := c.copyLoose(id)
		var damage *looseError
		if errors.As(err, &damage) {
			unreadable = append(unreadable, id)
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	j.loose = slices.DeleteFunc(slices.Clone(j.loose), func(id object.ID) bool { return slices.Contains(unreadable, id) })
	for _, p := range j.packs {
		if err := c.copyPack(ctx, p); err != nil {
			return nil, err
		}
	}
	if w.Len() == 0 {
		return nil, nil
	}
	return g.db.SealPack(w)
}

// roomStep is how many bytes are written between two questions for the free space.
const roomStep = 16 << 20

// room returns a function that fails if the file system has no room for the rest of a pack of
// about need bytes, of which done are written.
func (g *collector) room(need int64) func(done int64) error {
	next := int64(0)
	return func(done int64) error {
		if done < next {
			return nil
		}
		next = done + roomStep
		free, err := g.opt.Free()
		if err != nil {
			return fmt.Errorf("ask for the free space: %w", err)
		}
		if want := max(0, need-done) + g.opt.Reserve; free < want {
			return fmt.Errorf("%w: %d bytes are needed, %d are free", ErrNoSpace, want, free)
		}
		return nil
	}
}
