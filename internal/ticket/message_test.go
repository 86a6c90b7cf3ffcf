package ticket

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

func message(id, prompt string) *Request {
	begin := session.SessionBegin{ID: "s", Meta: map[string]string{"agent": "a"}}
	return &Request{Root: "/r", Message: NewMessage(begin, session.MessageBegin{Session: "s", Message: id, Role: session.RoleUser, Prompt: prompt})}
}

// TestRunMessage: the messages and steps of a session are recorded in the order of their tickets.
func TestRunMessage(t *testing.T) {
	t.Parallel()
	b, d := newBook(t), &doer{}
	b.must(t, message("1", "go"))
	b.must(t, &Request{Root: "/r", Step: NewStep(session.StepBegin{Session: "s", Step: "step"})})
	b.must(t, &Request{Root: "/r", Step: NewStep(session.StepBegin{Session: "other", Step: "of another"})})
	end := b.must(t, &Request{Root: "/r", End: NewEnd(session.StepEnd{Session: "s", Step: "step"})})
	last := b.must(t, message("2", "on"))
	a, err := b.Finish(t.Context(), last, b.runs(d)(last))
	if err != nil || a.Err() != nil {
		t.Fatal(err, a)
	}
	var got session.Message
	if err := json.Unmarshal(a.Result, &got); err != nil || got.ID != "2" {
		t.Errorf("%+v, %v", got, err)
	}
	if want := []string{"a 1 go", "step", "end step", "a 2 on"}; !slices.Equal(d.steps, want) {
		t.Errorf("%q, want %q", d.steps, want)
	}
	var ended session.Step
	if err := json.Unmarshal(b.Answer(end).Result, &ended); err != nil || ended.ID != "step" || ended.Message != "m" || len(ended.Patch.Files) > 0 {
		t.Errorf("the end of a step: %+v, %v", ended, err)
	}
}

// TestEndThroughRequest: the end of a step comes back as it was.
func TestEndThroughRequest(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	want := session.StepEnd{Session: "s", Step: "1", Parts: []session.Part{{ID: "c", Type: session.PartTool, Meta: map[string]string{"k": "v"}}}, Paths: []string{"a\xff"}}
	r, err := b.Request(b.must(t, &Request{Root: "/r", End: NewEnd(want)}))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.End.End(); got.Session != "s" || got.Step != "1" || !slices.Equal(got.Paths, want.Paths) || len(got.Parts) != 1 || got.Parts[0].Meta["k"] != "v" {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestReduceMessage: the settings keep prompts, or the secrets in them, out of tickets.
func TestReduceMessage(t *testing.T) {
	t.Parallel()
	secret := "token ghp_" + "0123456789abcdefghijABCDEFGHIJ012345" // in two parts, so that no scanner takes it for one
	for _, c := range []struct {
		noPrompts, noMask bool
		is                func(string) bool
	}{
		{true, false, func(s string) bool { return s == "" }},
		{false, true, func(s string) bool { return s == secret }},
		{false, false, func(s string) bool { return s != "" && s != secret }},
	} {
		r := message("1", secret)
		if r.Reduce(c.noPrompts, c.noMask); !c.is(r.Message.Prompt) {
			t.Errorf("%+v: %q", c, r.Message.Prompt)
		}
	}
}

// TestRequestAsksForOneThing: a request that asks for two things, or for none, is damaged.
func TestRequestAsksForOneThing(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	two := message("1", "")
	two.Track = &Track{}
	for _, r := range []*Request{two, {Root: "/r"}} {
		if _, err := b.Request(b.must(t, r)); !errors.Is(err, cairn.ErrNotFound) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
