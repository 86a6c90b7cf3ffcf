package httpapi

import (
	"sync/atomic"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

// TestDisabledProject: the list of projects names the setting that switches captures off, as long
// as it is in force.
func TestDisabledProject(t *testing.T) {
	t.Parallel()
	var off atomic.Bool
	f := newFixture(t, someTree, func(o *Options) {
		inner := o.Settings
		o.Settings = func(root string) (cairn.Options, error) {
			opt, err := inner(root)
			if off.Load() {
				opt.Disabled = "enabled = false in a file"
			}
			return opt, err
		}
	})
	f.track()
	for _, want := range []string{"", "enabled = false in a file", ""} {
		off.Store(want != "")
		var list []ProjectInfo
		f.call("GET", "/projects", nil).want(t, 200, &list)
		if len(list) != 1 || list[0].Disabled != want {
			t.Errorf("%+v, want disabled to be %q", list, want)
		}
	}
}
