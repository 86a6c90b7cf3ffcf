package webui

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/session"
)

// oneDamaged are sessions of which one has older records that cannot be read.
type oneDamaged struct {
	*session.Sessions
	id string
}

func (d oneDamaged) History(ctx context.Context, id string) ([]session.Message, error) {
	if id == d.id {
		return nil, fmt.Errorf("%w: object 1234 not found", cairn.ErrCorrupt)
	}
	return d.Sessions.History(ctx, id)
}

// TestUnreadSessions: the timeline and the list name sessions that cannot be read, and show the others.
func TestUnreadSessions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, id := range []string{"good", "bad", "worse"} {
		f.stepOf(session.StepBegin{Session: id, Message: "m", Step: id, Prompt: "prompt of " + id}, func() { f.write("a", id) })
	}
	err := access.Lines(f.repo).Update(t.Context(), func(u *operation.LineUpdate) error {
		_, err := u.Append(t.Context(), "worse", operation.LineAppend{Record: json.RawMessage(`"text"`), Message: "spoiled", Author: session.AuthorAgent})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"", "sessions"} {
		body := f.get(f.at(page)).want(200).body
		if !strings.Contains(body, "prompt of good") || !strings.Contains(body, "Session worse cannot be read: ") {
			t.Errorf("page %q: %s", page, body)
		}
	}
	var told []session.Unread
	prompts := 0
	p := &Project{Root: f.root, Repo: f.repo, Sessions: oneDamaged{f.sessions, "bad"}}
	for e, err := range p.history(t.Context(), func(list ...session.Unread) { told = append(told, list...) }) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Turn != nil {
			prompts++
		}
	}
	if prompts != 1 || len(told) != 2 || told[0].ID != "worse" || told[1].ID != "bad" {
		t.Errorf("%d turns, %+v", prompts, told)
	}
}
