package review

import (
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// hunksOf are the names of the hunks of a scope in f.
func (r *recorded) hunksOf(in session.Scope) (names []string) {
	r.Helper()
	for d, err := range r.all.Diff(r.Context(), "s", in, cairn.DiffOptions{Hunks: true}) {
		if err != nil {
			r.Fatal(err)
		}
		for i := range d.Hunks {
			if d.File == "f" {
				names = append(names, d.Hunks[i].ID)
			}
		}
	}
	return names
}

func (r *recorded) must(res *cairn.Result, err error) {
	r.Helper()
	if err != nil || !res.Complete() {
		r.Fatalf("%+v, %v", res, err)
	}
}

// takenBack lists the headers of hunks that the screen marks as taken back.
func (d *driven) takenBack() (headers []string) {
	for line := range strings.Lines(d.plainScreen()) {
		if _, after, ok := strings.Cut(line, "@@ "); ok && strings.Contains(after, "↩ taken back") {
			header, _, _ := strings.Cut(after, " @@")
			headers = append(headers, header)
		}
	}
	return headers
}

func (d *driven) wantsTaken(what string, headers ...string) {
	d.t.Helper()
	if got := d.takenBack(); strings.Join(got, "|") != strings.Join(headers, "|") {
		d.t.Errorf("%s: taken back are %q, want %q\n%s", what, got, headers, d.plainScreen())
	}
}

// TestTakenBackElsewhere: hunks that other commands than the review have taken back are marked, in
// every turn, and no longer after an undo. A hunk that was cut is not marked.
func TestTakenBackElsewhere(t *testing.T) {
	t.Parallel()
	const first, second, later = "-2,7 +2,7", "-17,7 +17,7", "-27,7 +27,7"
	r := twoTurns(t)
	m1 := session.Scope{Message: "m1"}
	d := r.review(Options{})
	d.keys("G", "enter")
	d.wantsTaken("nothing")

	r.must(r.all.RevertHunks(t.Context(), "s", m1, cairn.RevertOptions{Hunks: r.hunksOf(m1)[1:]}))
	d.keys("R")
	d.wantsTaken("a hunk", second)
	r.must(r.all.RevertSteps(t.Context(), "s", []string{"m1"}, cairn.RevertOptions{Paths: []string{"f"}}))
	d.keys("R")
	d.wantsTaken("a file of a step", first, second)
	r.must(r.repo.Undo(t.Context(), cairn.RevertOptions{}))
	d.keys("R")
	d.wantsTaken("an undo", second)
	r.must(r.repo.Undo(t.Context(), cairn.RevertOptions{}))
	d.keys("R")
	d.wantsTaken("two of them")
	r.must(r.repo.Redo(t.Context(), cairn.RevertOptions{}))
	r.review(Options{}).wantsTaken("the later turn")

	r.must(r.all.RevertSteps(t.Context(), "s", []string{"m2"}, cairn.RevertOptions{}))
	r.review(Options{}).wantsTaken("a later step", later)
	if _, _, err := r.all.Revert(t.Context(), "s", session.Target{Start: true}, session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	d.keys("R")
	d.wantsTaken("the session", first, second)
}

// TestTakenBackOfARange: a range that ends before an operation shows what that has taken back.
func TestTakenBackOfARange(t *testing.T) {
	t.Parallel()
	r := newRecorded(t)
	track := func(replaced map[int]string) *cairn.Checkpoint {
		r.write("f", lines(40, replaced))
		res, err := r.repo.Track(t.Context(), cairn.TrackOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := r.repo.Lookup(t.Context(), res.Checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	from, to := track(nil), track(map[int]string{3: "x\ny", 15: "z"})
	in := cairn.Range{From: from.ID, To: to.ID}
	r.must(r.repo.Revert(t.Context(), in, cairn.RevertOptions{Lines: []cairn.LineRange{{Path: "f", From: 4, To: 4}, {Path: "f", From: 16, To: 16}}}))
	d := r.review(Options{Range: RangeTurn(from, to, "")})
	d.wantsTaken("lines", "-12,7 +13,7")
	r.review(Options{Range: RangeTurn(from, nil, "")}).wantsTaken("up to now")
}
