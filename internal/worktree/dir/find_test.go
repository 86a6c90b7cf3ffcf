package dir

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func TestFindReturnsOtherSpellings(t *testing.T) {
	t.Parallel()
	for name, newRoot := range map[string]func(testing.TB) string{"told apart": tellsCase, "not told apart": gittest.CaseBlindDir} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := newRoot(t)
			writeFiles(t, root, "README", "Docs/Sub/a", "Docs/ü", "12")
			for path, want := range map[string][2]string{ // path and As of what is found
				"README": {"README"}, "readme": {"README", "readme"}, "12": {"12"},
				"Docs/Sub/a": {"Docs/Sub/a"}, "Docs/Sub/A": {"Docs/Sub/a", "Docs/Sub/A"}, "Docs/sub/A": {"Docs/Sub", "Docs/sub"},
				"docs/sub/A": {"Docs", "docs"}, "docs/none": {"Docs", "docs"}, "Docs/Ü": {"Docs/ü", "Docs/Ü"}, "Docs/ü": {"Docs/ü"},
				"readme/x": {"README", "readme"}, "none": {}, "Docs/none": {},
			} {
				if name == "told apart" && want[1] != "" {
					want = [2]string{}
				}
				found, err := Find(root, path, func(string) bool { return false })
				succeed(t, err)
				var got [2]string
				if found != nil {
					got = [2]string{found.Path, found.As}
				}
				if got != want {
					t.Errorf("at %s there is %q, not %q", path, got, want)
				}
			}
		})
	}
}

func TestFindAsksForSpellingsOnlyIfTold(t *testing.T) {
	t.Parallel()
	root := gittest.CaseBlindDir(t)
	writeFiles(t, root, "README")
	for _, known := range []func(string) bool{nil, func(string) bool { return true }} {
		found, err := Find(root, "readme", known)
		succeed(t, err)
		if found == nil || found.Path != "readme" || found.As != "" {
			t.Errorf("found %+v", found)
		}
	}
}

// tellsCase is a directory where names that differ in case are two.
func tellsCase(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	if !gittest.TellsCase(t, root) {
		t.Skip("names are not told apart by case here")
	}
	return root
}
