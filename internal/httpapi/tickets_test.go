package httpapi

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
	"github.com/seed-fb9cbc17/cairn/session"
)

// begin makes a ticket.
func (f *fixture) begin(body any) Ticket {
	f.t.Helper()
	var out Ticket
	f.call("POST", "/tickets", body).want(f.t, 202, &out)
	return out
}

// answer waits for a ticket.
func (f *fixture) answer(id string) TicketAnswer {
	f.t.Helper()
	var out TicketAnswer
	f.call("GET", "/tickets/"+id+"?wait=60000", nil).want(f.t, 200, &out)
	if !out.Done || out.Ticket != id {
		f.t.Fatalf("%+v", out)
	}
	return out
}

// occupy keeps the store of the project locked until release is called.
func (f *fixture) occupy() (release func()) {
	f.t.Helper()
	repo, err := cairn.Open(cairn.Options{Root: f.root, DataDir: f.dataDir, NoSync: true})
	if err != nil {
		f.t.Fatal(err)
	}
	held, let, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- access.Lines(repo).Update(context.Background(), func(*operation.LineUpdate) error {
			close(held)
			<-let
			return nil
		})
	}()
	<-held
	return sync.OnceFunc(func() {
		close(let)
		if err := <-done; err != nil {
			f.t.Error(err)
		}
		repo.Close()
	})
}

// TestTicketTrack: a ticket comes at once, although the store is taken; its answer is
// that of POST /track, as often as it is asked for.
func TestTicketTrack(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	release := f.occupy()
	defer release()
	id := f.begin(TicketRequest{Track: &TrackRequest{Message: "m"}}).Ticket
	var early TicketAnswer
	f.call("GET", "/tickets/"+id, nil).want(t, 202, &early)
	f.call("GET", "/tickets/"+id+"?wait=1", nil).want(t, 202, &early)
	if early.Done || early.Track != nil {
		t.Errorf("%+v", early)
	}
	release()
	got := f.answer(id)
	if again := f.answer(id); got.Step != nil || got.Track.Files != 5 || again.Track.Checkpoint != got.Track.Checkpoint {
		t.Errorf("%+v, then %+v", got.Track, again.Track)
	}
	var plain protocol.Track
	f.call("POST", "/track", struct{}{}).want(t, 200, &plain)
	if plain.Hash != got.Track.Hash {
		t.Errorf("%s, but a track gives %s", got.Track.Hash, plain.Hash)
	}
}

// TestTicketOfAnEnd: the ticket of a hook that ended a step has the step.
func TestTicketOfAnEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	begun := f.answer(f.begin(TicketRequest{Step: &TicketStep{SessionID: "s", StepBegin: StepBegin{StepID: "1"}}}).Ticket)
	f.write("a.txt", "beta\n")
	id, err := ticket.In(f.dataDir).Make(&ticket.Request{Root: cairn.Path(f.root), End: ticket.NewEnd(session.StepEnd{Session: "s", Step: "1"})})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.answer(id); got.Step == nil || got.Step.ID != begun.Step.ID || got.Step.Open() || got.Track != nil {
		t.Errorf("%+v", got)
	}
}

// TestTicketRest: with onlyPaths everything else follows, by /track as by /tickets.
func TestTicketRest(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	f.write("a.txt", "beta\n")
	f.write("d/b.go", "package c\n")
	var only protocol.Track
	f.call("POST", "/track", TrackRequest{Paths: []string{"a.txt"}, OnlyPaths: true, Rest: true}).want(t, 200, &only)
	if only.Extent != cairn.ExtentPaths || only.Rest == "" {
		t.Fatalf("%+v", only)
	}
	whole := f.answer(only.Rest).Track
	if full := f.track(); full != whole.Hash || whole.Files != 5 {
		t.Errorf("the rest is %+v, all is %s", whole, full)
	}
	f.write("a.txt", "gamma\n")
	both := f.begin(TicketRequest{Track: &TrackRequest{Paths: []string{"a.txt"}, OnlyPaths: true, Rest: true}})
	if got := f.answer(both.Ticket).Track; got.Rest != both.Rest || got.Extent != cairn.ExtentPaths {
		t.Errorf("%+v", got)
	}
	if whole := f.answer(both.Rest).Track; whole.Hash != f.track() {
		t.Errorf("%+v", whole)
	}
}

// TestTicketStep: what changes the session waits until the step has begun, however
// many want to.
func TestTicketStep(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	for n := range 3 {
		step := fmt.Sprint("step", n)
		release := f.occupy()
		id := f.begin(TicketRequest{Step: &TicketStep{SessionID: "s", StepBegin: StepBegin{MessageID: "m", StepID: step, Meta: map[string]string{"k": "v"}}}}).Ticket
		var tools sync.WaitGroup
		for i := range 3 {
			tools.Go(func() {
				body := map[string]any{"paths": []string{fmt.Sprintf("made%d.%d", n, i)}}
				call(t, f.door, request(t, "POST", "/session/s/steps/"+step+"/hint", body)).want(t, 204, nil)
				gittest.Create(t, f.root, gittest.Tree{fmt.Sprintf("made%d.%d", n, i): gittest.File("x\n")})
			})
		}
		release()
		tools.Wait()
		var ended session.Step
		f.call("POST", "/session/s/steps/"+step+"/end", struct{}{}).want(t, 200, &ended)
		if len(ended.Patch.Files) != 3 || ended.Meta["k"] != "v" {
			t.Errorf("%+v", ended)
		}
		if got := f.answer(id).Step; got == nil || got.ID != step || got.Before != ended.Before {
			t.Errorf("%+v", got)
		}
	}
	f.begin(TicketRequest{Step: &TicketStep{SessionID: "s", StepBegin: StepBegin{StepID: "last"}}})
	f.call("POST", "/session/s/revert", SessionRevert{MessageID: "m", EndOpen: true}).want(t, 200, nil)
	var list []session.Message
	f.call("GET", "/session/s/history", nil).want(t, 200, &list)
	if n := len(list[0].Steps); n != 4 {
		t.Errorf("%d steps", n)
	}
}

