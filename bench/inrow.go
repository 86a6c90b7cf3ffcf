package main

import (
	"errors"
	"runtime"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// Operations that take microseconds are timed many times in a row: one alone says
// nothing about how long the slowest in a hundred takes. Garbage is not collected in
// between, as it is not where the operations are used.

// inRow calls each contender that an operation is that fast for.
func (d *driver) inRow(op string, each func(s *peers.Remote) (tree string, err error)) error {
	for _, s := range d.subjects {
		if !s.Can(op) || !s.InRow(op) {
			continue
		}
		if err := d.ctx.Err(); err != nil {
			return err
		}
		d.progress.Say("%s: %s, in a row", names.OperationTitle(op), s.Kind)
		if _, err := s.Track(); err != nil {
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

func (d *driver) unchangedInRow(s *peers.Remote) (string, error) {
	resp, err := s.Do(peers.Request{Op: peers.OpTrack, Times: d.opt.inRow, InRow: true})
	if err == nil {
		resp.Used.CPUSeconds /= float64(d.opt.inRow)
		d.record(s, names.OpUnchanged, 0, resp)
	}
	return resp.Tree, err
}

// editedInRow edits and tracks n times. which says what files are edited.
func (d *driver) editedInRow(s *peers.Remote, op string, n int, which func(n int) (from, to int)) (string, error) {
	var sum peers.Response
	for i := range n {
		from, to := which(i)
		// Rounds of their own: no store has seen these contents.
		if err := d.edits.Apply(s.Root, from, to, op, d.opt.rounds+i); err != nil {
			return "", err
		}
		resp, err := s.Do(peers.Request{Op: peers.OpTrack, InRow: true})
		if err != nil {
			return "", err
		}
		sum.All = append(sum.All, resp.Seconds)
		sum.Used.CPUSeconds += resp.Used.CPUSeconds / float64(n)
		sum.Used.PeakBytes = max(sum.Used.PeakBytes, resp.Used.PeakBytes)
		sum.Tree = resp.Tree
	}
	sum.Seconds, _ = system.Median(sum.All)
	d.record(s, op, 0, sum)
	return sum.Tree, nil
}

// settled lets the others take note of what one has tracked in their tree, so that
// they do not pay for it later. They must find the same.
func (d *driver) settled(one *peers.Remote, tree string) error {
	for _, s := range d.subjects {
		if s == one || s.Root != one.Root {
			continue
		}
		found, err := s.Track()
		if err != nil {
			return err
		}
		if peers.KindOf(s.Kind).IDs && tree != found {
			d.report.Disagree("the contenders do not agree on the tree ids (%s: %s, %s: %s)", one.Kind, tree, s.Kind, found)
		}
	}
	return nil
}

// scaling tracks with one processor and with two.
func (d *driver) scaling() error {
	if runtime.NumCPU() < 2 {
		d.report.Note("there is one processor: nothing can be said about two")
		return nil
	}
	return d.rounds(names.OpOneProcessor, light, func(s *peers.Remote, round int) error {
		for i, op := range []string{names.OpOneProcessor, names.OpTwoProcessors} {
			if _, err := s.Do(peers.Request{Op: peers.OpProcessors, Processors: i + 1}); err != nil {
				return err
			}
			if _, err := s.Track(); err != nil {
				return err
			}
			if _, err := d.time(s, op, round, peers.Request{Op: peers.OpTrack}); err != nil {
				return err
			}
		}
		_, err := s.Do(peers.Request{Op: peers.OpProcessors})
		return err
	}, d.floor(names.FloorWalkAlone, func() (float64, error) { return timeWalkAlone(d.tree(), d.ignored) }))
}
