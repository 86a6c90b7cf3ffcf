package odb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// carryOut does a job. What takes long happens without the lock: the new pack is
// written and flushed aside. With the lock held the marks are brought up to date;
// only if nothing that is about to go has been marked meanwhile, the new pack gets
// its name and the old ones go.
func (g *collector) carryOut(ctx context.Context, j *job) error {
	var made *pack.Sealed
	if j.kept > 0 {
		g.m.recent = nil // what is marked from here on may be missing in the new pack
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
			err = errors.Join(err, ignoreInUse(atomicfile.RemoveIfThere(path)))
		}
		if err != nil || !again {
			return err
		}
		if err := g.m.run(ctx, nil); err != nil { // without the lock, before the next turn
			return err
		}
	}
	return errStale
}

// maxTurns is how often the lock is taken for one job, because there was so much to
// mark that somebody who waited had to go first.
const maxTurns = 16

// replace is the part of a job that needs the lock. With again set, it wants to be
// called once more.
func (g *collector) replace(ctx context.Context, j *job, made *pack.Sealed) (trash []string, again bool, err error) {
	// It holds copies of what may be about to go, and would bring it back.
	if err := g.db.wipeRedo(); err != nil {
		return nil, false, err
	}
	if err := g.db.refresh(true); err != nil {
		return nil, false, err
	}
	if err := g.markMore(); err != nil {
		return nil, false, err
	}
	if err := g.m.run(ctx, g.db.wanted); err != nil {
		return nil, false, err
	}
	switch {
	case len(g.m.stack) > 0:
		return nil, true, nil
	case g.m.blocked != nil:
		return nil, false, g.m.blocked
	case g.stale(j):
		return nil, false, errStale
	}
	old := j.packs
	if made != nil {
		p, err := g.db.install(made)
		if err != nil {
			return nil, false, err
		}
		old = otherThan(p, old)
		g.out.Added = append(g.out.Added, p.Name())
		g.out.Freed -= packBytes(p)
		g.out.Dropped -= p.Objects()
	}
	if trash, err = g.retire(old); err != nil {
		return trash, false, err
	}
	return trash, false, g.removeLoose(append(slices.Clone(j.garbage), j.loose...))
}

