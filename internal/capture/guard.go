package capture

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/scan"
)

// Enabled returns an error if captures are switched off.
func (r *Capturer) Enabled() error {
	if r.Opt.Disabled == "" {
		return nil
	}
	return state.Disabled(r.Opt.Disabled)
}

// GuardRoot refuses roots that are captured only by mistake, such as a home directory. It is called
// before a store is made: an existing store shows that the root is meant.
func GuardRoot(root string, opt *settings.Options) error {
	if opt.Force {
		return nil
	}
	what := ""
	if root == filepath.Dir(root) {
		what = "a whole file system"
	}
	homes := append([]string{opt.Home}, opt.Homes...)
	for _, home := range homes {
		if real, err := realpath.Of(home); err == nil {
			homes = append(homes, real)
		}
	}
	for _, home := range homes {
		for at := filepath.Clean(home); home != "" && what == ""; at = filepath.Dir(at) {
			if same, err := filepath.Match(at, root); err == nil && same || at == root {
				what = "a home directory"
				if at != filepath.Clean(home) {
					what = "a directory of home directories"
				}
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	if what == "" {
		return nil
	}
	return fmt.Errorf("%w: %s is %s; name the project inside it that you mean, or force it", state.ErrRoot, root, what)
}

// limit returns the limit that an option sets, where 0 means none. In the option 0 means the default
// and a negative number none.
func limit[N int | int64](option, byDefault N) N {
	if option == 0 {
		return byDefault
	}
	return max(option, 0)
}

// maxFiles returns the limit of files. A root whose last capture exceeded it has none: the user has
// forced it before.
func (r *Capturer) maxFiles(before auxiliary) int {
	most := limit(r.Opt.MaxFiles, settings.DefaultMaxFiles)
	if r.Opt.Force || before.Files > most {
		return 0
	}
	return most
}

func (r *Capturer) maxScanBytes() int64 {
	if r.Opt.Force {
		return 0
	}
	return limit(r.Opt.MaxScanBytes, settings.DefaultMaxScanBytes)
}

// onGrowth returns a function that counts ahead when a scan finds many files to read, so that a
// capture above a limit is refused before it reads them.
func (r *Capturer) onGrowth(ctx context.Context, x *index.Index, rules *ruleSource, scan *scan.Walk) func() error {
	if r.maxFiles(rules.before) == 0 && r.maxScanBytes() == 0 {
		return nil
	}
	return func() error { return r.countAhead(ctx, x, rules, scan) }
}

// explainLimit adds the largest directories to the error of a scan that met a limit.
func (r *Capturer) explainLimit(ctx context.Context, err error, x *index.Index, rules *ruleSource) error {
	if !errors.Is(err, scan.ErrLimit) || errors.Is(err, state.ErrTooLarge) {
		return err
	}
	if found := r.countAhead(ctx, x, rules, nil); found != nil {
		return found
	}
	return fmt.Errorf("%w: %w", state.ErrTooLarge, err) // the directory has shrunk since
}

// countAhead counts the files of a capture and the bytes that it would read, and stops at the
// limits. walk is the running scan, if any.
func (r *Capturer) countAhead(ctx context.Context, x *index.Index, rules *ruleSource, walk *scan.Walk) error {
	s := r.newScan(x, rules, nil, Options{})
	if s.Progress = nil; walk != nil {
		s.Known, s.Lender = walk.Known, walk.Lender
	}
	tallies, err := s.Survey(ctx)
	if !errors.Is(err, scan.ErrLimit) {
		return err
	}
	var sum scan.Tally
	for _, t := range tallies {
		sum.Files += t.Files
		sum.Bytes += t.Bytes
	}
	if filesFirst(sum, s.MaxFiles, s.MaxBytes) {
		return r.tooLarge(fmt.Sprintf("more than %s", wording.Count(s.MaxFiles, "file")),
			scan.Largest(tallies, maxOffenders, func(t scan.Tally) int64 { return int64(t.Files) }))
	}
	return r.tooLarge(fmt.Sprintf("more than %s of new data", wording.Size(s.MaxBytes)),
		scan.Largest(tallies, maxOffenders, func(t scan.Tally) int64 { return t.Bytes }))
}

// filesFirst reports whether the limit of files was met and not that of bytes. The tallies may lack
// the counts of other workers when the count ends, so both sums may be below the limits.
func filesFirst(sum scan.Tally, maxFiles int, maxBytes int64) bool {
	switch {
	case maxFiles <= 0:
		return false
	case maxBytes <= 0:
		return true
	}
	return float64(sum.Files)/float64(maxFiles) >= float64(sum.Bytes)/float64(maxBytes)
}

// maxOffenders is the number of directories that an ErrTooLarge names.
const maxOffenders = 3

func (r *Capturer) tooLarge(what string, largest []scan.Tally) error {
	text := fmt.Sprintf("%s below %s", what, r.Root)
	var names []string
	for _, t := range largest {
		if t.Path == "" {
			break
		}
		names = append(names, fmt.Sprintf("%s (%s, %s)", t.Path, wording.Count(t.Files, "file"), wording.Size(t.Bytes)))
	}
	if len(names) == 0 {
		return fmt.Errorf("%w: %s: take a sub-directory as the root, or force it", state.ErrTooLarge, text)
	}
	return fmt.Errorf("%w: %s, counted so far most in %s: leave it out by a line /%s/ in .gitignore, take a sub-directory as the root, or force it",
		state.ErrTooLarge, text, strings.Join(names, ", "), largest[0].Path)
}

// Limits are the limits in force. NoLimit means none; 0 does not occur.
type Limits struct {
	MaxFileSize  int64 `json:"maxFileSize"`  // in bytes, of a file that is captured
	MaxFiles     int   `json:"maxFiles"`     // of a capture
	MaxScanBytes int64 `json:"maxScanBytes"` // of new data in a capture
	MinFree      int64 `json:"minFree"`      // bytes left free on the disk of the store
	Budget       int64 `json:"budget"`       // bytes of the store
}

// Limits returns the limits of this Capturer.
func (r *Capturer) Limits() Limits {
	return Limits{
		MaxFileSize: orNone(r.maxFileSize()), MaxFiles: orNone(r.maxFiles(auxiliary{})), MaxScanBytes: orNone(r.maxScanBytes()),
		MinFree: orNone(r.Room.MinFree), Budget: orNone(r.Room.MaxBytes),
	}
}

// orNone replaces 0, which means no limit below the options, by NoLimit.
func orNone[T int | int64](limit T) T {
	if limit == 0 {
		return settings.NoLimit
	}
	return limit
}
