package takenback

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/hunk"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// blobs are contents by id.
type blobs map[string][]byte

func (b blobs) side(text string) (mode uint32, id string) {
	id = object.Sum(object.Blob, []byte(text)).String()
	b[id] = []byte(text)
	return 0o100644, id
}

func (b blobs) change(from, to string) (c history.Change) {
	c.Path = "f"
	c.OldMode, c.OldID = b.side(from)
	c.NewMode, c.NewID = b.side(to)
	return c
}

func changes(operations []history.Change) (list []Change) {
	for _, o := range operations {
		list = append(list, Change{Change: o})
	}
	return list
}

// left is the text that Left gives a change.
func (b blobs) left(t *testing.T, c history.Change, operations ...history.Change) string {
	t.Helper()
	back := &Back{Read: func(id string) ([]byte, error) { return b[id], nil }, Made: b}
	c, err := back.Left(c, changes(operations))
	if err != nil {
		t.Fatal(err)
	}
	return string(b[c.NewID])
}

// edited is lines with some changed, removed and added.
func edited(r *rand.Rand, lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		switch r.IntN(9) {
		case 0:
			fmt.Fprintf(&b, "changed %d\n", r.IntN(99))
		case 1:
		case 2:
			fmt.Fprintf(&b, "%sadded %d\n", line, r.IntN(99))
		default:
			b.WriteString(line)
		}
	}
	return strings.TrimSuffix(b.String(), "\n") + strings.Repeat("\n", r.IntN(2))
}

// Exactly the hunks that an operation took back are left out, also where the user has written in the
// file. An operation that brings them back makes the change whole again.
func TestLeftIsWhatWasNotTakenBack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 3000 {
		var lines []string
		for i := range 5 + r.IntN(30) {
			lines = append(lines, fmt.Sprintf("line %d\n", i))
		}
		before := strings.Join(lines, "")
		after := edited(r, lines)
		var chosen []linediff.Edit
		for _, h := range hunk.Of("f", []byte(before), []byte(after)) {
			if r.IntN(2) == 0 {
				chosen = append(chosen, h.Edit)
			}
		}
		want := string(hunk.TakeBack([]byte(before), []byte(after), chosen))
		b := make(blobs)
		c, operation := b.change(before, after), b.change(after, want)
		if got := b.left(t, c, operation); got != want {
			t.Fatalf("case %d: %q to %q\ngot  %q\nwant %q", n, before, after, got, want)
		}
		if got := b.left(t, c, operation, b.change(want, after)); got != after {
			t.Fatalf("case %d, undone: %q to %q\ngot  %q", n, before, after, got)
		}
		const users = "the user's\nown\n"
		apart := want // without a hunk that adjoins the user's lines
		if len(chosen) > 0 && (chosen[0].A0 == 0 || chosen[0].B0 == 0) {
			apart = string(hunk.TakeBack([]byte(before), []byte(after), chosen[1:]))
		}
		if got := b.left(t, c, b.change(users+"more\n"+after, users+"more\n"+want)); got != want && got != apart {
			t.Fatalf("case %d, beside the user's lines: %q to %q\ngot  %q\nwant %q", n, before, after, got, want)
		}
		if got := b.left(t, c, b.change(after, after+users)); got != after {
			t.Fatalf("case %d: lines of the user: %q", n, got)
		}
	}
}

// Exactly the lines that an operation took back are left out, also where they are a part of a hunk.
func TestLeftIsWithoutLines(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 3000 {
		before, after := new(strings.Builder), new(strings.Builder)
		for i := range 5 + r.IntN(20) {
			switch fmt.Fprintf(before, "line %d\n", i); r.IntN(3) {
			case 0:
				fmt.Fprintf(after, "line %d\n", i)
			case 1:
				for j := range r.IntN(4) {
					fmt.Fprintf(after, "new %d.%d\n", i, j)
				}
			default:
				fmt.Fprintf(after, "line %d\nadded %d\n", i, i)
			}
		}
		old, now := before.String(), after.String()
		from := 1 + r.IntN(strings.Count(now, "\n")+1)
		chosen := hunk.Within(linediff.Diff([]byte(old), []byte(now)), hunk.Range{From: from, To: from + r.IntN(6)})
		want := string(hunk.TakeBack([]byte(old), []byte(now), chosen))
		b := make(blobs)
		c, operation := b.change(old, now), b.change(now, want)
		if got := b.left(t, c, operation); got != want {
			t.Fatalf("case %d, from line %d: %q to %q\ngot  %q\nwant %q", n, from, old, now, got, want)
		}
		if got := b.left(t, c, operation, b.change(want, now)); got != now {
			t.Fatalf("case %d, undone: %q to %q\ngot  %q", n, old, now, got)
		}
	}
}

// Ends of files and modes go back whole.
func TestLeftOfWholeFiles(t *testing.T) {
	t.Parallel()
	b := make(blobs)
	made, gone, binary := b.change("", "new\n"), b.change("old\n", ""), b.change("\x001", "\x002")
	made.OldMode, made.OldID, gone.NewMode, gone.NewID = 0, "", 0, ""
	reversed := func(c history.Change) history.Change {
		c.OldMode, c.OldID, c.NewMode, c.NewID = c.NewMode, c.NewID, c.OldMode, c.OldID
		return c
	}
	mode := b.change("x\n", "y\n")
	mode.NewMode = 0o100755
	bits := b.change("y\n", "y\n")
	bits.OldMode = 0o100755
	back := &Back{Read: func(id string) ([]byte, error) { return b[id], nil }, Made: b}
	for name, test := range map[string]struct {
		c, operation, want history.Change
	}{
		"a new file":         {made, reversed(made), history.Change{Path: "f"}},
		"a deleted file":     {gone, reversed(gone), history.Change{Path: "f", OldMode: gone.OldMode, OldID: gone.OldID, NewMode: gone.OldMode, NewID: gone.OldID}},
		"bytes":              {binary, reversed(binary), history.Change{Path: "f", OldMode: 0o100644, OldID: binary.OldID, NewMode: 0o100644, NewID: binary.OldID}},
		"other bytes":        {binary, b.change("\x003", "\x004"), binary},
		"bits without lines": {mode, bits, b.change("x\n", "y\n")},
	} {
		got, err := back.Left(test.c, changes([]history.Change{test.operation}))
		if err != nil || got != test.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, test.want)
		}
	}
}
