package client

import (
	"encoding/json"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/ticket"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestMessageTicket: a server records a message in the background, and begins its session.
func TestMessageTicket(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve()
	begin := session.SessionBegin{ID: "s", Meta: map[string]string{session.MetaAgent: "an agent"}}
	id, _, err := f.client().BeginTicket(t.Context(), &ticket.Request{Message: ticket.NewMessage(begin, session.MessageBegin{
		Session: "s", Message: "1", Role: session.RoleUser, Prompt: "go", Meta: map[string]string{"k": "v"},
	})}, false)
	if err != nil {
		t.Fatal(err)
	}
	a := ticket.In(f.opt.DataDir).Await(t.Context(), id)
	if a == nil || a.Err() != nil {
		t.Fatalf("%+v", a)
	}
	var m session.Message
	if err := json.Unmarshal(a.Result, &m); err != nil || m.ID != "1" || m.Prompt != "go" || m.Role != session.RoleUser || m.Meta["k"] != "v" {
		t.Errorf("%+v, %v", m, err)
	}
}
