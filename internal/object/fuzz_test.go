package object_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

func FuzzParseTree(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := object.ParseTree(data)
		if err != nil {
			return
		}
		seen := make(map[string]bool)
		for i, e := range entries {
			if seen[e.Name] {
				t.Errorf("%q twice", e.Name)
			}
			seen[e.Name] = true
			if !object.SafeName(e.Name) && !object.IsDotGit(e.Name) {
				t.Errorf("accepts the name %q", e.Name)
			}
			if i > 0 && object.CompareEntries(entries[i-1], e) >= 0 {
				t.Errorf("%q is not before %q", entries[i-1].Name, e.Name)
			}
		}
		encoded := object.AppendTree(nil, entries)
		again, err := object.ParseTree(encoded)
		if err != nil {
			t.Fatalf("encoded again: %v", err)
		}
		if diff := cmp.Diff(entries, again); diff != "" {
			t.Errorf("encoded again:\n%s", diff)
		}
		if len(encoded) == len(data) && !hasOldMode(data) && !bytes.Equal(encoded, data) {
			t.Errorf("encoded otherwise: %q, was %q", encoded, data)
		}
	})
}

// hasOldMode errs on the side of true, because names may look like modes.
func hasOldMode(tree []byte) bool {
	for _, digits := range regexp.MustCompile(`[0-7]{5,6} `).FindAllString(string(tree), -1) {
		switch digits {
		case "100644 ", "100755 ", "120000 ", "40000 ", "160000 ":
		default:
			return true
		}
	}
	return false
}

func FuzzParseCommit(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := object.ParseCommit(data)
		if err != nil {
			return
		}
		encoded, err := object.AppendCommit(nil, c)
		if err != nil {
			t.Fatalf("cannot be encoded again: %v", err)
		}
		again, err := object.ParseCommit(encoded)
		if err != nil {
			t.Fatalf("encoded again: %v", err)
		}
		if diff := cmp.Diff(c, again, sameTime, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("encoded again:\n%s", diff)
		}
		twice, err := object.AppendCommit(nil, again)
		if err != nil || !bytes.Equal(encoded, twice) {
			t.Errorf("%q, then %q, %v", encoded, twice, err)
		}
	})
}

func FuzzIsDotGit(f *testing.F) {
	f.Fuzz(func(t *testing.T, name string) {
		got := object.IsDotGit(name)
		if want := ntfsDotGit.MatchString(name) || hfsDotGit(name); got != want {
			t.Errorf("IsDotGit(%q) = %v, want %v", name, got, want)
		}
		if got && object.SafeName(name) {
			t.Errorf("%q is safe", name)
		}
		if !got && strings.EqualFold(strings.TrimFunc(name, hfsIgnores), ".git") {
			t.Errorf("%q passes", name)
		}
	})
}

// ntfsDotGit and hfsDotGit say the same as IsDotGit in other ways.
var ntfsDotGit = regexp.MustCompile(`(?is)(^|\\)(\.git|git~1)[ .]*($|[:\\])`)

func hfsDotGit(name string) bool {
	if end := strings.IndexFunc(strings.ToValidUTF8(name, "\uffff"), func(r rune) bool { return r == 0xfffe || r == 0xffff }); end >= 0 {
		name = name[:end]
	}
	return strings.EqualFold(strings.Map(func(r rune) rune {
		if hfsIgnores(r) {
			return -1
		}
		return r
	}, name), ".git") && utf8.ValidString(name)
}

func hfsIgnores(r rune) bool {
	return strings.ContainsRune("\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u206a\u206b\u206c\u206d\u206e\u206f\ufeff", r)
}
