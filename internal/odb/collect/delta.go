package collect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
	"github.com/seed-fb9cbc17/cairn/internal/odb/reach"
)

// buildDelta has Options.Pack make the pack of a job, in a temporary directory, and checks it.
func (g *collector) buildDelta(ctx context.Context, j *job) (*pack.Sealed, error) {
	if err := g.room(j.bytes)(0); err != nil {
		return nil, err
	}
	dir, remove, err := g.db.TempDir()
	if err != nil {
		return nil, err
	}
	made, err := g.packInto(ctx, j, dir)
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	made.Clean = remove
	return made, nil
}

// packInto has Options.Pack make a pack in dir. It accepts the pack only if every object of the
// job is in it, no other is, and all have their contents.
func (g *collector) packInto(ctx context.Context, j *job, dir string) (*pack.Sealed, error) {
	wanted, n, err := g.liveSlots(j)
	if err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	listed := make(chan error, 1)
	go func() {
		err := g.list(w, wanted)
		w.CloseWithError(err)
		listed <- err
	}()
	err = g.opt.Pack(ctx, dir, r, j.bytes)
	r.Close()
	if lerr := <-listed; err == nil && lerr != nil {
		err = lerr
	}
	if err != nil {
		return nil, err
	}
	p, err := onlyPack(dir)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if err := g.checkPacked(ctx, p, wanted, n); err != nil {
		return nil, fmt.Errorf("a pack that was made: %w", err)
	}
	return g.db.SealMade(p)
}

// liveSlots returns the slots of the live objects of a job, and their number.
func (g *collector) liveSlots(j *job) (reach.Bitset, int, error) {
	slots, n := reach.NewBitset(len(g.marker.IDs)), 0
	add := func(id object.ID) {
		if slot, ok := g.marker.Slot(id); ok && g.marker.Live(slot) && slots.Set(slot) {
			n++
		}
	}
	for _, id := range j.loose {
		add(id)
	}
	for _, p := range j.packs {
		x, err := p.Index()
		if err != nil {
			return nil, 0, damageIn(p, err)
		}
		if err := x.Each(func(r pack.Row) { add(r.ID) }); err != nil {
			return nil, 0, p.Wrap(pack.IndexExt, err)
		}
	}
	return slots, n, nil
}

// list writes the lines that a PackFunc reads. Their order counts: among objects with one name,
// git compares those that follow each other.
func (g *collector) list(w io.Writer, wanted reach.Bitset) error {
	out := bufio.NewWriter(w)
	for slot, name := range g.marker.Hints() {
		if !wanted.Has(slot) {
			continue
		}
		if strings.ContainsAny(name, "\n\x00") {
			name = ""
		}
		fmt.Fprintf(out, "%s %s\n", g.marker.IDs[slot], name)
	}
	return out.Flush()
}

// onlyPack opens the one pack of a directory.
func onlyPack(dir string) (*pack.Pack, error) {
	stems, err := pack.List(dir)
	if err != nil {
		return nil, err
	}
	if len(stems) != 1 {
		return nil, fmt.Errorf("%d packs were made instead of one", len(stems))
	}
	return pack.New(dir, stems[0]), nil
}

// checkPacked fails unless a pack holds n objects, all of them wanted and readable.
func (g *collector) checkPacked(ctx context.Context, p *pack.Pack, wanted reach.Bitset, n int) error {
	if err := p.CheckSums(ctx); err != nil {
		return err
	}
	x, err := p.Index()
	if err != nil {
		return err
	}
	rows, err := x.Rows()
	if err != nil {
		return err
	}
	if len(rows) != n {
		return pack.Corrupt("%d objects instead of %d", len(rows), n)
	}
	seen := reach.NewBitset(len(g.marker.IDs))
	for _, r := range rows {
		slot, ok := g.marker.Slot(r.ID)
		if !ok || !wanted.Has(slot) || !seen.Set(slot) {
			return pack.Corrupt("object %s, which was not asked for", r.ID)
		}
		if err := errors.Join(ctx.Err(), pack.ReadThrough(g.db.Packed(p, r.Off), r.ID)); err != nil {
			return err
		}
	}
	return nil
}
