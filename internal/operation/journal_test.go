package operation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

func blobID(content string) object.ID { return object.Sum(object.Blob, []byte(content)) }

// everyChange is a plan with each action, states that were and were not, and a name of any bytes.
func everyChange() (list []apply.Change) {
	was := &dir.State{Mode: object.Regular, Perm: 0o640, ID: blobID("was"), Stat: index.Stat{Size: 3, Ino: 1 << 60}}
	for action := apply.Create; action <= apply.Rmdir; action++ {
		c := apply.Change{Path: fmt.Sprintf("d/%d\xff", action), Action: action, Mode: object.Executable, Perm: 0o4755, ID: blobID(action.String())}
		if action != apply.Create && action != apply.Mkdir {
			c.Was = was
		}
		list = append(list, c)
	}
	list[len(list)-1].As = "D/x"
	return list
}

// What another process reads of a journal is what the dead one was about to do.
func TestJournalRoundTrip(t *testing.T) {
	t.Parallel()
	r := &Operator{Capturer: capture.New(statetest.NewStore(t), nil)}
	line := &journalLine{Ref: history.RefSessions + "s", Record: json.RawMessage(`{"a":1}`), Message: "m", Wanted: strings.Repeat("1", 40), Paths: state.Paths{"p\xfe"}}
	j := newJournal(NewToken(), opRequest{kind: "revert", target: "t", undoes: "u", scope: []string{"d\xff"}, line: line}, blobID("before"),
		&plan.Plan{Changes: everyChange(), Kept: []state.PathReason{{Path: "k\xff", Reason: "r"}}, Conflicts: []state.PathReason{{Path: "c", Reason: "r"}}})
	if err := r.Locked(t.Context(), func(l *history.Locked) error { return r.writeJournal(l, j, nil) }); err != nil {
		t.Fatal(err)
	}
	all, err := r.DB.Journals()
	if err != nil || len(all) != 1 || all[0].Err != nil {
		t.Fatal(all, err)
	}
	got, err := parseJournal(all[0].Data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, j) {
		t.Errorf("%+v, want %+v", got, j)
	}
	other := newJournal(NewToken(), opRequest{}, blobID("before"), &plan.Plan{})
	if other.Token == j.Token {
		t.Error("two operations have one token")
	}
}

// A journal that cannot be understood as a whole is not carried out in part.
func TestParseJournalRefuses(t *testing.T) {
	t.Parallel()
	id := blobID("x").String()
	change := func(action, id, was string) string {
		return fmt.Sprintf(`{"before":%q,"changes":[{"path":"a","action":%q,"mode":33188,"perm":"644","id":%q,"was":%s}]}`, blobID("before"), action, id, was)
	}
	good := change("create", id, "null")
	if _, err := parseJournal([]byte(good)); err != nil {
		t.Fatalf("%s: %v", good, err)
	}
	for _, text := range []string{
		"", "torn", good[:len(good)-2], `{"before":"","changes":[]}`, `{"before":"12","changes":[]}`,
		change("explode", id, "null"), change("create", "12", "null"), change("modify", id, `{"mode":33188,"perm":"644","id":"12"}`),
		strings.Replace(good, `"644"`, `"999"`, 1),
	} {
		if j, err := parseJournal([]byte(text)); err == nil {
			t.Errorf("%q is %+v", text, j)
		}
	}
}

// The result lists what was done, and why the rest was not. A directory with later files in it
// stays without a word.
func TestJournalResult(t *testing.T) {
	t.Parallel()
	j := &journal{Kept: []state.PathReason{{Path: "z"}, {Path: "k"}}}
	var outcomes []apply.Outcome
	add := func(path string, action apply.Action, done bool, err error) {
		j.changes = append(j.changes, apply.Change{Path: path, Action: action, Mode: object.Regular})
		outcomes = append(outcomes, apply.Outcome{Path: path, Action: action, Done: done, Err: err})
	}
	add("new", apply.Create, true, nil)
	add("gone", apply.Delete, true, nil)
	add("swapped", apply.Delete, true, nil)
	add("swapped", apply.Mkdir, true, nil)
	add("full", apply.Rmdir, false, &fs.PathError{Op: "rmdir", Path: "full", Err: apply.ErrNotEmpty})
	add("busy", apply.Modify, false, &fs.PathError{Op: "open", Path: "busy", Err: errors.New("text file busy")})
	outcomes[0].Withheld = true
	res := j.result(outcomes)
	if len(res.Notes) != 1 || !strings.HasSuffix(res.Notes[0], "directory: new") {
		t.Errorf("notes %q", res.Notes)
	}
	if !slices.Equal(res.Restored, []string{"new", "swapped"}) || !slices.Equal(res.Deleted, []string{"gone"}) {
		t.Errorf("restored %q, deleted %q", res.Restored, res.Deleted)
	}
	if want := []state.PathReason{{Path: "busy", Reason: "text file busy"}}; !slices.Equal(res.Conflicts, want) {
		t.Errorf("conflicts %v, want %v", res.Conflicts, want)
	}
	if want := []state.PathReason{{Path: "k"}, {Path: "z"}}; !slices.Equal(res.Kept, want) {
		t.Errorf("kept %v, want %v", res.Kept, want)
	}
	if made := j.created(res); !slices.Equal(made, []string{"new", "swapped"}) {
		t.Errorf("created %q", made)
	}
}

// Paths that ignore rules kept are judged by the rules again, the others are not.
func TestKeptIgnored(t *testing.T) {
	t.Parallel()
	j := &journal{Kept: []state.PathReason{{Path: "then", Reason: plan.ReasonIgnoredThen}, {Path: "x", Reason: "changed since"}, {Path: "today", Reason: plan.ReasonIgnoredToday}}}
	if got := j.keptIgnored(); !slices.Equal(got, []string{"then", "today"}) {
		t.Errorf("kept by rules: %q", got)
	}
}
