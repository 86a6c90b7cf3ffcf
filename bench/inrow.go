package main

import (
	"errors"
	"runtime"
)

// Operations that take microseconds are timed many times in a row: one alone says
// nothing about how long the slowest in a hundred takes. Garbage is not collected in
// between, as it is not where the operations are used.

// inRow calls each contender that an operation is that fast for.
func (d *driver) inRow(op string, each func(s *remote) (tree string, err error)) error {
	for _, s := range d.subjects {
		if !s.can(op) || !s.inRow(op) {
			continue
		}
		if err := d.ctx.Err(); err != nil {
			return err
		}
		d.progress.say("%s: %s, in a row", operationTitle(op), s.Kind)
		if _, err := s.track(); err != nil {
			return err
		}
		d.flush()
		if err := d.profileOf(s, op); err != nil {
			return err
		}
		tree, err := each(s)
		if err := errors.Join(err, d.profileOf(s, "")); err != nil {
			return err
		}
		if err := d.settled(s, tree); err != nil {
			return err
		}
	}
	return nil
}

func (d *driver) unchangedInRow(s *remote) (string, error) {
	resp, err := s.do(request{Op: opTrack, Times: d.opt.inRow, InRow: true})
	if err == nil {
		resp.Used.CPUSeconds /= float64(d.opt.inRow)
		d.record(s, opUnchanged, 0, resp)
	}
	return resp.Tree, err
}

// editedInRow edits and tracks n times. which says what files are edited.
func (d *driver) editedInRow(s *remote, op string, n int, which func(n int) (from, to int)) (string, error) {
	var sum response
	for i := range n {
		from, to := which(i)
		// Rounds of their own: no store has seen these contents.
		if err := d.edits.apply(s.Root, from, to, op, d.opt.rounds+i); err != nil {
			return "", err
		}
		resp, err := s.do(request{Op: opTrack, InRow: true})
		if err != nil {
			return "", err
		}
		sum.All = append(sum.All, resp.Seconds)
		sum.Used.CPUSeconds += resp.Used.CPUSeconds / float64(n)
		sum.Used.PeakBytes = max(sum.Used.PeakBytes, resp.Used.PeakBytes)
		sum.Tree = resp.Tree
	}
	sum.Seconds, _ = median(sum.All)
	d.record(s, op, 0, sum)
	return sum.Tree, nil
}

// settled lets the others take note of what one has tracked in their tree, so that
// they do not pay for it later. They must find the same.
func (d *driver) settled(one *remote, tree string) error {
	for _, s := range d.subjects {
		if s == one || s.Root != one.Root {
			continue
		}
		found, err := s.track()
		if err != nil {
			return err
		}
		if kindOf(s.Kind).ids && tree != found {
			d.report.disagree("the contenders do not agree on the tree ids (%s: %s, %s: %s)", one.Kind, tree, s.Kind, found)
		}
	}
	return nil
}

// scaling tracks with one processor and with two.
func (d *driver) scaling() error {
	if runtime.NumCPU() < 2 {
		d.report.note("there is one processor: nothing can be said about two")
		return nil
	}
	return d.rounds(opOneProcessor, light, func(s *remote, round int) error {
		for i, op := range []string{opOneProcessor, opTwoProcessors} {
			if _, err := s.do(request{Op: opProcessors, Processors: i + 1}); err != nil {
				return err
			}
			if _, err := s.track(); err != nil {
				return err
			}
			if _, err := d.time(s, op, round, request{Op: opTrack}); err != nil {
				return err
			}
		}
		_, err := s.do(request{Op: opProcessors})
		return err
	}, d.floor(floorWalkAlone, func() (float64, error) { return timeWalkAlone(d.tree(), d.ignored) }))
}
