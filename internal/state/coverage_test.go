package state

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// coverageCase asks about paths; "" stands for a path that was captured or absent.
type coverageCase struct {
	name string
	meta Metadata
	want map[string]string // by path: the reason that holds
}

var coverageCases = []coverageCase{
	{"whole", Metadata{}, map[string]string{"": "", "a": "", "a/b": ""}},
	{
		"a reason holds below a directory", Metadata{Skipped: []Skipped{{Path: "d", Reason: "denied"}}},
		map[string]string{"d": "denied", "d/e/f": "denied", "dx": "", "": ""},
	},
	{
		"nothing lies below a file", Metadata{Skipped: []Skipped{{Path: "f", Reason: "too large", Size: 9}, {Path: "p", Reason: "special file"}}},
		map[string]string{"f": "too large", "f/x": "", "p": "special file", "p/x": ""},
	},
	{
		"an unreadable file with bytes is no directory",
		Metadata{Skipped: []Skipped{{Path: "f", Reason: "unreadable", Size: 3}, {Path: "d", Reason: "unreadable"}}},
		map[string]string{"f": "unreadable", "f/x": "", "d/x": "unreadable"},
	},
	{
		"the nearest entry decides", Metadata{Skipped: []Skipped{{Path: "d", Reason: "denied"}, {Path: "d/e", Reason: "unreadable"}}},
		map[string]string{"d/e/f": "unreadable", "d/x": "denied"},
	},
	{
		"seen below an unread directory",
		Metadata{Partial: ExtentTime, Skipped: []Skipped{{Path: "d", Reason: "unread"}}, Seen: []Path{"d/e"}},
		map[string]string{"d": "unread", "d/x": "unread", "d/e": "", "d/e/f": ""},
	},
	{
		"unread below a seen directory",
		Metadata{Partial: ExtentPaths, Skipped: []Skipped{{Path: "d/e", Reason: "unread"}}, Seen: []Path{"d"}},
		map[string]string{"d": "", "d/x": "", "d/e": "unread", "d/e/f": "unread", "other": "unread", "": "unread"},
	},
	{
		"only paths", Metadata{Partial: ExtentPaths, Seen: []Path{"a"}},
		map[string]string{"a": "", "a/b": "", "b": "unread", "": "unread"},
	},
	{
		"an unread rule file leaves its directory unknown", Metadata{Skipped: []Skipped{{Path: "d/.gitignore", Reason: "unread"}}},
		map[string]string{"d/x": "unread", "d": "unread", "x": ""},
	},
	{
		"an unread rule file of the root leaves all unknown", Metadata{Skipped: []Skipped{{Path: ".gitignore", Reason: "unread"}}},
		map[string]string{"x": "unread", "d/x": "unread"},
	},
	{
		"a rule file left out for another reason hides no path", Metadata{Skipped: []Skipped{{Path: "d/.gitignore", Reason: "too large", Size: 9}}},
		map[string]string{"d/x": "", "d/.gitignore": "too large"},
	},
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	for _, c := range coverageCases {
		got := NewCoverage(&c.meta)
		for path, want := range c.want {
			if reason := got.Uncaptured(path); reason != want {
				t.Errorf("%s: %q is %q, want %q", c.name, path, reason, want)
			}
			if unread := got.Unread(path); unread != (want == index.Unread.String()) {
				t.Errorf("%s: %q is unread: %v", c.name, path, unread)
			}
		}
	}
}

// Lists is about the path itself, and a claim about what is nearest.
func TestCoverageListsThePathItself(t *testing.T) {
	t.Parallel()
	c := NewCoverage(&Metadata{Skipped: []Skipped{{Path: "d", Reason: "denied"}}})
	if !c.Lists("d") || c.Lists("d/x") || c.Lists("") {
		t.Error("only d is listed")
	}
	if at, reason := c.Nearest("d/x/y"); at != "d" || reason != "denied" {
		t.Errorf("nearest is %q, %q", at, reason)
	}
}

// A partial capture vouches for what it has read. A nil coverage vouches for all.
func TestCoverageOfPartialCaptures(t *testing.T) {
	t.Parallel()
	var all *Coverage
	if !all.Covers("any/path") {
		t.Error("a nil coverage leaves a path out")
	}
	some := NewCoverage(&Metadata{Partial: ExtentPaths, Skipped: []Skipped{{Path: "d/x", Reason: index.Unread.String()}}, Seen: []Path{"d"}})
	for path, want := range map[string]bool{"d": true, "d/a": true, "d/x": false, "d/x/y": false, "other": false} {
		if some.Covers(path) != want {
			t.Errorf("%q is covered: %v, want %v", path, !want, want)
		}
	}
	time := NewCoverage(&Metadata{Partial: ExtentTime, Skipped: []Skipped{{Path: "d", Reason: index.Unread.String()}}})
	for path, want := range map[string]bool{"d": false, "d/x": false, "other": true} {
		if time.Covers(path) != want {
			t.Errorf("by a deadline %q is covered: %v, want %v", path, !want, want)
		}
	}
}
