package object_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

const helloBlob = "ce013625030ba8dba906f756967f9e9ca394464a" // of "hello\n", from git hash-object

func TestSum(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kind    object.Kind
		content string
		want    string
	}{
		{object.Blob, "", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"},
		{object.Blob, "hello\n", helloBlob},
		{object.Tree, "", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"},
	} {
		if got := object.Sum(tc.kind, []byte(tc.content)).String(); got != tc.want {
			t.Errorf("Sum(%v, %q) = %s, want %s", tc.kind, tc.content, got, tc.want)
		}
	}
	if got := object.EmptyTree.String(); got != "4b825dc642cb6eb9a060e54bf8d69288fbee4904" {
		t.Errorf("EmptyTree = %s", got)
	}
}

func TestHashInPieces(t *testing.T) {
	t.Parallel()
	h := object.NewHash(object.Blob, 6)
	for _, piece := range []string{"he", "", "llo", "\n"} {
		h.Write([]byte(piece))
	}
	if got := object.HashID(h).String(); got != helloBlob {
		t.Errorf("in pieces: %s, want %s", got, helloBlob)
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	for _, s := range []string{helloBlob, strings.ToUpper(helloBlob), strings.Repeat("0", 40), strings.Repeat("f", 40)} {
		id, err := object.ParseID(s)
		if err != nil || id.String() != strings.ToLower(s) {
			t.Errorf("ParseID(%q) = %v, %v", s, id, err)
		}
		if id.IsZero() != (strings.Trim(s, "0") == "") {
			t.Errorf("IsZero of %s: %v", s, id.IsZero())
		}
	}
	for name, s := range map[string]string{
		"empty": "", "short": helloBlob[1:], "long": helloBlob + "0", "sha-256": strings.Repeat("a", 64),
		"not hex": "g" + helloBlob[1:], "blank": " " + helloBlob[1:], "newline": helloBlob[1:] + "\n",
		"nul": helloBlob[1:] + "\x00", "not ASCII": strings.Repeat("é", 20),
	} {
		if id, err := object.ParseID(s); !errors.Is(err, object.ErrMalformed) || !id.IsZero() {
			t.Errorf("%s: ParseID(%q) = %v, %v, want ErrMalformed", name, s, id, err)
		}
	}
}

func TestKind(t *testing.T) {
	t.Parallel()
	for kind, name := range map[object.Kind]string{
		object.Commit: "commit", object.Tree: "tree", object.Blob: "blob", object.Tag: "tag",
	} {
		if kind.String() != name {
			t.Errorf("Kind(%d) = %q, want %q", kind, kind, name)
		}
		if got, err := object.ParseKind(name); got != kind || err != nil {
			t.Errorf("ParseKind(%q) = %v, %v", name, got, err)
		}
		if got, want := string(object.AppendHeader([]byte("x"), kind, 1<<40)), "x"+name+" 1099511627776\x00"; got != want {
			t.Errorf("AppendHeader = %q, want %q", got, want)
		}
	}
	for _, kind := range []object.Kind{0, 5, 255} { // must not index past the names
		if !strings.HasPrefix(kind.String(), "kind(") {
			t.Errorf("Kind(%d) = %q", uint8(kind), kind)
		}
	}
	for _, s := range []string{"", "Blob", "blob ", "kind(0)", "commi"} {
		if _, err := object.ParseKind(s); !errors.Is(err, object.ErrMalformed) {
			t.Errorf("ParseKind(%q): %v, want ErrMalformed", s, err)
		}
	}
}
