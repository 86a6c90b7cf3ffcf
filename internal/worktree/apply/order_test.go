package apply

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// changesOf reads "action path", one per line; a trailing '/' makes the mode Dir, and
// " as path" says what is made in its place.
func changesOf(t *testing.T, text string) []Change {
	t.Helper()
	var changes []Change
	for line := range strings.Lines(text) {
		word, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "" {
			continue
		}
		action, err := ParseAction(word)
		must(t, err)
		path, as, _ := strings.Cut(path, " as ")
		c := Change{Path: path, Action: action, Mode: object.Regular, As: as}
		if p, dir := strings.CutSuffix(path, "/"); dir || action == Mkdir || action == Rmdir {
			c.Path, c.Mode = p, object.Dir
		}
		changes = append(changes, c)
	}
	return changes
}

func TestApplyOrder(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ plan, want string }{
		"writes before deletions, directories last": {
			plan: "rmdir old\n delete old/x\n delete gone\n create new/f\n mkdir new\n modify keep\n chmod exe\n chmod ro/",
			want: "mkdir new; chmod exe; modify keep; create new/f; delete old/x; delete gone; chmod ro; rmdir old",
		},
		"directories parents first, removed children first": {
			plan: "mkdir a/b/c\n mkdir a\n mkdir a/b\n rmdir z\n rmdir z/y/x\n rmdir z/y",
			want: "mkdir a; mkdir a/b; mkdir a/b/c; rmdir z/y/x; rmdir z/y; rmdir z",
		},
		"file in the way of a directory": {
			plan: "mkdir a\n create a/b\n delete a\n delete z",
			want: "delete a; mkdir a; create a/b; delete z",
		},
		"file in the way of a directory that the plan does not name": {
			plan: "create a/b/c\n delete a\n delete z",
			want: "delete a; create a/b/c; delete z",
		},
		"directory in the way of a file": {
			plan: "create a\n rmdir a\n delete a/x\n rmdir a/d\n delete a/d/y\n delete z\n rmdir zz",
			want: "delete a/x; delete a/d/y; rmdir a/d; rmdir a; create a; delete z; rmdir zz",
		},
		"same path": {
			plan: "create a\n delete a\n delete b",
			want: "delete a; create a; delete b",
		},
		"names that differ in case only": {
			plan: "create README\n delete readme as README\n delete other",
			want: "delete readme; create README; delete other",
		},
		"directories that differ in case only": {
			plan: "create Dir/f\n rmdir dir as Dir\n delete dir/f as Dir/f\n delete dir/g\n rmdir dir/d\n delete e/f",
			want: "delete dir/g; delete dir/f; rmdir dir/d; rmdir dir; create Dir/f; delete e/f",
		},
		"bits of a directory after everything in it": {
			plan: "chmod a/\n chmod a/b/\n rmdir a/b/c\n create a/b/f\n delete a/g",
			want: "create a/b/f; delete a/g; rmdir a/b/c; chmod a/b; chmod a",
		},
		"everything below a directory stays together": {
			plan: "create a.b\n create a/z\n create a-b\n create a/b/c\n create a",
			want: "create a; create a/b/c; create a/z; create a-b; create a.b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes := changesOf(t, tc.plan)
			var got []string
			for _, steps := range orderOf(changes, func(int) bool { return false }) {
				for _, i := range steps {
					got = append(got, changes[i].Action.String()+" "+changes[i].Path)
				}
			}
			if diff := cmp.Diff(strings.Split(tc.want, "; "), got); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

func TestApplyOrderLeavesOutWhatIsRefused(t *testing.T) {
	t.Parallel()
	changes := changesOf(t, "create a\n delete a/x\n delete b")
	order := orderOf(changes, func(i int) bool { return i == 0 })
	if len(order[phaseWrites]) != 0 || len(order[phaseObstacles]) != 0 || !slices.Equal(order[phaseDeletions], []int{2, 1}) {
		t.Errorf("order without the first change: %v", order)
	}
}

func TestComparePaths(t *testing.T) {
	t.Parallel()
	sorted := []string{"", "a", "a/b", "a/b/c", "a/b\x01", "a\x01", "a-", "a.", "a0", "b"}
	for i, a := range sorted {
		for j, b := range sorted {
			if got := comparePaths(a, b); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("comparePaths(%q, %q) = %d", a, b, got)
			}
		}
	}
}

func TestActionNames(t *testing.T) {
	t.Parallel()
	for a, name := range map[Action]string{
		Create: "create", Modify: "modify", Chmod: "chmod", Delete: "delete", Mkdir: "mkdir", Rmdir: "rmdir",
	} {
		if got, err := ParseAction(name); a.String() != name || got != a || err != nil {
			t.Errorf("%d: %q, %d, %v", a, a, got, err)
		}
	}
	for _, bad := range []string{"", "Create", "action(0)", "unlink"} {
		if a, err := ParseAction(bad); err == nil {
			t.Errorf("ParseAction(%q) = %s", bad, a)
		}
	}
	if got := Action(0).String() + Action(77).String(); got != "action(0)action(77)" {
		t.Errorf("names of no actions: %s", got)
	}
}
