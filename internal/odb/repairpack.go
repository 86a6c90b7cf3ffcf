package odb

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// repairPack does what is possible for a pack of which a file is damaged or missing.
// With a good index, what is intact is copied to a new pack. Without, the pack is
// read from its beginning: whole, it gets a new index; else what comes before the
// damage is copied.
func (db *DB) repairPack(ctx context.Context, stem string) error {
	if err := db.refresh(true); err != nil {
		return err
	}
	if fileMissing(stem + packExt) {
		if fileMissing(stem + idxExt) {
			return nil
		}
		return db.dropPack(stem)
	}
	if checkSum(ctx, stem+idxExt) == nil {
		p, err := openDamaged(stem)
		if err == nil {
			defer p.close()
			return db.salvage(ctx, p)
		}
		if !errors.Is(err, ErrCorrupt) {
			return err
		}
	}
	return db.reindex(ctx, stem)
}

// dropPack sets the files of a pack aside, index first.
func (db *DB) dropPack(stem string) error {
	db.forgetStem(stem)
	for _, ext := range []string{idxExt, packExt, ".rev", ".bitmap"} {
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
		if p.stem == stem {
			db.forget([]*pack{p})
		}
	}
}

// salvage copies the objects of a pack that are intact. If there is no damage, the
// pack stays as it is.
func (db *DB) salvage(ctx context.Context, p *pack) error {
	x, err := p.index()
	if err != nil {
		return err
	}
	rows, err := x.rows()
	if err != nil {
		return err
	}
	intact := make(map[object.ID]bool, len(rows))
	for _, r := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := readThrough(db.bases.At(p, r.off), r.id); err == nil {
			intact[r.id] = true
		} else if !errors.Is(err, ErrCorrupt) {
			return err // the disk cannot be read now; nothing is known about the object
		}
	}
	if len(intact) == len(rows) && hasSums(ctx, p) {
		return nil
	}
	w := newPackWriter(db.path(packDir))
	defer w.discard()
	for _, r := range rows {
		if !intact[r.id] {
			continue
		}
		if err := db.addIntact(w, p, r); err != nil {
			return err
		}
	}
	return db.replaceDamaged(w, p.stem)
}

// hasSums reports whether the files of a pack have the checksums that they end with. It
// opens them anew, and for no longer.
func hasSums(ctx context.Context, p *pack) bool {
	frame := newPack(filepath.Dir(p.stem), p.name())
	defer frame.close()
	return frame.checkSums(ctx) == nil
}

// addIntact adds an object of a damaged pack, compressed anew: of the entries around
// it nothing is taken for granted.
func (db *DB) addIntact(w *packWriter, p *pack, r row) error {
	kind, size, in, err := db.bases.At(p, r.off).open(r.id)
	if err != nil {
		return err
	}
	defer in.Close()
	if kind == object.Blob && size > streamAbove {
		return w.AddStream(r.id, in, size)
	}
	content, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	return w.AddContent(r.id, kind, content)
}

// replaceDamaged makes a pack of what was saved, if anything was, and sets the damaged
// one aside. Where nothing was lost the two may have the same name; then the new one
// has taken the place of the other.
func (db *DB) replaceDamaged(w *packWriter, stem string) error {
	db.forgetStem(stem)
	if w.Len() > 0 {
		p, err := db.publish(w)
		if err != nil {
			return err
		}
		if p.stem == stem {
			return nil
		}
	}
	return db.dropPack(stem)
}

// reindex makes the index of a pack anew, or saves what comes before its damage.
func (db *DB) reindex(ctx context.Context, stem string) error {
	f, err := atomicfile.Open(stem + packExt)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	p, damage, err := readDamaged(ctx, f, info.Size())
	if err != nil {
		return err
	}
	if damage == nil {
		return db.writeIndexFor(p, stem, info.Size())
	}
	w := newPackWriter(db.path(packDir))
	defer w.discard()
	if err := p.SaveTo(ctx, w); err != nil {
		return err
	}
	return db.replaceDamaged(w, stem)
}

// writeIndexFor writes the index of a pack that was read whole. A damaged one goes
// aside first.
func (db *DB) writeIndexFor(p *Incoming, stem string, size int64) error {
	data, err := p.EncodeIndex(size)
	if err != nil {
		return err
	}
	if !fileMissing(stem + idxExt) {
		db.forgetStem(stem)
		if err := db.setAside(stem + idxExt); err != nil {
			return err
		}
	}
	if err := writeFile(stem+idxExt, data, !db.opt.NoSync); err != nil {
		return err
	}
	return db.refresh(true)
}
