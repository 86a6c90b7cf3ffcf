package session_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestPublicResultsSurviveTheirJSON: what a caller decodes is what the library encoded,
// paths that are not UTF-8 included, under the keys that docs/json.md lists.
func TestPublicResultsSurviveTheirJSON(t *testing.T) {
	t.Parallel()
	odd, now := "a\xff", time.Unix(1_700_000_000, 5).UTC()
	meta := map[string]string{"k": "v"}
	step := session.Step{
		ID: "st", Session: "s", Message: "m", Before: session.CheckpointRef{ID: "b", Hash: "bh"}, After: session.CheckpointRef{ID: "a", Hash: "ah"},
		Began: now, Ended: now, Paths: cairn.Paths{odd}, Parts: []session.Part{{ID: "p", Type: "tool", Meta: meta}},
		Patch: cairn.Patch{Hash: "bh", Files: []string{"/" + odd}}, Meta: meta, Reverted: true,
	}
	work := session.Work{
		Session: "s", Message: "m", Step: "st", Agent: "a", Prompt: "go", Calls: []session.Call{{Tool: "Bash", Command: "make"}}, Paths: cairn.Paths{odd}, Changed: 1,
	}
	owner := &session.Owner{Processes: []session.Process{{PID: 1, Start: "2", Boot: "b", Space: "n", Host: "h"}}, Lease: 5}
	step.Agent, step.Calls, step.Owner, step.Abandoned = "a", work.Calls, owner, true
	words := gittest.ReadWords(t, "..")
	for _, in := range []any{
		step, work,
		session.OpenStep{Session: "s", Step: "st", Began: now, Last: now, State: session.CheckpointRef{ID: "c", Hash: "h"}, Owner: owner, Gone: true, Unseen: true},
		session.News{
			TakenBack: []session.MovedTurn{{Message: "m", Prompt: "go", Files: 2, Partly: true}}, BroughtBack: []session.MovedTurn{{Message: "n"}}, Others: []string{"restore"},
			Restored: cairn.Paths{odd}, Deleted: cairn.Paths{"b"}, Stay: []cairn.PathReason{{Path: cairn.Path(odd), Reason: "changed"}}, Git: []string{"main was at 1"},
		},
		session.Message{ID: "m", Role: "user", Prompt: "go", Meta: meta, Created: now, Steps: []session.Step{step}, Reverted: true, Children: []string{"c"}},
		session.Session{
			ID: "s", Parent: "p", Title: "t", Agent: "a", Latest: &work, Meta: meta, Root: cairn.Path("/" + odd), Created: now, Updated: now, Children: []string{"c"},
			Fork: &session.ForkPoint{Session: "o", Message: "m", Checkpoint: "c"}, Messages: 1, Steps: 2, Summary: &session.Summary{Files: 1, Additions: 2, Deletions: 3},
			Open: "st", Revert: &session.Boundary{Message: "m", Part: "p", Snapshot: "x", Diff: "d", Checkpoint: "c"}, Truncated: true,
		},
	} {
		data, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		words.Check(t, fmt.Sprintf("%T", in), data)
		out := reflect.New(reflect.TypeOf(in))
		if err := json.Unmarshal(data, out.Interface()); err != nil {
			t.Fatal(err)
		}
		if got := out.Elem().Interface(); !reflect.DeepEqual(got, in) {
			t.Errorf("%T:\ngot  %+v\nwant %+v", in, got, in)
		}
	}
}
