package object_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// sameTime compares what a commit holds of a time: second and offset.
var sameTime = cmp.Comparer(func(a, b time.Time) bool {
	_, za := a.Zone()
	_, zb := b.Zone()
	return a.Unix() == b.Unix() && za == zb
})

var ada = object.Signature{Name: "Ada", Email: "ada@example.com", When: time.Unix(1500000000, 0).UTC()}

func simpleCommit() *object.CommitData {
	return &object.CommitData{Tree: object.EmptyTree, Author: ada, Committer: ada, Message: "message\n"}
}

func encode(t *testing.T, c *object.CommitData) string {
	t.Helper()
	data, err := object.AppendCommit(nil, c)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func decode(t *testing.T, data string) *object.CommitData {
	t.Helper()
	c, err := object.ParseCommit([]byte(data))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, data)
	}
	return c
}

func TestCommitText(t *testing.T) {
	t.Parallel()
	c := simpleCommit()
	c.Parents = []object.ID{someID}
	c.Extra = []object.Header{{"cairn", "{\n\n}"}}
	c.Committer.When = c.Committer.When.In(time.FixedZone("", -(3*3600 + 30*60)))
	want := "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n" +
		"parent " + helloBlob + "\n" +
		"author Ada <ada@example.com> 1500000000 +0000\n" +
		"committer Ada <ada@example.com> 1500000000 -0330\n" +
		"cairn {\n \n }\n" +
		"\n" +
		"message\n"
	if diff := cmp.Diff(want, encode(t, c)); diff != "" {
		t.Error(diff)
	}
}

func TestCommitRoundTrip(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*object.CommitData){
		"simple":          func(*object.CommitData) {},
		"no message":      func(c *object.CommitData) { c.Message = "" },
		"blank message":   func(c *object.CommitData) { c.Message = "\n\n" },
		"odd message":     func(c *object.CommitData) { c.Message = "\ntree x\n\n \xff\r\n" },
		"parents":         func(c *object.CommitData) { c.Parents = []object.ID{someID, someID, {}, object.EmptyTree} },
		"one header":      func(c *object.CommitData) { c.Extra = []object.Header{{"cairn", `{"v":1}`}} },
		"empty header":    func(c *object.CommitData) { c.Extra = []object.Header{{"cairn", ""}, {"x", ""}} },
		"same key twice":  func(c *object.CommitData) { c.Extra = []object.Header{{"x", "1"}, {"x", "2"}} },
		"headers of git":  func(c *object.CommitData) { c.Extra = []object.Header{{"encoding", "x"}, {"gpgsig", "-\n\n-\n"}} },
		"odd keys":        func(c *object.CommitData) { c.Extra = []object.Header{{"\t", "a"}, {"\xff", "b"}, {"Tree", "c"}} },
		"not UTF-8":       func(c *object.CommitData) { c.Author.Name, c.Author.Email = "Bj\xf6rn", "\xff@\xfe" },
		"nobody":          func(c *object.CommitData) { c.Author.Name, c.Author.Email = "", "" },
		"blanks inside":   func(c *object.CommitData) { c.Author.Name, c.Author.Email = "a  b\tc", " x y " },
		"first second":    func(c *object.CommitData) { c.Author.When = time.Unix(0, 0).UTC() },
		"last second":     func(c *object.CommitData) { c.Author.When = time.Unix(math.MaxInt64, 0).UTC() },
		"east":            func(c *object.CommitData) { c.Author.When = c.Author.When.In(time.FixedZone("", 14*3600)) },
		"west":            func(c *object.CommitData) { c.Author.When = c.Author.When.In(time.FixedZone("", -12*3600)) },
		"less than 1 h":   func(c *object.CommitData) { c.Author.When = c.Author.When.In(time.FixedZone("", -30*60)) },
		"almost a day":    func(c *object.CommitData) { c.Author.When = c.Author.When.In(time.FixedZone("", 23*3600+59*60)) },
		"newlines at end": func(c *object.CommitData) { c.Extra = []object.Header{{"a", "1\n"}, {"b", "\n"}, {"c", "\n\n\n"}} },
		"newlines ahead":  func(c *object.CommitData) { c.Extra = []object.Header{{"a", "\n1"}, {"b", "\n \n x"}} },
		"looks like more": func(c *object.CommitData) { c.Extra = []object.Header{{"a", "1\ntree x\nauthor y\n\nmessage"}} },
		"blanks in value": func(c *object.CommitData) { c.Extra = []object.Header{{"a", "  1 \n  2 \n   "}} },
		"long header":     func(c *object.CommitData) { c.Extra = []object.Header{{"a", strings.Repeat(`"x",`, 1<<18)}} },
	} {
		c := simpleCommit()
		edit(c)
		data := encode(t, c)
		got := decode(t, data)
		if diff := cmp.Diff(c, got, sameTime, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if again := encode(t, got); again != data {
			t.Errorf("%s: encoded again:\n%s", name, cmp.Diff(data, again))
		}
	}
}

