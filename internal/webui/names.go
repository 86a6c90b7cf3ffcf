package webui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// workOf tells whose work a checkpoint is, nil where it belongs to no session. A session that cannot
// be read costs only words.
func (v *visit) workOf(checkpoint string) *session.Work {
	if v.known == nil {
		v.known = make(session.WorkCache)
	}
	w, err := v.project.Sessions.WorkOf(v.ctx(), checkpoint, v.known)
	if err != nil {
		return nil
	}
	return w
}

// wordsOf says what a checkpoint was made for: its message, or the prompt of the step around which
// it was made. Ids of sessions and of steps are no words for people.
func (v *visit) wordsOf(c *cairn.Checkpoint) string {
	w := v.workOf(c.ID)
	switch {
	case w == nil || w.Prompt == "" && c.Author != session.AuthorAgent:
		return wordsOfTrack(c.Message)
	case w.Prompt == "":
		return "after a step of an agent"
	}
	_, what := wording.Heading(c.Author == session.AuthorAgent, c.Author, c.Message, w.Agent, w.Prompt)
	return what
}

// wordsOfTrack is the message of a checkpoint outside of sessions, or the kind of one whose session
// has no words.
func wordsOfTrack(message string) string {
	switch {
	case message == "checkpoint":
		return ""
	case strings.HasPrefix(message, "begin session "):
		return "a session begins"
	case strings.HasPrefix(message, "before step "):
		return "before a step of an agent"
	}
	return message
}

// nameOf names a checkpoint by its time and by what it was made for.
func (v *visit) nameOf(c *cairn.Checkpoint) string {
	name := c.When.Local().Format("2 January 2006, 15:04:05")
	if words := v.wordsOf(c); words != "" {
		name += " · " + visible(wording.FirstLine(words, titleWidth))
	}
	return name
}

// factOf is a checkpoint as a fact, nothing where it has been cleaned away.
func (v *visit) factOf(name, id string) []fact {
	if id == "" {
		return nil
	}
	c, err := v.project.Repo.Lookup(v.ctx(), id)
	if err != nil {
		return nil
	}
	return []fact{{name, v.nameOf(c), v.at("checkpoint/" + c.ID)}}
}

// wordsOfOperation says which turns of a session an operation took back or brought back, "" for one
// that moved none.
func (v *visit) wordsOfOperation(op *cairn.Operation) string {
	w := v.workOf(op.After)
	switch {
	case w == nil:
		return ""
	case op.Kind == "revert" && w.Prompt != "":
		return "to before: " + w.Prompt
	}
	return "all of " + v.titleOf(w.Session)
}

// operationText names an operation by its kind, its time and what it moved.
func (v *visit) operationText(id string) string {
	op, err := v.findOperation(id)
	if err != nil {
		return short(id)
	}
	return v.textOf(op)
}

func (v *visit) textOf(op *cairn.Operation) string {
	text := operationName(op.Kind) + ", " + op.When.Local().Format("2 January 2006, 15:04:05")
	if words := v.wordsOfOperation(op); words != "" {
		text += " · " + visible(wording.FirstLine(words, titleWidth))
	}
	return text
}

// titleOf is the title of a session by its id.
func (v *visit) titleOf(id string) string {
	if v.titles == nil {
		v.titles = make(map[string]string)
		list, _, err := v.project.Sessions.ListAll(v.ctx())
		if err != nil {
			list = nil // only words are missing
		}
		for _, s := range list {
			v.titles[s.ID] = titleOf(s)
		}
	}
	return cmp.Or(v.titles[id], "a session that is gone")
}

// linkTo is a session as a link with its title.
func (v *visit) linkTo(id string) link {
	return link{visible(v.titleOf(id)), v.at("session", "id", id), "session " + visible(id)}
}

// link is a link with its text and a hint.
type link struct{ Text, Address, Hint string }

// facts says what a plan is about.
func (w *way) facts(v *visit, from *takenBack) []fact {
	switch {
	case w.Do == "session" || w.Do == "part":
		return v.factsOfTurn(w.Session, w.Message)
	case w.Do == "unrevert":
		return []fact{{"session", visible(v.titleOf(w.Session)), v.at("session", "id", w.Session)}}
	case w.Do == "restore":
		return v.factOf("state of", w.To)
	case w.Do == "merge":
		return w.factsOfMerge(v)
	case w.Do == "revert":
		return append(v.factOf("changes since", w.From), v.factOf("up to", w.To)...)
	case from != nil:
		return []fact{{"operation", v.textOf(from.operation), v.at("operation/" + from.operation.ID)}}
	}
	return nil
}

// factsOfTurn says which turn of a session holds a message, nothing if the session has no such
// message: the plan says so.
func (v *visit) factsOfTurn(id, message string) []fact {
	s, err := v.project.Sessions.Get(v.ctx(), id)
	if err != nil {
		return nil
	}
	messages, err := v.project.Sessions.History(v.ctx(), id)
	if err != nil {
		return nil
	}
	var of *turn
	at := slices.IndexFunc(messages, func(m session.Message) bool { return m.ID == message })
	for _, t := range turnsOf(s, messages) {
		if first := slices.IndexFunc(messages, func(m session.Message) bool { return m.ID == t.Message }); first <= at {
			of = t
		}
	}
	if of == nil {
		return nil
	}
	return of.facts(v, of.Agent)
}

// facts says to which session a turn belongs, which agent worked, and which prompt it answered.
func (t *turn) facts(v *visit, agent string) []fact {
	return []fact{
		{"session", visible(t.Title), v.at("session", "id", t.Session.ID)},
		{"agent", visible(agent), ""}, {"model", visible(modelOf(t.Session)), ""},
		{fmt.Sprintf("prompt %d", t.Number), cmp.Or(t.Prompt, "not recorded"), ""},
	}
}
