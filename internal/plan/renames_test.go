package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

func TestRenamesPairNamesThatDifferInCaseFirst(t *testing.T) {
	t.Parallel()
	gone := func(path, id string) history.Change {
		return history.Change{Path: path, Status: history.Deleted, OldID: id}
	}
	made := func(path, id string) history.Change {
		return history.Change{Path: path, Status: history.Added, NewID: id}
	}
	got := Renames([]history.Change{
		made("a", "1"), gone("b", "1"), made("B", "1"), gone("c", "1"), gone("d", "2"), made("e", "3"), gone("f", "1"),
	})
	want := [][2]string{{"b", "B"}, {"c", "a"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFoldNameIsEqualFold(t *testing.T) {
	t.Parallel()
	names := []string{"readme", "README", "straße", "STRASSE", "ſ", "s", "S", "K", "\u212a", "k", "é", "É", "a\xff", "A\xff", "a\xfe", ""}
	for _, a := range names {
		for _, b := range names {
			if got, want := foldName(a) == foldName(b), strings.EqualFold(a, b); got != want {
				t.Errorf("%q and %q: %t, want %t", a, b, got, want)
			}
		}
	}
}

func TestOtherHalvesStay(t *testing.T) {
	t.Parallel()
	pairs := [][2]string{{"a", "b"}, {"b", "c"}, {"d", "e"}, {"f", "g"}, {"h", "f"}}
	planned := []string{"a", "b", "c", "d", "f", "h"}
	got := OtherHalves(pairs, []string{"c", "e", "g", "x"}, func(path string) bool { return slices.Contains(planned, path) && path != "f" })
	want := []state.PathReason{
		{Path: "b", Reason: ReasonOtherHalf + "c"}, {Path: "d", Reason: ReasonOtherHalf + "e"},
		{Path: "a", Reason: ReasonOtherHalf + "b"}, {Path: "h", Reason: ReasonOtherHalf + "g"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