// stale reports whether a pack of the job has gone or been replaced, or holds
// something that was not needed when the job was planned or built, and is now.
func (g *collector) stale(j *job) bool {
	present := g.db.packs.Load().packs
	for _, p := range j.packs {
		if !slices.Contains(present, p) || g.held(p) {
			return true
		}
	}
	for _, slot := range g.m.recent {
		id := g.m.ids[slot]
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

// retire takes packs out of the store. Removing a large file takes its time, so they
// only get temporary names; the caller removes them without the lock, and Sweep does
// otherwise.
func (g *collector) retire(old []*pack.Pack) (trash []string, err error) {
	if len(old) == 0 {
		return nil, nil
	}
	if err := g.announceRemoval(old); err != nil {
		return nil, err
	}
	if err := dropMidx(g.db.path(packDir)); err != nil {
		return nil, err
	}
	objects := make([]int, len(old))
	for i, p := range old {
		objects[i] = p.Objects()
	}
	if onWindows {
		g.db.forget(old) // which closes them
	}
	for i, p := range old {
		size := packBytes(p)
		files, rerr := retire(p)
		trash = append(trash, files...)
		if len(files) > 0 {
			g.out.Removed = append(g.out.Removed, p.Name())
			g.out.Freed += size
			g.out.Dropped += objects[i]
		}
		err = errors.Join(err, ignoreInUse(rerr))
	}
	// Only now: a reader that finds them closed lists the packs again, and must not
	// find them there.
	g.db.forget(old)
	return trash, err
}

// gonePrefix begins the temporary names of the files of a pack that is being removed.
// The rest is that of the pack, so that Sweep can finish what a crash interrupts: from
// its file alone nobody could tell whether it is coming or going. Nobody claims them,
// they may be anybody's who has lent them, and whoever finds them may remove them.
const gonePrefix = pack.TempPrefix + "gone-"

// retire gives the files of a pack temporary names, after removing what git may have
// put beside them.
func retire(p *pack.Pack) (trash []string, err error) {
	for _, ext := range []string{".rev", ".bitmap", ".mtimes", ".promisor", pack.KeepExt} {
		if err := ignoreInUse(atomicfile.RemoveIfThere(p.Stem + ext)); err != nil {
			return nil, err
		}
	}
	idx := filepath.Join(filepath.Dir(p.Stem), gonePrefix+strings.TrimPrefix(p.Name(), pack.Prefix))
	if err := os.Rename(p.Stem+pack.IndexExt, idx); err != nil {
		return nil, err
	}
	body := idx + pack.Ext
	err = os.Rename(p.Stem+pack.Ext, body)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // what is left is for Sweep
	}
	return []string{idx, body}, nil
}

// announceRemoval tells the caller which packs go and which stay.
func (g *collector) announceRemoval(old []*pack.Pack) error {
	if g.c.BeforeRemove == nil {
		return nil
	}
	var gone, left []string
	for _, p := range g.db.packs.Load().packs {
		if slices.Contains(old, p) {
			gone = append(gone, p.Name())
		} else {
			left = append(left, p.Name())
		}
	}
	slices.Sort(gone)
	slices.Sort(left)
	return g.c.BeforeRemove(gone, left)
}

// dropMidx removes a multi-pack-index of git's, which would name packs that are
// gone. Git does without, and makes another when it is asked to.
func dropMidx(dir string) error {
	names, err := readNames(dir)
	for _, name := range names {
		if strings.HasPrefix(name, "multi-pack-index") && !strings.HasSuffix(name, ".lock") {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
		}
	}
	return err
}

// removeLoose removes objects that are files of their own. Directories go with the
// last of their files.
func (g *collector) removeLoose(ids []object.ID) error {
	for _, id := range ids {
		path := g.db.loose(id).path
		size := fileSize(path)
		err := os.Remove(path)
		if ignoreInUse(ignoreMissing(err)) != nil {
			return err
		}
		if err == nil {
			g.out.Freed += size
			g.out.Dropped++
			_ = os.Remove(filepath.Dir(path)) // unless there is more in it
		}
	}
	return nil
}

// build makes the new pack of a job, aside.
func (g *collector) build(ctx context.Context, j *job) (*pack.Sealed, error) {
	if j.delta {
		made, err := g.buildDelta(ctx, j)
		if err == nil || ctx.Err() != nil || isFull(err) {
			return made, err
		}
		g.out.Unpacked = err
		return nil, errStale // which plans again, without
	}
	w := pack.NewWriter(g.db.path(packDir))
	defer w.Discard()
	w.Expect(j.kept)
	c := &packCopier{db: g.db, w: w, all: g.m.census, keep: g.keeps, seen: newBitset(len(g.m.ids)), room: g.room(j.need)}
	if err := c.room(0); err != nil {
		return nil, err
	}
	var stay []object.ID
	for _, id := range j.loose {
		err := c.copyLoose(id)
		var damage *looseError
		if errors.As(err, &damage) {
			stay = append(stay, id)
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	j.loose = slices.DeleteFunc(slices.Clone(j.loose), func(id object.ID) bool { return slices.Contains(stay, id) })
	for _, p := range j.packs {
		if err := c.copyPack(ctx, p); err != nil {
			return nil, err
		}
	}
	if w.Len() == 0 {
		return nil, nil
	}
	return g.db.seal(w)
}

// roomStep is how many bytes are written between two looks at how much is free.
const roomStep = 16 << 20

// room returns a function that says whether there is room for the rest of a pack of
// about need bytes, of which done are written.
func (g *collector) room(need int64) func(done int64) error {
	next := int64(0)
	return func(done int64) error {
		if done < next {
			return nil
		}
		next = done + roomStep
		free, err := g.c.Free()
		if err != nil {
			return fmt.Errorf("ask for the free space: %w", err)
		}
		if want := max(0, need-done) + g.c.Reserve; free < want {
			return fmt.Errorf("%w: %d bytes are needed, %d are free", ErrNoSpace, want, free)
		}
		return nil
	}
}

// buildDelta lets somebody else make the pack, in a directory that Sweep removes
// should we die, and checks that everything is in it.
func (g *collector) buildDelta(ctx context.Context, j *job) (*pack.Sealed, error) {
	if err := g.room(j.need)(0); err != nil {
		return nil, err
	}
	claim, err := atomicfile.Create(g.db.path(privateDir), atomicfile.Prefix)
	if err != nil {
		return nil, err
	}
	dir := claim.Name() + asideSuffix
	clean := func() error {
		return errors.Join(os.RemoveAll(dir), atomicfile.RemoveClaimed(claim))
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, errors.Join(err, clean())
	}
	made, err := g.packAside(ctx, j, dir)
	if err != nil {
		return nil, errors.Join(err, clean())
	}
	made.Clean = clean
	return made, nil
}
