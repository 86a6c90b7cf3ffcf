package retention

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/collect"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
)

// CleanOptions controls a cleaning.
type CleanOptions struct {
	settings.Retention
	DryRun   bool // change nothing, only report
	Thorough bool // drop every unneeded byte, whatever amount of data must be copied

	need int64 // bytes that a waiting capture is about to write; 0 = no capture waits
}

// CleanResult is the answer of Clean.
type CleanResult struct {
	Lines       []string `json:"lines"`       // removed: names of refs
	Shortened   []string `json:"shortened"`   // that lost their oldest part: names of refs
	Checkpoints int      `json:"checkpoints"` // removed
	Kept        int      `json:"kept"`        // checkpoints that stay
	Freed       int64    `json:"freed"`       // bytes; of a dry run, an estimate
	Size        int64    `json:"size"`        // bytes of the store now, as in Usage
	Peak        int64    `json:"peak"`        // most bytes of temporary files at one time
	Packs       int      `json:"packs"`

	// Thinned is the number of checkpoints whose states went by Retention.Keep. Keep says what each of
	// its rules keeps; it is empty without such rules.
	Thinned int        `json:"thinned"`
	Keep    []KeptRule `json:"keep,omitempty"`

	// OverBudget is the number of bytes by which the store exceeds its limit because the rest is
	// protected.
	OverBudget int64 `json:"overBudget"`

	// Pins are the names of the pins that hold the store over its budget, beside KeepLast: each
	// keeps objects alive that nothing else does. The largest comes first.
	Pins []string `json:"pins,omitempty"`

	// Incomplete: another process needed the store. The next cleaning continues.
	Incomplete bool `json:"incomplete"`

	// Blocked is the damage for which no object was dropped: the objects behind it are not known,
	// so any object may still be needed.
	Blocked *state.Cause `json:"blocked,omitempty"`

	holds *holders // set if the cleaning could not make enough room
	fits  bool     // there is room for CleanOptions.need
	tight bool     // the disk had no room for all temporary files
	stuck bool     // pins and KeepLast alone exceed the limit
}

// Clean removes the checkpoints that opt allows to remove, and repacks. cairn.Repo.Clean states the
// contract.
func (r *Cleaner) Clean(ctx context.Context, opt CleanOptions) (*CleanResult, error) {
	done := &CleanResult{Lines: []string{}, Shortened: []string{}}
	if err := opt.Keep.Check(); err != nil {
		return nil, fmt.Errorf("clean: %w", err)
	}
	keep := settings.WithDefaults(opt.Retention, r.DefaultBudget)
	s, err := NewSurvey(ctx, r.Store)
	if err != nil {
		return nil, fmt.Errorf("clean: %w", err)
	}
	s.spare(keep.KeepLast)
	s.byAge(keep.MaxAge, keep.Keep.Longest(), r.Now())
	if err := s.thinOut(ctx, keep.Keep, r.Now()); err != nil {
		return nil, fmt.Errorf("clean: %w", err)
	}
	s.byCount(keep.MaxCount)
	if opt.need == 0 { // else shrink alone is enough
		err = r.letGo(ctx, s, opt, done)
	}
	if err == nil {
		err = r.shrink(ctx, s, opt, keep, done)
	}
	if err == nil && !opt.DryRun {
		err = r.Exclusive(ctx, func(*history.Locked) error { return r.writeNote(true, done.Freed) })
	}
	if err == nil {
		done.Size, err = r.StoreSize()
	}
	if err != nil {
		return done, fmt.Errorf("clean: %w", err)
	}
	return done, nil
}

// letGo carries out the verdict in an order in which the store is sound after each step: first the
// ends of lines, then the refs, then the objects.
func (r *Cleaner) letGo(ctx context.Context, s *survey, opt CleanOptions, done *CleanResult) error {
	v, err := s.judge(ctx)
	if err != nil {
		return err
	}
	gone := make(map[string]bool, len(v.gone))
	for _, ref := range v.gone {
		gone[ref.Name] = true
		if !slices.Contains(done.Lines, ref.Name) {
			done.Lines = append(done.Lines, ref.Name)
		}
	}
	for _, ref := range v.records {
		gone[ref.Name] = true
	}
	slices.Sort(done.Lines)
	done.Checkpoints, done.Kept, done.Shortened, done.Thinned = v.dropped, v.kept, append([]string{}, v.shortened...), v.thinned
	c := collect.Options{
		Thorough: opt.Thorough, DryRun: opt.DryRun, Reserve: r.reserve(opt),
		CopyAtOnce: r.copyAtOnce(opt), BeforeRemove: r.InCollection(r.RenamePacks),
		Progress: r.Opt.Told(),
	}
	if opt.need == 0 {
		c.Pack = r.Packer() // packing takes too long for a capture that waits
	}
	if opt.DryRun {
		c.WithoutRef, c.Cut, c.Roots = func(name string) bool { return gone[name] || name == thinned.Ref && v.list != nil }, v.cut, v.list.roots(s.table)
		if done.Keep, err = r.keptRules(ctx, s, opt.Keep); err != nil {
			return err
		}
	} else if err := r.prepareThinned(ctx, s, v); err != nil {
		return err
	} else if err := r.Exclusive(ctx, func(l *history.Locked) error {
		if v, err = r.overtaken(ctx, s, v); err != nil {
			return err
		}
		if err := r.carryOutVerdict(l, s, v); err != nil {
			return err
		}
		done.Thinned = v.thinned
		return r.dropRecords(ctx, l, s, v, done)
	}); err != nil {
		return err
	}
	got, err := collect.Run(ctx, r.DB, c)
	if got != nil {
		done.add(got, opt.DryRun)
	}
	if errors.Is(err, collect.ErrNoSpace) {
		err = fmt.Errorf("%w: %w", state.ErrNoSpace, err)
	}
	if err == nil && !opt.DryRun && !got.Incomplete && got.Blocked == nil {
		err = r.Exclusive(ctx, r.forgetEnds)
	}
	return err
}

