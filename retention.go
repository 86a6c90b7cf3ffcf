package cairn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// Defaults of a Retention.
const (
	DefaultMaxAge   = 7 * 24 * time.Hour
	DefaultMinFree  = 1 << 30 // bytes
	DefaultKeepLast = 20
)

// Retention says what may be cleaned away. The zero value is the usual one. What is
// pinned, and the newest KeepLast checkpoints and operations, never go. Beyond MaxCount
// and MaxBytes the oldest checkpoints go, also those at the beginning of a line that
// goes on: a day's line or a session.
type Retention struct {
	// MaxAge is how long a line lives after its last checkpoint: a day's checkpoints,
	// or a session. Operations go one by one. 0 = DefaultMaxAge, NoLimit = for ever.
	MaxAge time.Duration

	MaxCount int   // checkpoints to keep, the oldest go first; 0 or NoLimit = any number
	MaxBytes int64 // size of the store to keep to, the oldest go first; 0 = Repo.DefaultBudget, NoLimit = any
	MinFree  int64 // bytes to leave free on the disk while cleaning; 0 = DefaultMinFree, NoLimit = none
	KeepLast int   // newest ones that live whatever the rest says; 0 = DefaultKeepLast, NoLimit = none but the newest checkpoint
}

// CleanOptions says how to clean.
type CleanOptions struct {
	Retention
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
	Blocked *Cause `json:"blocked,omitempty"`

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
func (r *Repo) Clean(ctx context.Context, opt CleanOptions) (*Cleaned, error) {
	done := &Cleaned{Lines: []string{}, Shortened: []string{}}
	keep := opt.Retention.withDefaults(r.DefaultBudget)
	s, err := takeSurvey(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("clean: %w", err)
	}
	s.spare(keep.KeepLast)
	s.byAge(keep.MaxAge, r.now())
	s.byCount(keep.MaxCount)
	if opt.need == 0 { // else once is enough
		err = r.letGo(ctx, s, opt, done)
	}
	if err == nil {
		err = r.shrink(ctx, s, opt, keep, done)
	}
	if err == nil && !opt.DryRun {
		err = r.exclusive(ctx, func() error { return r.writeNote(true, done.Freed) })
	}
	if err == nil {
		done.Size, err = r.StoreSize()
	}
	if err != nil {
		return done, fmt.Errorf("clean: %w", err)
	}
	return done, nil
}

// noBytes is a size that no store reaches.
const noBytes int64 = 1<<63 - 1

// withDefaults replaces what is 0. budget is asked for the size of a store if none is given.
func (k Retention) withDefaults(budget func() int64) Retention {
	if k.MaxBytes == 0 {
		k.MaxBytes = budget()
	}
	return Retention{
		MaxAge:   limit(k.MaxAge, DefaultMaxAge, 1<<63-1),
		MaxCount: limit(k.MaxCount, 1<<31-1, 1<<31-1),
		MaxBytes: limit(k.MaxBytes, noBytes, noBytes),
		MinFree:  limit(k.MinFree, DefaultMinFree, 0),
		KeepLast: limit(k.KeepLast, DefaultKeepLast, 0),
	}
}

// limit replaces 0 by the default, and NoLimit by what stands for none.
func limit[T int | int64 | time.Duration](v, fallback, none T) T {
	switch {
	case v == 0:
		return fallback
	case v < 0:
		return none
	}
	return v
}

// letGo carries out what was decided about, in an order that leaves a sound store at
// any time: first the ends of lines, then the refs, then what they led to.
func (r *Repo) letGo(ctx context.Context, s *survey, opt CleanOptions, done *Cleaned) error {
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
	c := odb.Collection{Thorough: opt.Thorough, DryRun: opt.DryRun, Reserve: r.reserve(opt), CopyAtOnce: r.copyAtOnce(opt), BeforeRemove: r.beforeRemove}
	if opt.need == 0 {
		c.Pack = r.packer() // which takes too long for a capture that waits
	}
	if opt.DryRun {
		c.WithoutRef, c.Cut = func(name string) bool { return gone[name] }, v.cut
	} else if err := r.exclusive(ctx, func() error { return r.carryOutVerdict(v) }); err != nil {
		return err
	}
	got, err := r.db.Collect(ctx, c)
	if got != nil {
		done.add(got, opt.DryRun)
	}
	if errors.Is(err, odb.ErrNoSpace) {
		err = fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	if err == nil && !opt.DryRun && !got.Incomplete && got.Blocked == nil {
		err = r.exclusive(ctx, r.forgetEnds)
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
	d.Incomplete, d.Blocked = c.Incomplete, causeOf(c.Blocked)
}

// carryOutVerdict hides and deletes. A line that was moved since stays: somebody
// has gone on with it.
func (r *Repo) carryOutVerdict(v *verdict) error {
	if len(v.cut) > 0 {
		ends, err := r.db.Shallow()
		if err != nil {
			r.log.Warn("the list of ends of lines is made anew", "error", err)
		}
		if err := r.db.SetShallow(append(ends, v.cut...)); err != nil {
			return err
		}
	}
	for _, ref := range v.gone {
		now, err := r.db.Ref(ref.Name)
		if err != nil || now != ref.ID {
			continue
		}
		if err := r.db.DeleteRef(ref.Name); err != nil && !errors.Is(err, odb.ErrNotFound) {
			return err
		}
	}
	return nil
}

// forgetEnds drops the ends of lines that are gone themselves.
func (r *Repo) forgetEnds() error {
	ends, err := r.db.Shallow()
	if err != nil {
		return err
	}
	return r.db.SetShallow(slices.DeleteFunc(ends, func(id object.ID) bool {
		_, _, err := r.db.Stat(id)
		return errors.Is(err, odb.ErrNotFound)
	}))
}

// renamePacks keeps the stat cache when packs are replaced: it is dropped where a
// pack that it knows has gone, unless it hears of that. Called with the lock held.
func (r *Repo) renamePacks(gone, left []string) error {
	have := append(slices.Clone(gone), left...)
	if done, err := r.watching.renamePacks(r, have, left); done {
		return err
	}
	x, err := index.Load(r.indexFile())
	if err != nil || lackedBy(x, have) != "" {
		return nil // it will be dropped anyway
	}
	x.SetPrivate(left, x.Aux)
	return x.Save(r.indexFile())
}

// cleanedNote is what is kept about the last cleaning.
type cleanedNote struct {
	Time  time.Time `json:"time"`  // when it was begun, or the store was made
	Done  bool      `json:"done"`  // it has ended
	Freed int64     `json:"freed"` // bytes
}

func (r *Repo) writeNote(done bool, freed int64) error {
	data, err := json.Marshal(cleanedNote{r.now().UTC(), done, freed})
	if err != nil {
		return err
	}
	return r.db.WritePrivate(odb.PrivateCleaned, append(data, '\n'))
}

func (r *Repo) readNote() (note cleanedNote) {
	data, err := r.db.ReadPrivate(odb.PrivateCleaned)
	if err != nil || json.Unmarshal(data, &note) != nil {
		return cleanedNote{} // never cleaned, as far as anybody knows
	}
	return note
}

// Due reports whether the last cleaning is longer ago than every, at the price of
// reading one small file. A time in the future counts as long ago.
func (r *Repo) Due(every time.Duration) bool {
	since := r.now().Sub(r.readNote().Time)
	return since < 0 || since >= every
}

// CleanIfDue cleans if the last cleaning, finished or not, was begun longer ago than
// every, and nobody else uses or cleans the store. Otherwise it returns nil.
func (r *Repo) CleanIfDue(ctx context.Context, keep Retention, every time.Duration) (*Cleaned, error) {
	if !r.Due(every) {
		return nil, nil
	}
	begun := false
	err := r.exclusive(ctx, func() error {
		if begun = r.Due(every); !begun {
			return nil
		}
		return r.writeNote(false, 0) // before the work: others are not to begin, too
	})
	if !begun || errors.Is(err, ErrLocked) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	done, err := r.Clean(ctx, CleanOptions{Retention: keep})
	if errors.Is(err, ErrBusy) || errors.Is(err, ErrLocked) {
		return nil, nil
	}
	return done, err
}
