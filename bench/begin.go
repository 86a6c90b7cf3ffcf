package main

import "errors"

// The phases that make stores: first tracks, and opening.

// first begins without a store. No contender borrows from the user's repository here.
func (d *driver) first() error {
	err := d.rounds(opFirst, heavy, func(s *remote, round int) error {
		return d.beginAnew(s, opFirst, round, false)
	}, d.floor(floorRead, func() (float64, error) { return timeRead(d.tree(), d.captured) }))
	return errors.Join(err, d.recordStores("first track"))
}

// firstBorrowed is the first track of those who take over the objects of the
// repository that they work in.
func (d *driver) firstBorrowed() error {
	if !d.opt.repository {
		return nil
	}
	err := d.rounds(opFirstBorrowed, heavy, func(s *remote, round int) error {
		return d.beginAnew(s, opFirstBorrowed, round, true)
	})
	return errors.Join(err, d.recordStores("borrowed first track"))
}

func (d *driver) beginAnew(s *remote, op string, round int, borrow bool) error {
	for _, req := range []request{{Op: opBorrow, Borrow: borrow}, {Op: opReset}} {
		if _, err := s.do(req); err != nil {
			return err
		}
	}
	// A tree that was not used for minutes may have gone from memory, and the speed of the disk is
	// not the question.
	if _, err := timeRead(s.Root, d.captured); err != nil {
		return err
	}
	resp, err := d.time(s, op, round, request{Op: opTrack})
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
		if lender := d.subject(kindOf(s.Kind).first); lender != nil && lender.Root == s.Root && d.begun[lender] {
			d.progress.say("%s begins with a copy of the store of %s", s.Kind, lender.Kind)
			if _, err := s.do(request{Op: opAdopt, Store: lender.Store}); err != nil {
				return err
			}
		} else if _, err := s.do(request{Op: opReset}); err != nil {
			return err
		}
		if _, err := s.track(); err != nil {
			return err
		}
		d.begun[s] = true
	}
	return nil
}

// subject returns nil for a contender that takes no part.
func (d *driver) subject(name string) *remote {
	for _, s := range d.subjects {
		if s.Kind == name {
			return s
		}
	}
	return nil
}

func (d *driver) recordStores(when string) error {
	for _, s := range d.subjects {
		if when == "first track" && !s.can(opFirst) || when == "borrowed first track" && !s.can(opFirstBorrowed) {
			continue
		}
		size, err := sizeOf(s.Store)
		if err != nil {
			return err
		}
		d.report.Stores = append(d.report.Stores, storeInfo{Who: s.Kind, When: when, treeSize: size})
	}
	return nil
}

// open times the first track after a store was opened, which is where watching is set
// up.
func (d *driver) open() error {
	err := d.rounds(opOpen, light, func(s *remote, round int) error {
		if _, err := s.do(request{Op: opClose}); err != nil {
			return err
		}
		_, err := d.time(s, opOpen, round, request{Op: opTrack})
		return err
	})
	return errors.Join(err, d.recordMemory(memoryWatching))
}

// The moments at which memory is asked for.
const (
	memoryStarted  = "started"
	memoryWatching = "watching"
)

func (d *driver) recordMemory(when string) error {
	s := d.subject(nameWatching)
	if s == nil {
		return nil
	}
	resp, err := s.do(request{Op: opMemory})
	if err == nil {
		d.report.Memory = append(d.report.Memory, memoryInfo{s.Kind, when, resp.Heap, resp.Resident})
	}
	return err
}
