package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/names"
	"github.com/seed-fb9cbc17/cairn/bench/internal/peers"
	"github.com/seed-fb9cbc17/cairn/bench/internal/report"
	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// rounds calls every contender, and the other functions, once a round. The order turns and is
// reversed every other round, so that no contender always comes after the same one.
func (d *driver) rounds(op string, first int, each func(s *peers.Remote, round int) error, others ...func(round int) error) error {
	var parts []func(round int) error
	for _, s := range d.subjects {
		if d.takesPart(s, op) && !s.InRow(op) && d.bearable(s, op) {
			parts = append(parts, d.unlessSlow(s, op, first, each))
		}
	}
	if len(parts) == 0 && len(others) == 0 {
		return nil
	}
	parts = append(parts, others...)
	rounds := d.opt.rounds
	if first == heavy && d.opt.heavy > 0 {
		rounds = min(rounds, d.opt.heavy)
	}
	for round := first; round < rounds; round++ {
		d.progress.Say("%s: %s", names.OperationTitle(op), roundText(round, rounds))
		if round == 0 {
			if err := d.profileOf(d.subject(names.Library), op); err != nil {
				return err
			}
		}
		for _, i := range turn(len(parts), round) {
			if err := d.ctx.Err(); err != nil {
				return err
			}
			if err := parts[i](round); err != nil {
				return fmt.Errorf("%s: %w", names.OperationTitle(op), err)
			}
		}
	}
	return d.profileOf(d.subject(names.Library), "")
}

// unlessSlow leaves out further rounds of an operation that takes a contender long: of a heavy one,
// and of nearly any in the table.
func (d *driver) unlessSlow(s *peers.Remote, op string, first int, each func(s *peers.Remote, round int) error) func(round int) error {
	limit := slowRound
	switch {
	case d.opt.table && op != names.OpTakeBack: // whose single times differ by half
		limit = slowInTable
	case first != heavy:
		return func(round int) error { return each(s, round) }
	}
	slow := false
	return func(round int) error {
		if slow && round > heavy {
			d.report.Note("%s was timed once by %s, which takes more than %v for it", names.OperationTitle(op), s.Kind, limit)
			return nil
		}
		begin := time.Now()
		err := each(s, round)
		slow = time.Since(begin) > limit
		return err
	}
}

// takesPart reports whether a contender is timed at an operation. In the table the library stands for
// the program where that cannot do without borrowing, and nowhere else.
func (d *driver) takesPart(s *peers.Remote, op string) bool {
	return s.Can(op) && !(d.opt.table && s.Kind == names.Library && op != names.OpFirst)
}

// bearable leaves out what takes minutes, unless it is asked for by name.
func (d *driver) bearable(s *peers.Remote, op string) bool {
	if op != names.OpRestoreMany || s.Kind != names.OpenCode && s.Kind != names.Newest || len(d.captured) <= bearableFiles || slices.Contains(d.opt.only, op) {
		return true
	}
	d.report.Note("%s restores nothing here: the track after it takes minutes with more than %d files (-only %s times it all the same)", s.Kind, bearableFiles, op)
	return false
}

// turn is the order of n in a round.
func turn(n, round int) []int {
	order := make([]int, n)
	round = max(round, 0)
	for i := range order {
		order[i] = (i + round/2) % n
	}
	if round%2 == 1 {
		slices.Reverse(order)
	}
	return order
}

func roundText(round, of int) string {
	if round < 0 {
		return "warming up"
	}
	return fmt.Sprintf("round %d of %d", round+1, of)
}

// time has one operation carried out on quiet disks and records what it took.
func (d *driver) time(s *peers.Remote, op string, round int, req peers.Request) (peers.Response, error) {
	d.flush()
	resp, err := s.Do(req)
	if err != nil || round < 0 {
		return resp, err
	}
	d.record(s, op, round, resp)
	return resp, nil
}

func (d *driver) record(s *peers.Remote, op string, round int, resp peers.Response) {
	d.report.Samples = append(d.report.Samples, report.Sample{
		Operation: op, Who: s.Kind, Round: round,
		Seconds: resp.Seconds, CPUSeconds: resp.Used.CPUSeconds, PeakBytes: resp.Used.PeakBytes, InRow: resp.All,
	})
}

func (d *driver) flush() {
	if !d.opt.noFlush {
		system.FlushDisks()
	}
}

// floor records one measurement of the machine itself.
func (d *driver) floor(name string, measure func() (float64, error)) func(round int) error {
	return func(round int) error {
		d.flush()
		before := system.OwnUsage()
		seconds, err := measure()
		if err == nil && round >= 0 {
			d.report.Samples = append(d.report.Samples, report.Sample{
				Operation: name, Who: names.Floor, Round: round, Seconds: seconds,
				CPUSeconds: system.OwnUsage().CPUSeconds - before.CPUSeconds,
			})
		}
		return err
	}
}

// sameTree asks that contenders give the same id to the same tree.
func (d *driver) sameTree(op string, round int, s *peers.Remote, tree string) {
	if !peers.KindOf(s.Kind).IDs {
		return
	}
	key := fmt.Sprint(op, round)
	if other, ok := d.trees[key]; !ok {
		d.trees[key] = tree
	} else if other != tree {
		d.report.Disagree("the contenders do not agree on the tree ids (%s, %s: %s instead of %s)", names.OperationTitle(op), s.Kind, tree, other)
	}
}
