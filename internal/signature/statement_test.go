package signature

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

var (
	one = object.Sum(object.Blob, []byte("1"))
	two = object.Sum(object.Blob, []byte("2"))
	at  = time.Date(2026, 11, 28, 13, 5, 11, 520, time.UTC)
)

var statements = []*Statement{
	{Store: "4f0c2a9d1be37586", Number: 1, Time: at, Previous: "-", Line: "sessions/a b", Head: one},
	{Store: "4f0c2a9d1be37586", Number: 2, Time: at.In(time.FixedZone("", 3600)), Previous: "0b1f", Line: "operations", Head: two},
	{Store: "4f0c2a9d1be37586", Number: 3, Time: at, Previous: "-", Paths: 2, Replaced: map[object.ID]object.ID{one: two, two: one}},
	{Store: "4f0c2a9d1be37586", Number: 4, Time: at, Previous: "-"},
}

// TestTexts: Parse reads what Text writes.
func TestTexts(t *testing.T) {
	t.Parallel()
	for _, s := range statements {
		got, err := Parse(s.Text())
		if err != nil || got.Text() != s.Text() || got.Line != s.Line || got.Head != s.Head || len(got.Replaced) != len(s.Replaced) || !got.Time.Equal(s.Time) {
			t.Errorf("%q is read as %+v, %v", s.Text(), got, err)
		}
	}
}

// FuzzParse: a text that Parse accepts is the text of its statement.
func FuzzParse(f *testing.F) {
	for _, s := range statements {
		text := s.Text()
		f.Add(text)
		f.Add(strings.Replace(text, "\n", "\r\n", 1))
		f.Add(text + "head " + one.String() + "\n")
		f.Add(strings.Replace(text, "time", "time ", 1))
		f.Add(strings.Replace(text, " 1\n", " 2\n", 1))
	}
	f.Add("")
	f.Add("cairn head 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := Parse(text); err == nil && s.Text() != text {
			t.Errorf("%q is taken for %q", text, s.Text())
		}
	})
}

// TestRefused: a text with another order, another number form or another key is none.
func TestRefused(t *testing.T) {
	t.Parallel()
	text := statements[0].Text()
	for _, wrong := range []string{
		"", "x", text + "\n", strings.TrimSuffix(text, "\n"), strings.Replace(text, "number 1", "number 01", 1),
		strings.Replace(text, "head 1", "head 2", 1), text + "more x\n", strings.Replace(text, "head "+one.String(), "head x", 1),
		strings.Replace(text, "2026", "26", 1), text + "line y\n",
	} {
		if s, err := Parse(wrong); err == nil {
			t.Errorf("%q is taken for %+v", wrong, s)
		}
	}
}
