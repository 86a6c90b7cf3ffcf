package retention

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// CleanOptions says how to clean.
type CleanOptions struct {
	settings.Retention
	DryRun   bool // change nothing, say what would go
	Thorough bool // drop every byte that is not needed, however much has to be copied for it

	need int64 // bytes that a capture is about to write; 0 = none waits for room
}

// Cleaned is the answer of Clean.
type Cleaned struct {
	Lines       []string `json:"lines"`       // that went: names of refs
	Shortened   []string `json:"shortened"`   // lines whose beginning went: names of refs
	Checkpoints int      `json:"checkpoints"` // that went
	Kept        int      `json:"kept"`        // checkpoints that are left
	Freed       int64    `json:"freed"`       // bytes; of a dry run, an estimate
	Size        int64    `json:"size"`        // bytes of the store now, see Repo.StoreSize
	Peak        int64    `json:"peak"`        // bytes of temporary files, at most
	Packs       int      `json:"packs"`

	// OverBudget is by how many bytes the store is larger than it should be, because
	// what is left must not go.
	OverBudget int64 `json:"overBudget"`

	// Pins are what holds the store over its budget beside KeepLast: the names of pins
	// that lead to something no other does, the largest first.
	Pins []string `json:"pins,omitempty"`

	// Incomplete: somebody needed the store meanwhile. The next cleaning goes on.
	Incomplete bool `json:"incomplete"`

	// Blocked says why nothing was dropped: damage, behind which nobody knows what
	// is needed.
	Blocked *state.Cause `json:"blocked,omitempty"`

	holds *holders // of a cleaning that could not make enough room
	fits  bool     // there is room for CleanOptions.need
	tight bool     // the disk had no room for all of the work
	stuck bool     // pins and KeepLast alone take too much
}

// Clean drops what opt lets go, and puts the packs in order. The store is locked for
// moments only: whoever waits for it comes first.
//
// A store that cannot be read as a whole loses lines, but no contents: Blocked says
// why. The error wraps ErrBusy if another process is cleaning, and ErrNoSpace if
// there is no room even for that.
func (r *Cleaner) Clean(ctx context.Context, opt CleanOptions) (*Cleaned, error) {
	done := &Cleaned{Lines: []string{}, Shortened: []string{}}
	keep := settings.WithDefaults(opt.Retention, r.DefaultBudget)
	s, err := TakeSurvey(ctx, r.Store)
	if err != nil {
		return nil, fmt.Errorf("clean: %w", err)
	}
	s.spare(keep.KeepLast)
	s.byAge(keep.MaxAge, r.Now())
	s.byCount(keep.MaxCount)
	if opt.need == 0 { // else once is enough
		err = r.letGo(ctx, s, opt, done)
	}
	if err == nil {
		err = r.shrink(ctx, s, opt, keep, done)
	}
	if err == nil && !opt.DryRun {
		err = r.Exclusive(ctx, func() error { return r.writeNote(true, done.Freed) })
	}
	if err == nil {
		done.Size, err = r.StoreSize()
	}
	if err != nil {
		return done, fmt.Errorf("clean: %w", err)
	}
	return done, nil
}

// letGo carries out what was decided about, in an order that leaves a sound store at
// any time: first the ends of lines, then the refs, then what they led to.
func (r *Cleaner) letGo(ctx context.Context, s *survey, opt CleanOptions, done *Cleaned) error {
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
	slices.Sort(done.Lines)
	done.Checkpoints, done.Kept, done.Shortened = v.dropped, v.kept, append([]string{}, v.shortened...)
	c := odb.Collection{Thorough: opt.Thorough, DryRun: opt.DryRun, Reserve: r.reserve(opt), CopyAtOnce: r.copyAtOnce(opt), BeforeRemove: r.BeforeRemove}
	if opt.need == 0 {
		c.Pack = r.Packer() // which takes too long for a capture that waits
	}
	if opt.DryRun {
		c.WithoutRef, c.Cut = func(name string) bool { return gone[name] }, v.cut
	} else if err := r.Exclusive(ctx, func() error { return r.carryOutVerdict(v) }); err != nil {
		return err
	}
	got, err := r.DB.Collect(ctx, c)
	if got != nil {
		done.add(got, opt.DryRun)
	}
	if errors.Is(err, odb.ErrNoSpace) {
		err = fmt.Errorf("%w: %w", state.ErrNoSpace, err)
	}
	if err == nil && !opt.DryRun && !got.Incomplete && got.Blocked == nil {
		err = r.Exclusive(ctx, r.forgetEnds)
	}
	return err
}

