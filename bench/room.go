package main

import (
	"fmt"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// checkRoom fails before anything is written where the disk is too small for the trees
// and stores of a run.
func (d *driver) checkRoom() error {
	size, err := d.corpus.Size()
	if err != nil {
		return err
	}
	need := d.need(size)
	free, err := system.FreeSpace(d.scratch)
	if err != nil {
		return err
	}
	if free < need {
		return fmt.Errorf("%s of %s needs about %.1f GB for trees and stores, %.1f GB are free in %s (-cache DIR says where else, -contenders and -files make it smaller)",
			d.opt.corpus, d.corpus.Name(), float64(need)/1e9, float64(free)/1e9, d.scratch)
	}
	return nil
}

// need is an estimate that is rather too large: a store of git has a file and so half
// a block more for every file, others pack.
func (d *driver) need(size trees.TreeSize) int64 {
	need, roots := int64(0), make(map[string]bool)
	for _, name := range d.present {
		if s := d.settingOf(name); !roots[s.Root] {
			roots[s.Root] = true
			need += size.Allocated
			if d.opt.repository {
				need += size.Bytes / 3
			}
		}
		switch {
		case name == names.Copy:
			need += size.Allocated
		case name == names.Jujutsu || name == names.Newest || name == names.Untracked || name == names.Monitor: // borrows or links
		case name == names.Spec || name == names.OpenCode:
			need += size.Bytes/2 + int64(size.Files)<<11
		default:
			need += size.Bytes / 2
		}
	}
	return need
}
