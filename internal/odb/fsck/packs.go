package fsck

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// The repairs of a pack.
const (
	repairIndex = "make it anew from the pack"
	repairPack  = "copy what is intact of it into a new pack and set it aside"
)

func (c *checker) packs() error {
	packs, err := c.db.Packs()
	if err != nil {
		return err
	}
	if err := c.halves(); err != nil {
		return err
	}
	if c.opt.Progress != nil && !c.opt.Quick {
		for _, p := range packs {
			if x, err := p.Index(); err == nil {
				c.size += x.N
			}
		}
	}
	for _, p := range packs {
		if err := c.pack(p); err != nil {
			return err
		}
	}
	return nil
}

// halves reports packs without an index and indexes without a pack.
func (c *checker) halves() error {
	names, err := packFiles(c.path("objects/pack"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return c.report(Fault{Kind: FaultPack, Path: c.path("objects/pack"), Err: err})
	}
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
			half.fault.Path = c.path("objects/pack/" + stem + half.lacks)
			half.fault.Err = fmt.Errorf("%s: %w", stem+half.lacks, fs.ErrNotExist)
			if err := c.report(half.fault); err != nil {
				return err
			}
		}
	}
	return nil
}

// packFiles returns the sorted names of the files in a directory.
func packFiles(dir string) ([]string, error) {
	d, err := atomicfile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// pack verifies a pack and its index, and every object in it.
func (c *checker) pack(p *pack.Pack) error {
	x, err := p.Index()
	if err == nil {
		err = p.Wrap(pack.IndexExt, pack.CheckSum(c.ctx, p.Stem+pack.IndexExt))
	}
	if err != nil {
		return c.reportDamage(p, FaultIndex, err)
	}
	if _, err := p.Body(); err != nil {
		return c.reportDamage(p, FaultPack, err)
	}
	rows, err := x.Rows()
	if err != nil {
		return c.reportDamage(p, FaultIndex, p.Wrap(pack.IndexExt, err))
	}
	if c.opt.Quick {
		return nil
	}
	bad := p.Wrap(pack.Ext, pack.CheckSum(c.ctx, p.Stem+pack.Ext))
	for _, r := range rows {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		c.tell()
		err := pack.ReadThrough(c.db.Packed(p, r.Off), r.ID)
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
	return c.reportDamage(p, FaultPack, bad)
}

// tellStep is how many objects are read between two calls of Progress.
const tellStep = 64

// tell counts an object that is read.
func (c *checker) tell() {
	if c.read++; c.opt.Progress != nil && c.read%tellStep == 0 {
		c.opt.Progress("check", c.read, c.size, 0)
	}
}

// reportDamage reports a pack or its index, unless the pack is gone by now.
func (c *checker) reportDamage(p *pack.Pack, kind FaultKind, err error) error {
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