func TestHeader(t *testing.T) {
	t.Parallel()
	c := &object.CommitData{Extra: []object.Header{{"a", "1"}, {"b", "2"}, {"a", "3"}}}
	for key, want := range map[string]string{"a": "1", "b": "2", "c": "", "": ""} {
		if got := c.Header(key); got != want {
			t.Errorf("Header(%q) = %q, want %q", key, got, want)
		}
	}
}

// TestHostileSignatures: whatever a signature holds, the commit can be read and
// has no header or field that was not meant.
func TestHostileSignatures(t *testing.T) {
	t.Parallel()
	at := time.Unix(1500000000, 0)
	for name, tc := range map[string]struct {
		sig  object.Signature
		want string
	}{
		"delimiters":     {object.Signature{Name: "a <b> c", Email: "<x>", When: at.UTC()}, "a b c <x> 1500000000 +0000"},
		"header":         {object.Signature{Name: "a\ncommitter b", Email: "c\n\nd", When: at.UTC()}, "acommitter b <cd> 1500000000 +0000"},
		"nul":            {object.Signature{Name: "a\x00b", Email: "\x00", When: at.UTC()}, "ab <> 1500000000 +0000"},
		"only bad":       {object.Signature{Name: " <\n> ", Email: "", When: at.UTC()}, " <> 1500000000 +0000"},
		"blank by parts": {object.Signature{Name: "a\xc2<\xa0", Email: "", When: at.UTC()}, "a <> 1500000000 +0000"},
		"before 1970":    {object.Signature{Name: "a", Email: "b", When: time.Unix(-1, 0).UTC()}, "a <b> 0 +0000"},
		"no time":        {object.Signature{Name: "a", Email: "b"}, "a <b> 0 +0000"},
		"zone of days":   {object.Signature{Name: "a", Email: "b", When: at.In(time.FixedZone("", 24*3600))}, "a <b> 1500000000 +0000"},
		"west of days":   {object.Signature{Name: "a", Email: "b", When: at.In(time.FixedZone("", -100*3600))}, "a <b> 1500000000 +0000"},
		"zone seconds":   {object.Signature{Name: "a", Email: "b", When: at.In(time.FixedZone("", -(3600 + 59)))}, "a <b> 1500000000 -0100"},
		"fractions":      {object.Signature{Name: "a", Email: "b", When: time.Unix(7, 999999999).UTC()}, "a <b> 7 +0000"},
	} {
		c := simpleCommit()
		c.Author = tc.sig
		data := encode(t, c)
		if _, line, _ := strings.Cut(data, "\nauthor "); !strings.HasPrefix(line, tc.want+"\n") {
			t.Errorf("%s: %.60q, want %q", name, line, tc.want)
		}
		got := decode(t, data)
		if got.Message != c.Message || got.Committer.Name != "Ada" || len(got.Extra)+len(got.Parents) > 0 {
			t.Errorf("%s: leaks into the rest of the commit:\n%s", name, data)
		}
		if again := encode(t, got); again != data {
			t.Errorf("%s: encoded again:\n%s", name, cmp.Diff(data, again))
		}
	}
}

func TestAppendCommitRefuses(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*object.CommitData){
		"nul in message":  func(c *object.CommitData) { c.Message = "a\x00b" },
		"nul in value":    func(c *object.CommitData) { c.Extra = []object.Header{{"a", "1\x002"}} },
		"nul in key":      func(c *object.CommitData) { c.Extra = []object.Header{{"a\x00", "1"}} },
		"no key":          func(c *object.CommitData) { c.Extra = []object.Header{{"", "1"}} },
		"blank in key":    func(c *object.CommitData) { c.Extra = []object.Header{{"a b", "1"}} },
		"newline in key":  func(c *object.CommitData) { c.Extra = []object.Header{{"a\nb", "1"}} },
		"second tree":     func(c *object.CommitData) { c.Extra = []object.Header{{"tree", someID.String()}} },
		"late parent":     func(c *object.CommitData) { c.Extra = []object.Header{{"a", ""}, {"parent", someID.String()}} },
		"late author":     func(c *object.CommitData) { c.Extra = []object.Header{{"author", "x"}} },
		"third committer": func(c *object.CommitData) { c.Extra = []object.Header{{"committer", "x"}} },
	} {
		c := simpleCommit()
		edit(c)
		if data, err := object.AppendCommit(nil, c); !errors.Is(err, object.ErrMalformed) || data != nil {
			t.Errorf("%s: %q, %v, want ErrMalformed", name, data, err)
		}
	}
}