// TestTicketFails: the answer is the problem that the call itself would have had.
func TestTicketFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	f.track()
	id := f.begin(TicketRequest{Track: &TrackRequest{Paths: []string{"/elsewhere"}}}).Ticket
	f.call("GET", "/tickets/"+id+"?wait=60000", nil).problem(t, 400, "outside")
	f.call("GET", "/tickets/"+id, nil).problem(t, 400, "outside")
	release := f.occupy()
	defer release()
	id = f.begin(TicketRequest{Track: &TrackRequest{Message: "x", Deadline: 1}}).Ticket
	f.call("GET", "/tickets/"+id+"?wait=60000", nil).problem(t, 409, "locked")
	// Without a ticket the deadline counts, too.
	f.call("POST", "/track", TrackRequest{Message: "x", Deadline: 1}).problem(t, 409, "locked")
}

// TestTicketBad: an impossible request, an unknown ticket and a foreign one start no
// work.
func TestTicketBad(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	for _, body := range []string{
		`{}`, `{"track":{},"step":{"sessionID":"s"}}`, `{"step":{}}`, `{"step":{"sessionID":""}}`, `{"track":{"onlyPaths":true}}`,
		`{"track":{"rest":true}}`, `{"track":{"paths":[""]}}`, `{"track":{"paths":["\u0000zz"]}}`, `{"track":{"deadline":-1}}`, `[]`, `{"x":1}`,
	} {
		f.call("POST", "/tickets", body).want(t, 400, nil)
	}
	f.call("POST", "/tickets", TicketRequest{Step: &TicketStep{SessionID: "s", StepBegin: StepBegin{StepID: strings.Repeat("x", 1025)}}}).want(t, 400, nil)
	for _, id := range []string{"x", "t00000000000000000000", "..%2Fx", "%00"} {
		f.call("GET", "/tickets/"+id, nil).problem(t, 404, "not-found")
	}
	f.call("GET", "/tickets/x?wait=60001", nil).want(t, 400, nil)
	book := ticket.In(f.dataDir)
	if ids, err := book.List(); err != nil || len(ids) > 0 {
		t.Errorf("%q, %v", ids, err)
	}
	foreign, err := book.Make(&ticket.Request{Root: pathtext.Text(filepath.Dir(f.root)), Track: &ticket.Track{}})
	if err != nil {
		t.Fatal(err)
	}
	f.call("GET", "/tickets/"+foreign, nil).problem(t, 404, "not-found")
}

// TestTicketDeadServer: the next server does the unfinished work of a dead one, but no
// ticket of a command line with options of its own.
func TestTicketDeadServer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	book := ticket.In(f.dataDir)
	own, err := book.Make(&ticket.Request{Root: pathtext.Text(f.root), Track: &ticket.Track{}, Flags: ticket.Flags{Force: true}})
	if err != nil {
		t.Fatal(err)
	}
	f.call("GET", "/tickets/"+own+"?wait=60000", nil).problem(t, 409, "conflict")
	release := f.occupy()
	defer release()
	id := f.begin(TicketRequest{Track: &TrackRequest{Message: "m"}}).Ticket
	if err := f.server.Close(); err != nil {
		t.Fatal(err)
	}
	if book.Answer(id) != nil {
		t.Error("a server that has given up has answered")
	}
	release()
	f.server = f.open()
	f.door = f.server.PrivateDoor()
	if got := f.answer(id); got.Track.Files != 5 {
		t.Errorf("%+v", got.Track)
	}
}

// TestSettle: a server that ends finishes what it was asked for, if there is time.
func TestSettle(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	release := f.occupy()
	id := f.begin(TicketRequest{Track: &TrackRequest{Message: "m"}}).Ticket
	over, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	f.server.WaitForTickets(over)
	release()
	f.server.WaitForTickets(t.Context())
	if ticket.In(f.dataDir).Answer(id) == nil {
		t.Error("no answer")
	}
}

// TestTicketRoom: more than so many at once are refused.
func TestTicketRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree, func(o *Options) { o.MaxRequests = 2 })
	release := f.occupy()
	defer release()
	for range 2 {
		f.begin(TicketRequest{Track: &TrackRequest{Message: "m"}})
	}
	f.call("POST", "/tickets", TicketRequest{Track: &TrackRequest{}}).problem(t, 429, "too-many")
}

// TestTicketMessage: the answer of a ticket is the message, and a request for two things is refused.
func TestTicketMessage(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	m := &TicketMessage{SessionID: "s", MessageID: "1", Role: "user", Prompt: "go", SessionMeta: map[string]string{session.MetaAgent: "an agent"}}
	got := f.answer(f.begin(TicketRequest{Message: m}).Ticket)
	if got.Message == nil || got.Message.Prompt != "go" || got.Step != nil || got.Track != nil {
		t.Errorf("%+v", got)
	}
	f.call("POST", "/tickets", TicketRequest{Message: m, Track: &TrackRequest{}}).want(t, 400, nil)
	var s session.Session
	if f.call("GET", "/session/s", nil).want(t, 200, &s); s.Meta[session.MetaAgent] != "an agent" {
		t.Errorf("%+v", s)
	}
}
