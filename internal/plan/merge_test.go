package plan

import (
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

// TestV06_MergedPlansKeepDirectoriesInUse: patches to several checkpoints are planned one
// by one. A directory that is empty at one target and holds a file at the other stays.
func TestV06_MergedPlansKeepDirectoriesInUse(t *testing.T) {
	t.Parallel()
	rmdir := func(path string) apply.Change { return apply.Change{Path: path, Action: apply.Rmdir, Mode: object.Dir} }
	mkdir := func(path string) apply.Change { return apply.Change{Path: path, Action: apply.Mkdir, Mode: object.Dir} }
	create := func(path string) apply.Change {
		return apply.Change{Path: path, Action: apply.Create, Mode: object.Regular}
	}
	for name, of := range map[string]struct {
		a, b, want []apply.Change
		conflict   state.Path
	}{
		"removed first":        {[]apply.Change{rmdir("d/e")}, []apply.Change{create("d/e/f")}, []apply.Change{create("d/e/f")}, ""},
		"made first":           {[]apply.Change{create("d/e/f")}, []apply.Change{rmdir("d/e"), rmdir("d")}, []apply.Change{create("d/e/f")}, ""},
		"of a similar name":    {[]apply.Change{rmdir("d/e")}, []apply.Change{create("d/ef")}, []apply.Change{rmdir("d/e"), create("d/ef")}, ""},
		"file of another plan": {[]apply.Change{rmdir("d")}, []apply.Change{create("d")}, []apply.Change{rmdir("d"), create("d")}, ""},
		"gives way to a file":  {[]apply.Change{rmdir("d"), create("d")}, []apply.Change{create("x")}, []apply.Change{rmdir("d"), create("d"), create("x")}, ""},
		"below a file":         {[]apply.Change{create("d")}, []apply.Change{create("d/e/f")}, []apply.Change{create("d")}, "d/e/f"},
		"above a file":         {[]apply.Change{create("d/e/f")}, []apply.Change{create("d")}, []apply.Change{create("d/e/f")}, "d"},
		"of an empty one":      {[]apply.Change{mkdir("d")}, []apply.Change{create("d")}, []apply.Change{mkdir("d")}, "d"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &Plan{Changes: slices.Clone(of.a)}
			p.Merge(&Plan{Changes: of.b})
			same := func(x, y apply.Change) bool { return x.Path == y.Path && x.Action == y.Action }
			if !slices.EqualFunc(p.Changes, of.want, same) {
				t.Errorf("got %+v, want %+v", p.Changes, of.want)
			}
			if len(p.Conflicts) > 1 || (len(p.Conflicts) == 1) != (of.conflict != "") || len(p.Conflicts) == 1 && p.Conflicts[0].Path != of.conflict {
				t.Errorf("conflicts %v, want %q", p.Conflicts, of.conflict)
			}
		})
	}
}
