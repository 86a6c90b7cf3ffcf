package mcptools

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	ops "github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestUnreadSessions: the list names sessions that cannot be read, within its limit.
func TestUnreadSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	w.agentStep("good", "a")
	spoil(t, w.repo, "bad")
	spoil(t, w.repo, "worse")
	var list sessionList
	text := w.call("sessions", nil, &list)
	if len(list.Sessions) != 3 || list.More || list.Sessions[0].ID != "good" || list.Sessions[1].ID != "bad" || list.Sessions[2].Error == "" || !strings.Contains(text, "bad  cannot be read: ") {
		t.Errorf("%+v\n%s", list, text)
	}
	w.call("sessions", map[string]any{"limit": 2}, &list)
	if len(list.Sessions) != 2 || !list.More || list.Sessions[1].ID != "bad" {
		t.Errorf("%+v", list)
	}
}

// spoil adds a record to a session that cannot be read.
func spoil(t *testing.T, repo *cairn.Repo, id string) {
	t.Helper()
	err := access.Lines(repo).Update(t.Context(), func(u *ops.LineUpdate) error {
		_, err := u.Append(t.Context(), id, ops.LineAppend{Record: json.RawMessage(`"text"`), Message: "spoiled", Author: session.AuthorAgent})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
