package httpapi

import (
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// newPast is a project in which an agent and its user wrote files.
func newPast(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, gittest.Tree{"a": gittest.File("one\n"), "old": gittest.File("old words\n")})
	f.track()
	f.agentStep("s", "new")
	f.write("a", "one\ntwo\n")
	f.remove("old")
	f.track()
	return f
}

// TestPastOverHTTP: blame, log, grep and show answer as the commands do.
func TestPastOverHTTP(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	var b answers.Blame
	f.call("GET", "/blame?path=new", nil).want(t, 200, &b)
	if len(b.Lines) != 1 || b.Lines[0].Text != "x" || b.Origins[b.Lines[0].Origin].Work.Agent != "codex" || b.More {
		t.Errorf("%+v", b)
	}
	f.call("GET", "/blame?path=a&lines=2,2", nil).want(t, 200, &b)
	if len(b.Lines) != 1 || b.Lines[0].Line != 2 || b.Origins[b.Lines[0].Origin].Author != session.AuthorUser {
		t.Errorf("%+v", b)
	}
	f.call("GET", "/blame?path=a&limit=1", nil).want(t, 200, &b)
	if len(b.Lines) != 1 || b.Lines[0].Line != 1 || !b.More {
		t.Errorf("%+v", b)
	}
	f.call("GET", "/blame?path=old&deleted=true", nil).want(t, 200, &b)
	if len(b.Lines) != 0 || len(b.Deleted) != 1 || b.Deleted[0].Text != "old words" {
		t.Errorf("%+v", b)
	}

	var list CheckpointList
	f.call("GET", "/log?path=new", nil).want(t, 200, &list)
	if len(list.Checkpoints) != 1 || list.Checkpoints[0].Work == nil || list.Checkpoints[0].Author != session.AuthorAgent {
		t.Errorf("%+v", list)
	}
	step := list.Checkpoints[0].ID
	for query, want := range map[string]int{
		"grep=make&sessionID=s": 1, "grep=MAKE": 0, "grep=MAKE&ignoreCase=true": 1, "S=two": 1, "path=a&path=new": 3, "limit=1": 1,
		"since=2100-01-01T00:00:00Z": 0, "until=2000-01-01T00:00:00Z": 0, "path=a&S=two&sessionID=s": 0, "path=a&after=" + step: 0,
	} {
		got := f.call("GET", "/log?"+query, nil)
		if strings.Contains(query, "after=") {
			got.problem(t, 400, "bad-request") // of another list
			continue
		}
		got.want(t, 200, &list)
		if len(list.Checkpoints) != want {
			t.Errorf("%s: %d checkpoints instead of %d", query, len(list.Checkpoints), want)
		}
	}

	for query, want := range map[string]string{
		"pattern=^t": "a:2:two", "pattern=T&ignoreCase=true": "a:2:two", "pattern=o": "a:1:one a:2:two", "pattern=o&limit=1": "a:1:one +",
		"pattern=old&deleted=true": "old:1:old words", "pattern=old": "", "pattern=old&hash=@~3": "old:1:old words", "pattern=wo&word=true": "",
		"pattern=.&fixed=true": "", "pattern=o&invert=true": "new:1:x", "pattern=.&path=new": "new:1:x",
	} {
		var g answers.Grep
		f.call("GET", "/grep?"+strings.ReplaceAll(query, "^", "%5E"), nil).want(t, 200, &g)
		var got []string
		for _, l := range g.Lines {
			got = append(got, string(l.Path)+":"+string(rune('0'+l.Line))+":"+l.Text)
			if (l.Checkpoint != "") != strings.Contains(query, "deleted") {
				t.Errorf("%s: %+v", query, l)
			}
		}
		if g.More {
			got = append(got, "+")
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q instead of %q", query, text, want)
		}
	}

	for of, file := range map[string]string{step: "new", "s": "new", "s:@": "new"} {
		var shown ShowAnswer
		f.call("GET", "/show?of="+of, nil).want(t, 200, &shown)
		if len(shown.Diffs) != 1 || string(shown.Diffs[0].File) != file || shown.Agent != "codex" || !strings.HasPrefix(shown.Prompt, "make ") || shown.More {
			t.Errorf("%s: %+v", of, shown)
		}
		f.call("GET", "/show?path=a&of="+of, nil).want(t, 200, &shown)
		if len(shown.Diffs) != 0 {
			t.Errorf("%s: differences of %s", of, shown.Diffs[0].File)
		}
	}
}

// TestBadQueriesOfThePast: every one is a problem that names the field.
func TestBadQueriesOfThePast(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	for target, field := range map[string]string{
		"/blame": "path", "/blame?path=": "path", "/blame?path=a&lines=x": "query.lines", "/blame?path=a&lines=3,2": "query.lines",
		"/blame?path=a&lines=0": "query.lines", "/blame?path=a&limit=0": "limit", "/blame?path=a&deleted=perhaps": "deleted",
		"/log?grep=(": "query.grep", "/log?since=soon": "since", "/log?limit=2000": "limit", "/log?after=none": "query.after", "/log?s=x": "s",
		"/grep": "pattern", "/grep?pattern=(": "query.pattern", "/grep?pattern=x&deleted=true&hash=@": "query.hash",
		"/grep?pattern=x&deleted=true&invert=true": "query.invert", "/grep?pattern=x&limit=100000": "limit", "/show?context=-7": "context",
	} {
		if text := f.call("GET", target, nil).problem(t, 400, "bad-request"); !strings.Contains(text, field) {
			t.Errorf("%s: %s is not named in %q", target, field, text)
		}
	}
	for _, target := range []string{"/blame?path=none", "/blame?path=a&hash=none", "/log?path=none", "/log?sessionID=none", "/grep?pattern=x&path=none", "/grep?pattern=x&hash=none", "/show?of=none", "/show?of=s:9"} {
		f.call("GET", target, nil).problem(t, 404, "not-found")
	}
	f.call("GET", "/blame?path=../x", nil).problem(t, 400, "outside")
	f.call("GET", "/grep?pattern=x&path=/etc", nil).problem(t, 400, "outside")
}
