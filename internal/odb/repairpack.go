package odb

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// repairPack does what is possible for a pack of which a file is damaged or missing.
// With a good index, what is intact is copied to a new pack. Without, the pack is
// read from its beginning: whole, it gets a new index; else what comes before the
// damage is copied.
func (db *DB) repairPack(ctx context.Context, stem string) error {
	if err := db.refresh(true); err != nil {
		return err
	}
	if fileMissing(stem + pack.Ext) {
		if fileMissing(stem + pack.IndexExt) {
			return nil
		}
		return db.dropPack(stem)
	}
	if pack.CheckSum(ctx, stem+pack.IndexExt) == nil {
		p, err := pack.OpenDamaged(stem)
		if err == nil {
			defer p.Close()
			return db.salvage(ctx, p)
		}
		if !errors.Is(err, pack.ErrCorrupt) {
			return err
		}
	}
	return db.reindex(ctx, stem)
}

// dropPack sets the files of a pack aside, index first.
func (db *DB) dropPack(stem string) error {
	db.forgetStem(stem)
	for _, ext := range []string{pack.IndexExt, pack.Ext, ".rev", ".bitmap"} {
		if fileMissing(stem + ext) {
			continue
		}
		if err := db.setAside(stem + ext); err != nil {
			return err
		}
	}
	return nil
}

func (db *DB) forgetStem(stem string) {
	for _, p := range db.packs.Load().packs {
		if p.Stem == stem {
			db.forget([]*pack.Pack{p})
		}
	}
}

// salvage copies the objects of a pack that are intact. If there is no damage, the
// pack stays as it is.
func (db *DB) salvage(ctx context.Context, p *pack.Pack) error {
	x, err := p.Index()
	if err != nil {
		return err
	}
	rows, err := x.Rows()
	if err != nil {
		return err
	}
	intact := make(map[object.ID]bool, len(rows))
	for _, r := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := pack.ReadThrough(db.bases.At(p, r.Off), r.ID); err == nil {
			intact[r.ID] = true
		} else if !errors.Is(err, pack.ErrCorrupt) {
			return err // the disk cannot be read now; nothing is known about the object
		}
	}
	if len(intact) == len(rows) && hasSums(ctx, p) {
		return nil
	}
	w := pack.NewWriter(db.path(packDir))
	defer w.Discard()
	for _, r := range rows {
		if !intact[r.ID] {
			continue
		}
		if err := db.addIntact(w, p, r); err != nil {
			return err
		}
	}
	return db.replaceDamaged(w, p.Stem)
}

// hasSums reports whether the files of a pack have the checksums that they end with. It
// opens them anew, and for no longer.
func hasSums(ctx context.Context, p *pack.Pack) bool {
	frame := pack.New(filepath.Dir(p.Stem), p.Name())
	defer frame.Close()
	return frame.CheckSums(ctx) == nil
}

// addIntact adds an object of a damaged pack, compressed anew: of the entries around
// it nothing is taken for granted.
func (db *DB) addIntact(w *pack.Writer, p *pack.Pack, r pack.Row) error {
	kind, size, in, err := db.bases.At(p, r.Off).Open(r.ID)
	if err != nil {
		return err
	}
	defer in.Close()
	if kind == object.Blob && size > pack.StreamAbove {
		return w.AddStream(r.ID, in, size)
	}
	content, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	return w.AddContent(r.ID, kind, content)
}

// replaceDamaged makes a pack of what was saved, if anything was, and sets the damaged
// one aside. Where nothing was lost the two may have the same name; then the new one
// has taken the place of the other.
func (db *DB) replaceDamaged(w *pack.Writer, stem string) error {
	db.forgetStem(stem)
	if w.Len() > 0 {
		p, err := db.publish(w)
		if err != nil {
			return err
		}
		if p.Stem == stem {
			return nil
		}
	}
	return db.dropPack(stem)
}

// reindex makes the index of a pack anew, or saves what comes before its damage.
func (db *DB) reindex(ctx context.Context, stem string) error {
	f, err := atomicfile.Open(stem + pack.Ext)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	p, damage, err := pack.ReadDamaged(ctx, f, info.Size())
	if err != nil {
		return err
	}
	if damage == nil {
		return db.writeIndexFor(p, stem, info.Size())
	}
	w := pack.NewWriter(db.path(packDir))
	defer w.Discard()
	if err := p.SaveTo(ctx, w); err != nil {
		return err
	}
	return db.replaceDamaged(w, stem)
}

// writeIndexFor writes the index of a pack that was read whole. A damaged one goes
// aside first.
func (db *DB) writeIndexFor(p *pack.Incoming, stem string, size int64) error {
	data, err := p.EncodeIndex(size)
	if err != nil {
		return err
	}
	if !fileMissing(stem + pack.IndexExt) {
		db.forgetStem(stem)
		if err := db.setAside(stem + pack.IndexExt); err != nil {
			return err
		}
	}
	if err := writeFile(stem+pack.IndexExt, data, !db.opt.NoSync); err != nil {
		return err
	}
	return db.refresh(true)
}
