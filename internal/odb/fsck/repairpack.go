package fsck

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// salvagePack repairs a pack of which a file is damaged or missing. With a good index, the intact
// objects are copied to a new pack. Without, the pack is read from its beginning: a whole pack
// gets a new index, and of a damaged one the objects before the damage are copied.
func salvagePack(ctx context.Context, db *odb.DB, stem string) error {
	if _, err := db.Packs(); err != nil {
		return err
	}
	if fileMissing(stem + pack.Ext) {
		if fileMissing(stem + pack.IndexExt) {
			return nil
		}
		return db.SetPackAside(stem)
	}
	if pack.CheckSum(ctx, stem+pack.IndexExt) == nil {
		p, err := pack.OpenDamaged(stem)
		if err == nil {
			defer p.Close()
			return salvage(ctx, db, p)
		}
		if !errors.Is(err, pack.ErrCorrupt) {
			return err
		}
	}
	return reindex(ctx, db, stem)
}

// salvage copies the intact objects of a pack. A pack without damage stays as it is.
func salvage(ctx context.Context, db *odb.DB, p *pack.Pack) error {
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
		if err := pack.ReadThrough(db.Packed(p, r.Off), r.ID); err == nil {
			intact[r.ID] = true
		} else if !errors.Is(err, pack.ErrCorrupt) {
			return err // the disk cannot be read now; nothing is known about the object
		}
	}
	if len(intact) == len(rows) && hasSums(ctx, p) {
		return nil
	}
	w := db.NewPackWriter()
	defer w.Discard()
	for _, r := range rows {
		if !intact[r.ID] {
			continue
		}
		if err := addIntact(db, w, p, r); err != nil {
			return err
		}
	}
	return db.ReplacePack(p.Stem, w)
}

// hasSums reports whether the files of a pack have the checksums that they end with. It opens
// them a second time, for this only.
func hasSums(ctx context.Context, p *pack.Pack) bool {
	frame := pack.New(filepath.Dir(p.Stem), p.Name())
	defer frame.Close()
	return frame.CheckSums(ctx) == nil
}

// addIntact compresses an object of a damaged pack and adds it to w. The entry is not copied,
// because the entries beside it may be damaged.
func addIntact(db *odb.DB, w *pack.Writer, p *pack.Pack, r pack.Row) error {
	kind, size, in, err := db.Packed(p, r.Off).Open(r.ID)
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

// reindex makes the index of a pack again, or saves the objects before the pack's damage.
func reindex(ctx context.Context, db *odb.DB, stem string) error {
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
		index, err := p.EncodeIndex(info.Size())
		if err != nil {
			return err
		}
		return db.ReplaceIndex(stem, index)
	}
	w := db.NewPackWriter()
	defer w.Discard()
	if err := p.SaveTo(ctx, w); err != nil {
		return err
	}
	return db.ReplacePack(stem, w)
}
