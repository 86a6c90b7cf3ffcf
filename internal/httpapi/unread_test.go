package httpapi

import (
	"encoding/json"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestUnreadSessions: the list names sessions that cannot be read, after the others.
func TestUnreadSessions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	for _, id := range []string{"good", "bad"} {
		f.step(id, "m", id, func() { f.write("a", id) })
	}
	repo, err := cairn.Open(cairn.Options{Root: f.root, DataDir: f.dataDir, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	spoil(t, repo, "bad")
	var list []ListedSession
	f.call("GET", "/sessions", nil).want(t, 200, &list)
	if len(list) != 2 || list[0].ID != "good" || list[0].Error != "" || list[1].ID != "bad" || list[1].Error == "" || string(list[1].Root) != f.root {
		t.Errorf("%+v", list)
	}
}

// spoil adds a record to a session that cannot be read.
func spoil(t *testing.T, repo *cairn.Repo, id string) {
	t.Helper()
	err := access.Lines(repo).Update(t.Context(), func(u *operation.LineUpdate) error {
		_, err := u.Append(t.Context(), id, operation.LineAppend{Record: json.RawMessage(`"text"`), Message: "spoiled", Author: session.AuthorAgent})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
