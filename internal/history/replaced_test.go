package history

import (
	"encoding/binary"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// TestManyPurgesLookForEachIDOnce: each purge gives all checkpoints new ids, so that the first ids have a long chain.
func TestManyPurgesLookForEachIDOnce(t *testing.T) {
	t.Parallel()
	const checkpoints, purges = 20, 30
	id := func(purge, checkpoint int) (id object.ID) {
		binary.BigEndian.PutUint32(id[:], uint32(purge*checkpoints+checkpoint+1))
		return id
	}
	chains, last, looked := make(replacements), make(map[object.ID]bool), make(map[object.ID]int)
	for c := range checkpoints {
		for p := range purges {
			chains[id(p, c)] = id(p+1, c)
		}
		last[id(purges, c)] = c%2 == 0 // a cleaning has dropped every other checkpoint
	}
	leads := chains.leading(func(id object.ID) bool { looked[id]++; return last[id] })
	for c := range checkpoints {
		for p := range purges {
			if got := leads(id(p, c)); got != (c%2 == 0) {
				t.Errorf("checkpoint %d, purge %d: %t", c, p, got)
			}
		}
	}
	for id, n := range looked {
		if n > 1 {
			t.Fatalf("%v is looked for %d times", id, n)
		}
	}
}

// TestReplacementsInACircleLeadNowhere: such a list is damaged.
func TestReplacementsInACircleLeadNowhere(t *testing.T) {
	t.Parallel()
	a, b, c := object.ID{1}, object.ID{2}, object.ID{3}
	leads := replacements{a: b, b: c, c: b}.leading(func(object.ID) bool { return false })
	if leads(a) || leads(b) || leads(c) {
		t.Error("it leads to an object")
	}
}

// TestPurgedNameWithAnEndOfLine: it leaves alone names with another byte there, as Icons beside Icon\r of macOS.
func TestPurgedNameWithAnEndOfLine(t *testing.T) {
	t.Parallel()
	purged := []string{"Icon\r", "a\nb", "d\r\n/f", "plain"}
	never := compileNever(nil, purged, false)
	for _, path := range purged {
		if !never.Covers(path, false) {
			t.Errorf("%q is captured", path)
		}
	}
	for _, path := range []string{"Icons", "Icon\n", "Icon", "axb", "a\rb", "a\xffb", "a/b", "dxy/f", "d\n\r/f", "plain\r"} {
		if never.Covers(path, false) {
			t.Errorf("%q is not captured", path)
		}
	}
}

// TestPurgedNamesAndCase: a purged path is one file. Where names that differ by case are of different files, as on Linux,
// the others go on to be captured. Patterns of the deny list have no case.
func TestPurgedNamesAndCase(t *testing.T) {
	t.Parallel()
	for _, fold := range []bool{false, true} {
		never := compileNever([]string{"*.PEM"}, []string{"readme", "dir"}, fold)
		for path, want := range map[string]bool{
			"readme": true, "dir/a": true, "README": fold, "Dir/a": fold, "a.pem": true, "in/A.Pem": true, "other": false,
		} {
			if got := never.Covers(path, false); got != want {
				t.Errorf("%q, fold %t: denied %t, want %t", path, fold, got, want)
			}
		}
	}
}