// add takes over what was done; a dry run says it all anew each time.
func (d *Cleaned) add(c *odb.Collected, dry bool) {
	if dry {
		d.Freed = 0
	}
	d.Freed += c.Freed
	d.Packs = c.Packs
	d.Peak = max(d.Peak, c.Peak)
	d.Incomplete, d.Blocked = c.Incomplete, state.CauseOf(c.Blocked)
}

// carryOutVerdict hides and deletes. A line that was moved since stays: somebody
// has gone on with it.
func (r *Cleaner) carryOutVerdict(v *verdict) error {
	if len(v.cut) > 0 {
		ends, err := r.DB.Shallow()
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
		if err := r.DB.DeleteRef(ref.Name); err != nil && !errors.Is(err, odb.ErrNotFound) {
			return err
		}
	}
	return nil
}

// forgetEnds drops the ends of lines that are gone themselves.
func (r *Cleaner) forgetEnds() error {
	ends, err := r.DB.Shallow()
	if err != nil {
		return err
	}
	return r.DB.SetShallow(slices.DeleteFunc(ends, func(id object.ID) bool {
		_, _, err := r.DB.Stat(id)
		return errors.Is(err, odb.ErrNotFound)
	}))
}

// cleanedNote is what is kept about the last cleaning.
type cleanedNote struct {
	Time  time.Time `json:"time"`  // when it was begun, or the store was made
	Done  bool      `json:"done"`  // it has ended
	Freed int64     `json:"freed"` // bytes
}

func (r *Cleaner) writeNote(done bool, freed int64) error {
	data, err := json.Marshal(cleanedNote{r.Now().UTC(), done, freed})
	if err != nil {
		return err
	}
	return r.DB.WritePrivate(odb.PrivateCleaned, append(data, '\n'))
}

func (r *Cleaner) readNote() (note cleanedNote) {
	data, err := r.DB.ReadPrivate(odb.PrivateCleaned)
	if err != nil || json.Unmarshal(data, &note) != nil {
		return cleanedNote{} // never cleaned, as far as anybody knows
	}
	return note
}

// Due reports whether the last cleaning is longer ago than every, at the price of
// reading one small file. A time in the future counts as long ago.
func (r *Cleaner) Due(every time.Duration) bool {
	since := r.Now().Sub(r.readNote().Time)
	return since < 0 || since >= every
}

// CleanIfDue cleans if the last cleaning, finished or not, was begun longer ago than
// every, and nobody else uses or cleans the store. Otherwise it returns nil.
func (r *Cleaner) CleanIfDue(ctx context.Context, keep settings.Retention, every time.Duration) (*Cleaned, error) {
	if !r.Due(every) {
		return nil, nil
	}
	begun := false
	err := r.Exclusive(ctx, func() error {
		if begun = r.Due(every); !begun {
			return nil
		}
		return r.writeNote(false, 0) // before the work: others are not to begin, too
	})
	if !begun || errors.Is(err, state.ErrLocked) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	done, err := r.Clean(ctx, CleanOptions{Retention: keep})
	if errors.Is(err, ErrBusy) || errors.Is(err, state.ErrLocked) {
		return nil, nil
	}
	return done, err
}