// add adds the result of one collection. Each collection of a dry run reports the whole sum again.
func (d *CleanResult) add(c *collect.Result, dry bool) {
	if dry {
		d.Freed = 0
	}
	d.Freed += c.Freed
	d.Packs = c.Packs
	d.Peak = max(d.Peak, c.Peak)
	d.Incomplete, d.Blocked = c.Incomplete, state.CauseOf(c.Blocked)
}

// carryOutVerdict writes the list of thinned checkpoints, cuts lines and deletes refs. A ref that has moved
// since the survey stays: another process has continued the line.
func (r *Cleaner) carryOutVerdict(l *history.Locked, s *survey, v *verdict) error {
	r.Holds(l)
	if err := r.writeThinned(s, v); err != nil {
		return err
	}
	if len(v.cut) > 0 {
		ends, err := r.DB.Shallow()
		if history.IsRefusal(err) {
			return err
		}
		if err != nil {
			r.Log.Warn("the list of ends of lines is made anew", "error", err)
		}
		if err := r.DB.SetShallow(append(ends, v.cut...)); err != nil {
			return err
		}
	}
	for _, ref := range v.gone {
		now, err := r.DB.Ref(ref.Name)
		if err != nil || now != ref.ID {
			continue
		}
		if err := r.DB.DropRef(ref.Name); err != nil {
			return err
		}
	}
	return nil
}

// forgetEnds drops the ends of lines that no longer exist.
func (r *Cleaner) forgetEnds(l *history.Locked) error {
	r.Holds(l)
	ends, err := r.DB.Shallow()
	if err != nil {
		return err
	}
	return r.DB.SetShallow(slices.DeleteFunc(ends, func(id object.ID) bool {
		_, _, err := r.DB.Stat(id)
		return errors.Is(err, odb.ErrNotFound)
	}))
}

// cleanedNote is the record of the last cleaning.
type cleanedNote struct {
	Time  time.Time `json:"time"`  // start of the cleaning, or creation of the store
	Done  bool      `json:"done"`  // the cleaning has ended
	Freed int64     `json:"freed"` // bytes
}

func (r *Cleaner) writeNote(done bool, freed int64) error {
	data, err := json.Marshal(cleanedNote{r.Now().UTC(), done, freed})
	if err != nil {
		return err
	}
	return r.DB.NotePrivate(odb.PrivateCleaned, append(data, '\n'))
}

func (r *Cleaner) readNote() (note cleanedNote) {
	data, err := r.DB.ReadPrivate(odb.PrivateCleaned)
	if err != nil || json.Unmarshal(data, &note) != nil {
		return cleanedNote{} // counts as never cleaned
	}
	return note
}

// Due reports whether the last cleaning began at least every ago. It reads one small file. A time
// in the future counts as long ago.
func (r *Cleaner) Due(every time.Duration) bool {
	since := r.Now().Sub(r.readNote().Time)
	return since < 0 || since >= every
}

// CleanIfDue cleans if the last cleaning, finished or not, began at least every ago and no other
// process uses or cleans the store. Otherwise it returns nil.
func (r *Cleaner) CleanIfDue(ctx context.Context, keep settings.Retention, every time.Duration) (*CleanResult, error) {
	if !r.Due(every) {
		return nil, nil
	}
	begun := false
	err := r.Exclusive(ctx, func(*history.Locked) error {
		if begun = r.Due(every); !begun {
			return nil
		}
		return r.writeNote(false, 0) // before the work, so that other processes do not begin, too
	})
	if errors.Is(err, state.ErrLocked) {
		return nil, nil
	}
	if err != nil || !begun {
		return nil, err
	}
	done, err := r.Clean(ctx, CleanOptions{Retention: keep})
	if errors.Is(err, ErrBusy) || errors.Is(err, state.ErrLocked) {
		return nil, nil
	}
	return done, err
}
