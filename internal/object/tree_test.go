package object_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

var someID = object.Sum(object.Blob, []byte("hello\n"))

func entry(mode object.Mode, name string) object.Entry {
	return object.Entry{Name: name, Mode: mode, ID: someID}
}

// raw is a tree entry of any mode and name.
func raw(mode, name string) string { return mode + " " + name + "\x00" + string(someID[:]) }

func TestMode(t *testing.T) {
	t.Parallel()
	for mode, want := range map[object.Mode]struct {
		text string
		file bool
	}{
		object.Regular: {"100644", true}, object.Executable: {"100755", true}, object.Symlink: {"120000", false},
		object.Dir: {"040000", false}, object.Gitlink: {"160000", false}, 0: {"000000", false},
	} {
		if mode.String() != want.text || mode.IsFile() != want.file {
			t.Errorf("mode %s, file %v; want %s, %v", mode, mode.IsFile(), want.text, want.file)
		}
	}
}

// TestOrder holds names in git's order, in which a directory's name ends in '/'.
func TestOrder(t *testing.T) {
	t.Parallel()
	sorted := []object.Entry{
		entry(object.Regular, "\x01"),
		entry(object.Dir, " "),
		entry(object.Regular, "Z"),
		entry(object.Regular, "a"), // before everything that it begins
		entry(object.Regular, "a\x01"),
		entry(object.Regular, "a-b"),
		entry(object.Dir, "a."), // '/' is before 'b'
		entry(object.Regular, "a.b"),
		entry(object.Gitlink, "a.c"),
		entry(object.Dir, "a"), // '.' is before '/'
		entry(object.Regular, "a0"),
		entry(object.Symlink, "c"),
		entry(object.Gitlink, "d"), // as a file
		entry(object.Regular, "d."),
		entry(object.Dir, "d"),
		entry(object.Regular, "d0"),
		entry(object.Regular, "é"),
		entry(object.Regular, "\xff"),
		entry(object.Regular, "\xff\xff"),
	}
	for i, a := range sorted {
		for j, b := range sorted {
			if got, want := sign(object.CompareEntries(a, b)), sign(i-j); got != want {
				t.Errorf("%s %q against %s %q: %d, want %d", a.Mode, a.Name, b.Mode, b.Name, got, want)
			}
		}
	}
	shuffled := slices.Clone(sorted)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	object.SortEntries(shuffled)
	if diff := cmp.Diff(sorted, shuffled); diff != "" {
		t.Errorf("sorted otherwise:\n%s", diff)
	}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

func TestTreeRoundTrip(t *testing.T) {
	t.Parallel()
	entries := []object.Entry{
		entry(object.Executable, "run"), entry(object.Symlink, "latest"), entry(object.Dir, "src"),
		entry(object.Regular, "src.go"), entry(object.Regular, ".git"), entry(object.Gitlink, "module"),
		entry(object.Regular, "new\nline"), entry(object.Regular, "\xff\xfe"), entry(object.Regular, " "),
		entry(object.Regular, "..."), entry(object.Regular, strings.Repeat("n", 70_000)),
	}
	object.SortEntries(entries)
	data := object.AppendTree([]byte("before"), entries)
	got, err := object.ParseTree(bytes.TrimPrefix(data, []byte("before")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(entries, got); diff != "" {
		t.Error(diff)
	}
	if got, err := object.ParseTree(nil); err != nil || len(got) != 0 {
		t.Errorf("the empty tree: %v, %v", got, err)
	}
}

// TestOldModes: trees written by old tools hold modes that git no longer writes.
func TestOldModes(t *testing.T) {
	t.Parallel()
	for digits, want := range map[string]object.Mode{
		"100664": object.Regular, "100600": object.Regular, "100775": object.Executable, "100700": object.Executable,
		"040000": object.Dir, "40755": object.Dir, "120777": object.Symlink, "160000": object.Gitlink,
	} {
		entries, err := object.ParseTree([]byte(raw(digits, "a")))
		if err != nil || len(entries) != 1 || entries[0] != entry(want, "a") {
			t.Errorf("mode %s: %v, %v, want %s", digits, entries, err, want)
		}
	}
}

func TestParseTreeRefuses(t *testing.T) {
	t.Parallel()
	whole := raw("100644", "a")
	for name, data := range map[string]string{
		"truncated id":        whole[:len(whole)-1],
		"no id":               "100644 a\x00",
		"no name end":         "100644 a",
		"mode only":           "100644",
		"one byte":            "1",
		"trailing byte":       whole + "1",
		"empty name":          raw("100644", ""),
		"dot":                 raw("40000", "."),
		"dot dot":             raw("40000", ".."),
		"slash":               raw("100644", "a/b"),
		"only a slash":        raw("100644", "/"),
		"no mode":             raw("", "a"),
		"not octal":           raw("100648", "a"),
		"signed mode":         raw("+40000", "a"),
		"underscore":          raw("10_644", "a"),
		"no type":             raw("644", "a"),
		"FIFO":                raw("010644", "a"),
		"device":              raw("60644", "a"),
		"more than 16 bits":   raw("300644", "a"),
		"seven digits":        raw("0100644", "a"),
		"unsorted":            raw("100644", "b") + raw("100644", "a"),
		"duplicate":           raw("100644", "a") + raw("100644", "a"),
		"duplicate, modes":    raw("100644", "a") + raw("120000", "a"),
		"file and directory":  raw("100644", "a") + raw("40000", "a"),
		"with others between": raw("120000", "a") + raw("100644", "a-") + raw("100644", "a.b") + raw("40000", "a"),
		"as a file in order":  raw("40000", "a") + raw("100644", "a.b"),
		"endless mode":        strings.Repeat("1", 1<<20),
	} {
		entries, err := object.ParseTree([]byte(data))
		if !errors.Is(err, object.ErrMalformed) || entries != nil {
			t.Errorf("%s: %v, %v, want ErrMalformed", name, entries, err)
		}
		if err != nil && len(err.Error()) > 200 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
}

func TestFileBesideDirectoryIsNoDuplicate(t *testing.T) {
	t.Parallel()
	data := raw("100644", "a-") + raw("100644", "a.b") + raw("40000", "a") + raw("100644", "a0") + raw("40000", "ab")
	if entries, err := object.ParseTree([]byte(data)); err != nil || len(entries) != 5 {
		t.Errorf("%v, %v", entries, err)
	}
}