func TestParseCommitRefuses(t *testing.T) {
	t.Parallel()
	const (
		tree      = "tree " + helloBlob + "\n"
		parent    = "parent " + helloBlob + "\n"
		author    = "author A <a> 1 +0000\n"
		committer = "committer A <a> 1 +0000\n"
	)
	decode(t, tree+parent+author+committer+"\nm") // what the cases below depart from
	for name, data := range map[string]string{
		"nothing":               "",
		"only a message":        "\n\nm",
		"no end of headers":     tree + author + committer,
		"no tree":               author + committer + "\nm",
		"short tree":            "tree " + helloBlob[1:] + "\n" + author + committer + "\nm",
		"tree goes on":          tree + " x\n" + author + committer + "\nm",
		"begins with a blank":   " " + tree + author + committer + "\nm",
		"second tree":           tree + tree + author + committer + "\nm",
		"tree behind":           tree + author + committer + tree + "\nm",
		"bad parent":            tree + "parent x\n" + author + committer + "\nm",
		"parent behind":         tree + author + committer + parent + "\nm",
		"no author":             tree + committer + "\nm",
		"two authors":           tree + author + author + committer + "\nm",
		"no committer":          tree + author + "\nm",
		"two committers":        tree + author + committer + committer + "\nm",
		"other order":           tree + committer + author + "\nm",
		"header in between":     tree + author + "x y\n" + committer + "\nm",
		"nul in header":         tree + author + committer + "x \x00\n\nm",
		"nul in message":        tree + author + committer + "\n\x00",
		"no mail":               tree + "author A 1 +0000\n" + committer + "\nm",
		"mail not ended":        tree + "author A <a 1 +0000\n" + committer + "\nm",
		"mail ends first":       tree + "author A >a< 1 +0000\n" + committer + "\nm",
		"two mails":             tree + "author A <a> <b> 1 +0000\n" + committer + "\nm",
		"bracket in name":       tree + "author A> <a> 1 +0000\n" + committer + "\nm",
		"bracket in mail":       tree + "author A <a<> 1 +0000\n" + committer + "\nm",
		"author goes on":        tree + "author A <a> 1 +0000\n b\n" + committer + "\nm",
		"no time":               tree + "author A <a>\n" + committer + "\nm",
		"time before 1970":      tree + "author A <a> -1 +0000\n" + committer + "\nm",
		"signed time":           tree + "author A <a> +1 +0000\n" + committer + "\nm",
		"time of 64 bits":       tree + "author A <a> 9223372036854775808 +0000\n" + committer + "\nm",
		"time is no number":     tree + "author A <a> x +0000\n" + committer + "\nm",
		"tag instead of commit": "object " + helloBlob + "\ntype blob\ntag x\n\nm",
	} {
		if c, err := object.ParseCommit([]byte(data)); !errors.Is(err, object.ErrMalformed) || c != nil {
			t.Errorf("%s: %+v, %v, want ErrMalformed", name, c, err)
		}
	}
}

func TestOddZones(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string]int{
		"+0000": 0, "-0000": 0, "+0100": 3600, "-0330": -12600, "+1400": 14 * 3600, "+2359": 23*3600 + 59*60,
		"": 0, "+": 0, "0100": 0, "+100": 0, "+00100": 0, "+01:0": 0, "+2400": 0, "-9999": 0, "+0160": 0, "UTC": 0, "+ 100": 0, "++100": 0, "+0100 x": 0,
	} {
		data := "tree " + helloBlob + "\nauthor A <a> 1500000000 " + zone + "\ncommitter A <a> 1 +0000\n\n"
		when := decode(t, data).Author.When
		if _, offset := when.Zone(); offset != want || when.Unix() != 1500000000 {
			t.Errorf("zone %q: %v, want an offset of %d", zone, when, want)
		}
	}
}

// TestManyContinuationLines takes minutes where joining the lines is quadratic.
func TestManyContinuationLines(t *testing.T) {
	t.Parallel()
	const lines = 1 << 20
	c := simpleCommit()
	c.Extra = []object.Header{{"x", strings.Repeat("\n", lines)}}
	if got := decode(t, encode(t, c)).Header("x"); len(got) != lines {
		t.Errorf("%d lines came back, want %d", len(got), lines)
	}
}
