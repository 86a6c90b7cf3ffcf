package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
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
			{packExt, idxExt, Fault{Kind: FaultIndex, Repair: repairIndex}},
			{idxExt, packExt, Fault{Kind: FaultPack, Repair: "set the index aside"}},
		} {
			stem, ok := strings.CutSuffix(name, half.has)
			if !ok || !strings.HasPrefix(stem, packPrefix) {
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

func (c *checker) pack(p *pack) error {
	x, err := p.index()
	if err == nil {
		err = p.wrap(idxExt, checkSum(c.ctx, p.stem+idxExt))
	}
	if err != nil {
		return c.damaged(p, FaultIndex, err)
	}
	if _, err := p.data(); err != nil {
		return c.damaged(p, FaultPack, err)
	}
	rows, err := x.rows()
	if err != nil {
		return c.damaged(p, FaultIndex, p.wrap(idxExt, err))
	}
	if c.v.Quick {
		return nil
	}
	bad := p.wrap(packExt, checkSum(c.ctx, p.stem+packExt))
	for _, r := range rows {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		err := readThrough(c.db.bases.At(p, r.off), r.id)
		if errors.Is(err, errGone) {
			return nil
		}
		if err == nil {
			continue
		}
		if bad == nil {
			bad = err
		}
		if err := c.report(Fault{Kind: FaultObject, Path: p.stem + packExt, ID: r.id, Err: err}); err != nil {
			return err
		}
	}
	if bad == nil {
		return nil
	}
	return c.damaged(p, FaultPack, bad)
}

// damaged reports a pack or its index, unless the pack has gone meanwhile.
func (c *checker) damaged(p *pack, kind FaultKind, err error) error {
	f := Fault{Kind: kind, Path: p.stem + packExt, Err: err, Repair: repairPack}
	switch {
	case errors.Is(err, errGone):
		return nil
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	case kind == FaultIndex:
		f.Path, f.Repair = p.stem+idxExt, repairIndex
	}
	return c.report(f)
}
