package httpapi

import (
	"sync/atomic"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

const switchedOff = "enabled = false in a file"

// newSwitchedFixture makes a project in which captures are switched off while off is true.
func newSwitchedFixture(t *testing.T) (f *fixture, off *atomic.Bool) {
	t.Helper()
	off = new(atomic.Bool)
	return newFixture(t, someTree, func(o *Options) {
		inner := o.Settings
		o.Settings = func(root string) (cairn.Options, error) {
			opt, err := inner(root)
			if off.Load() {
				opt.Disabled = switchedOff
			}
			return opt, err
		}
	}), off
}

// TestDisabledProject: the list of projects names the setting that switches captures off, as long
// as it is in force.
func TestDisabledProject(t *testing.T) {
	t.Parallel()
	f, off := newSwitchedFixture(t)
	f.track()
	for _, want := range []string{"", switchedOff, ""} {
		off.Store(want != "")
		var list []ProjectInfo
		f.call("GET", "/projects", nil).want(t, 200, &list)
		if len(list) != 1 || list[0].Disabled != want {
			t.Errorf("%+v, want disabled to be %q", list, want)
		}
	}
}
