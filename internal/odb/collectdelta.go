package odb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// packAside lets Pack make a pack in dir and checks it before anybody relies on it:
// every object of the job is in it, no other, and every one has its contents.
func (g *collector) packAside(ctx context.Context, j *job, dir string) (*pack.Sealed, error) {
	wanted, n, err := g.wantedOf(j)
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
	err = g.c.Pack(ctx, dir, r, j.need)
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
	return g.sealFiles(p)
}

// wantedOf returns the slots of the objects that are kept of a job, and their number.
func (g *collector) wantedOf(j *job) (bitset, int, error) {
	wanted, n := newBitset(len(g.m.ids)), 0
	want := func(id object.ID) {
		if slot, ok := g.m.slot(id); ok && g.m.live.has(slot) && wanted.set(slot) {
			n++
		}
	}
	for _, id := range j.loose {
		want(id)
	}
	for _, p := range j.packs {
		x, err := p.Index()
		if err != nil {
			return nil, 0, damageIn(p, err)
		}
		if err := x.Each(func(r pack.Row) { want(r.ID) }); err != nil {
			return nil, 0, p.Wrap(pack.IndexExt, err)
		}
	}
	return wanted, n, nil
}

// list writes the lines that Pack reads. Their order counts: of objects that are alike
// otherwise, git compares those that follow each other.
func (g *collector) list(w io.Writer, wanted bitset) error {
	out := bufio.NewWriter(w)
	for _, marked := range g.m.hints.order {
		slot := int(marked)
		if !wanted.has(slot) {
			continue
		}
		name := g.m.hints.names[g.m.hints.of[slot]]
		if strings.ContainsAny(name, "\n\x00") {
			name = ""
		}
		fmt.Fprintf(out, "%s %s\n", g.m.ids[slot], name)
	}
	return out.Flush()
}

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

func (g *collector) checkPacked(ctx context.Context, p *pack.Pack, wanted bitset, n int) error {
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
	seen := newBitset(len(g.m.ids))
	for _, r := range rows {
		slot, ok := g.m.slot(r.ID)
		if !ok || !wanted.has(slot) || !seen.set(slot) {
			return pack.Corrupt("object %s, which was not asked for", r.ID)
		}
		if err := errors.Join(ctx.Err(), pack.ReadThrough(g.db.bases.At(p, r.Off), r.ID)); err != nil {
			return err
		}
	}
	return nil
}

// sealFiles flushes the files of a pack that somebody else has written.
func (g *collector) sealFiles(p *pack.Pack) (*pack.Sealed, error) {
	s := &pack.Sealed{Name: p.Name(), Size: packBytes(p), ByGit: true}
	for ext, to := range map[string]**os.File{pack.Ext: &s.Pack, pack.IndexExt: &s.Idx} {
		path := filepath.Clean(p.Stem + ext)
		err := os.Chmod(path, 0o600)
		if err == nil {
			*to, err = os.OpenFile(path, os.O_RDWR, 0)
		}
		if err != nil {
			if s.Pack != nil {
				s.Pack.Close()
			}
			return nil, err
		}
	}
	if err := g.db.flush(s.Pack, s.Idx); err != nil {
		s.Pack.Close()
		s.Idx.Close()
		return nil, err
	}
	return s, nil
}
