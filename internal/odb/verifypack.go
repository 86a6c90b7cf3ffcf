package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// The repairs of a pack.
const (
	repairIndex = "make it anew from the pack"
	repairPack  = "copy what is intact of it into a new pack and set it aside"
)

func (c *checker) packs() error {
	if err := c.db.refresh(true); err != nil {
		return err
	}
	if err := c.halves(); err != nil {
		return err
	}
	for _, p := range c.db.packs.Load().packs {
		if err := c.pack(p); err != nil {
			return err
		}
	}
	return nil
}

// halves reports packs without an index and indexes without a pack.
func (c *checker) halves() error {
	names, err := readNames(c.db.path(packDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return c.report(Fault{Kind: FaultPack, Path: c.db.path(packDir), Err: err})
	}
	slices.Sort(names)
	for _, name := range names {
		for _, half := range []struct {
			has, lacks string
			fault      Fault
		}{
			{pack.Ext, pack.IndexExt, Fault{Kind: FaultIndex, Repair: repairIndex}},
			{pack.IndexExt, pack.Ext, Fault{Kind: FaultPack, Repair: "set the index aside"}},
		} {
			stem, ok := strings.CutSuffix(name, half.has)
			if !ok || !strings.HasPrefix(stem, pack.Prefix) {
				continue
			}
			if _, whole := slices.BinarySearch(names, stem+half.lacks); whole {
				continue
			}
			half.fault.Path = c.db.path(packDir, stem+half.lacks)
			half.fault.Err = fmt.Errorf("%s: %w", stem+half.lacks, fs.ErrNotExist)
			if err := c.report(half.fault); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checker) pack(p *pack.Pack) error {
	x, err := p.Index()
	if err == nil {
		err = p.Wrap(pack.IndexExt, pack.CheckSum(c.ctx, p.Stem+pack.IndexExt))
	}
	if err != nil {
		return c.damaged(p, FaultIndex, err)
	}
	if _, err := p.Body(); err != nil {
		return c.damaged(p, FaultPack, err)
	}
	rows, err := x.Rows()
	if err != nil {
		return c.damaged(p, FaultIndex, p.Wrap(pack.IndexExt, err))
	}
	if c.v.Quick {
		return nil
	}
	bad := p.Wrap(pack.Ext, pack.CheckSum(c.ctx, p.Stem+pack.Ext))
	for _, r := range rows {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		err := pack.ReadThrough(c.db.bases.At(p, r.Off), r.ID)
		if errors.Is(err, pack.ErrGone) {
			return nil
		}
		if err == nil {
			continue
		}
		if bad == nil {
			bad = err
		}
		if err := c.report(Fault{Kind: FaultObject, Path: p.Stem + pack.Ext, ID: r.ID, Err: err}); err != nil {
			return err
		}
	}
	if bad == nil {
		return nil
	}
	return c.damaged(p, FaultPack, bad)
}

// damaged reports a pack or its index, unless the pack has gone meanwhile.
func (c *checker) damaged(p *pack.Pack, kind FaultKind, err error) error {
	f := Fault{Kind: kind, Path: p.Stem + pack.Ext, Err: err, Repair: repairPack}
	switch {
	case errors.Is(err, pack.ErrGone):
		return nil
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	case kind == FaultIndex:
		f.Path, f.Repair = p.Stem+pack.IndexExt, repairIndex
	}
	return c.report(f)
}
