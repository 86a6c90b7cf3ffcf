package main

import (
	"errors"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// The phases that make stores: first tracks, and opening.

// first begins without a store. No contender borrows from the user's repository here.
func (d *driver) first() error {
	err := d.rounds(names.OpFirst, heavy, func(s *peers.Remote, round int) error {
		return d.beginAnew(s, names.OpFirst, round, false)
	}, d.floor(names.FloorRead, func() (float64, error) { return timeRead(d.tree(), d.captured) }))
	return errors.Join(err, d.recordStores("first track", names.OpFirst))
}

// firstBorrowed is the first track of those who take over the objects of the
// repository that they work in.
func (d *driver) firstBorrowed() error {
	if !d.opt.repository {
		return nil
	}
	err := d.rounds(names.OpFirstBorrowed, heavy, func(s *peers.Remote, round int) error {
		return d.beginAnew(s, names.OpFirstBorrowed, round, true)
	})
	return errors.Join(err, d.recordStores("borrowed first track", names.OpFirstBorrowed))
}

func (d *driver) beginAnew(s *peers.Remote, op string, round int, borrow bool) error {
	for _, req := range []peers.Request{{Op: peers.OpBorrow, Borrow: borrow}, {Op: peers.OpReset}} {
		if _, err := s.Do(req); err != nil {
			return err
		}
	}
	// A tree that was not used for minutes may have gone from memory, and the speed of the disk is
	// not the question.
	if _, err := timeRead(s.Root, d.captured); err != nil {
		return err
	}
	resp, err := d.time(s, op, round, peers.Request{Op: peers.OpTrack})
	d.sameTree("first track", round, s, resp.Tree)
	d.begun[s] = true
	return err
}

// makeReady gives a store to every contender without one: a copy where the kind allows it, a first
// track that is not timed otherwise.
func (d *driver) makeReady() error {
	for _, s := range d.subjects {
		if d.begun[s] {
			continue
		}
		if lender := d.subject(peers.KindOf(s.Kind).First); lender != nil && lender.Root == s.Root && d.begun[lender] {
			d.progress.Say("%s begins with a copy of the store of %s", s.Kind, lender.Kind)
			if _, err := s.Do(peers.Request{Op: peers.OpAdopt, Store: lender.Store}); err != nil {
				return err
			}
		} else if _, err := s.Do(peers.Request{Op: peers.OpReset}); err != nil {
			return err
		}
		if _, err := s.Track(); err != nil {
			return err
		}
		d.begun[s] = true
	}
	return nil
}

// subject returns nil for a contender that takes no part.
func (d *driver) subject(name string) *peers.Remote {
	for _, s := range d.subjects {
		if s.Kind == name {
			return s
		}
	}
	return nil
}

// recordStores measures the stores of those who take part in an operation, "" for all.
func (d *driver) recordStores(when, op string) error {
	for _, s := range d.subjects {
		if op != "" && !d.takesPart(s, op) {
			continue
		}
		size, err := trees.SizeOf(s.Store)
		if err != nil {
			return err
		}
		d.report.Stores = append(d.report.Stores, report.StoreInfo{Who: s.Kind, When: when, TreeSize: size})
	}
	return nil
}

// open times the first track after a store was opened, which is where watching is set
// up.
func (d *driver) open() error {
	err := d.rounds(names.OpOpen, light, func(s *peers.Remote, round int) error {
		if _, err := s.Do(peers.Request{Op: peers.OpClose}); err != nil {
			return err
		}
		_, err := d.time(s, names.OpOpen, round, peers.Request{Op: peers.OpTrack})
		return err
	})
	return errors.Join(err, d.recordMemory(names.MemoryWatching))
}

func (d *driver) recordMemory(when string) error {
	s := d.subject(names.Watching)
	if s == nil {
		return nil
	}
	resp, err := s.Do(peers.Request{Op: peers.OpMemory})
	if err == nil {
		d.report.Memory = append(d.report.Memory, report.MemoryInfo{Who: s.Kind, When: when, HeapBytes: resp.Heap, ResidentBytes: resp.Resident})
	}
	return err
}
