package odb

import (
	"bufio"
	"context"
	"crypto/sha1"
	"errors"
	"hash/crc32"
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

// openDamaged opens a pack by its index without looking at its frame.
func openDamaged(stem string) (*pack, error) {
	p := newPack(filepath.Dir(stem), filepath.Base(stem))
	if _, err := p.index(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f, size, err := p.open(packExt)
	if err != nil {
		return nil, err
	}
	p.files = append(p.files, f)
	p.body.Store(&packBody{src: f, end: size})
	return p, nil
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
		if err := readThrough(packed{db, place{p, r.off}}, r.id); err == nil {
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
	kind, size, in, err := packed{db, place{p, r.off}}.open(r.id)
	if err != nil {
		return err
	}
	defer in.Close()
	if kind == object.Blob && size > streamAbove {
		return addStream(w, r.id, in, size)
	}
	content, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	return addContent(w, r.id, kind, content)
}

// replaceDamaged makes a pack of what was saved, if anything was, and sets the damaged
// one aside. Where nothing was lost the two may have the same name; then the new one
// has taken the place of the other.
func (db *DB) replaceDamaged(w *packWriter, stem string) error {
	db.forgetStem(stem)
	if len(w.rows) > 0 {
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
	p := &Incoming{spool: f, ids: make(map[object.ID]int), offsets: make(map[int64]int)}
	in := &arrival{ctx: ctx, r: io.NewSectionReader(f, 0, info.Size()), w: io.Discard}
	rerr := p.receive(in)
	if in.err != nil {
		return in.err
	}
	if p.end == 0 {
		p.end = info.Size()
	}
	if rerr == nil {
		rerr = p.compareSum()
	}
	if err := p.resolve(ctx); rerr == nil {
		rerr = err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if rerr == nil {
		return db.writeIndexFor(p, stem, info.Size())
	}
	return db.saveReceived(ctx, p, stem)
}

// writeIndexFor writes the index of a pack that was read whole. A damaged one goes
// aside first.
func (db *DB) writeIndexFor(p *Incoming, stem string, size int64) error {
	rows := make([]row, len(p.entries))
	for i := range p.entries {
		end := p.end
		if i+1 < len(p.entries) {
			end = p.entries[i+1].off
		}
		h := crc32.NewIEEE()
		if _, err := io.Copy(h, io.NewSectionReader(p.spool, p.entries[i].off, end-p.entries[i].off)); err != nil {
			return err
		}
		rows[i] = row{p.entries[i].id, h.Sum32(), p.entries[i].off}
	}
	var sum [sha1.Size]byte
	if err := readAt(p.spool, sum[:], size-sha1.Size); err != nil {
		return err
	}
	data, err := encodeIndex(rows, sum, offsetBit)
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

// saveReceived puts what could be read of a pack into a new one.
func (db *DB) saveReceived(ctx context.Context, p *Incoming, stem string) error {
	w := newPackWriter(db.path(packDir))
	defer w.discard()
	for i := range p.entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if p.entries[i].id.IsZero() {
			continue // a delta whose base is lost
		}
		if err := p.saveEntry(w, i); err != nil && !errors.Is(err, ErrCorrupt) {
			return err
		}
	}
	return db.replaceDamaged(w, stem)
}

func (p *Incoming) saveEntry(w *packWriter, i int) error {
	e := &p.entries[i]
	if e.kind != object.Blob || e.size <= streamAbove {
		kind, content, err := p.content(i)
		if err != nil {
			return err
		}
		if object.Sum(kind, content) != e.id {
			return corrupt("entry at %d has changed", e.off)
		}
		return addContent(w, e.id, kind, content)
	}
	z := newInflater(p.spool, e.off, p.end)
	defer z.release()
	if _, err := z.entry(e.off); err != nil {
		return err
	}
	return addStream(w, e.id, bufio.NewReader(z), e.size)
}
