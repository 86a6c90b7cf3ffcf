package ticket

import (
	"errors"
	"io/fs"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Fault is an error that one process made and another reads: its text, and the names of
// the library's errors that it wraps.
type Fault struct {
	Text string   `json:"text"`
	Is   []string `json:"is,omitempty"`
}

// sentinels are the errors that callers can tell apart. Their names stand in files, so
// they never change.
var sentinels = []struct {
	name string
	err  error
}{
	{"root", cairn.ErrRoot}, {"store", cairn.ErrStore}, {"not-found", cairn.ErrNotFound}, {"ambiguous", cairn.ErrAmbiguous},
	{"locked", cairn.ErrLocked}, {"sealed", cairn.ErrSealed}, {"corrupt", cairn.ErrCorrupt}, {"too-large", cairn.ErrTooLarge}, {"no-space", cairn.ErrNoSpace},
	{"deadline", cairn.ErrDeadline}, {"disabled", cairn.ErrDisabled}, {"outside", cairn.ErrOutside}, {"secrets", cairn.ErrSecrets}, {"permission", fs.ErrPermission},
}

// Failed is the answer of work that failed; each error that was joined into err becomes
// a fault.
func Failed(err error) *Answer {
	a := &Answer{Faults: []Fault{}}
	for _, part := range wording.Parts(err) {
		f := Fault{Text: part.Error()}
		for _, s := range sentinels {
			if errors.Is(part, s.err) {
				f.Is = append(f.Is, s.name)
			}
		}
		a.Faults = append(a.Faults, f)
	}
	return a
}

// Err returns the error of work that failed, nil for work that did not.
func (a *Answer) Err() error {
	var errs []error
	for _, f := range a.Faults {
		errs = append(errs, &fault{f})
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}

// fault is a Fault as an error.
type fault struct{ Fault }

func (f *fault) Error() string { return f.Text }

// Is implements errors.Is.
func (f *fault) Is(target error) bool {
	for _, s := range sentinels {
		if s.err == target {
			for _, name := range f.Fault.Is {
				if name == s.name {
					return true
				}
			}
		}
	}
	return false
}
