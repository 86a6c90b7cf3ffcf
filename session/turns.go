package session

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Turn is a message of the user with those that answer it. Messages before the first one of the user
// are a turn, too. In a session without messages of the user each message is a turn.
type Turn struct {
	Number   int // from 1, reverted ones included
	Messages []Message
}

// Turns groups the messages of a session.
func Turns(history []Message) []Turn {
	anyUser := slices.ContainsFunc(history, func(m Message) bool { return m.Role == RoleUser })
	var turns []Turn
	for i := range history {
		n := len(turns)
		if n == 0 || history[i].Role == RoleUser || !anyUser {
			turns = append(turns, Turn{n + 1, history[i : i+1 : i+1]})
			continue
		}
		turns[n-1].Messages = append(turns[n-1].Messages, history[i])
	}
	return turns
}

// ID is the id of the message with which the turn begins.
func (t *Turn) ID() string { return t.Messages[0].ID }

// Prompt is what the user said.
func (t *Turn) Prompt() string { return t.Messages[0].Prompt }

// Reverted reports whether the whole turn is taken back.
func (t *Turn) Reverted() bool { return t.Messages[0].Reverted }

// Steps lists the steps of the turn.
func (t *Turn) Steps() (steps []Step) {
	for i := range t.Messages {
		steps = append(steps, t.Messages[i].Steps...)
	}
	return steps
}

// Open reports whether a step of the turn is running.
func (t *Turn) Open() bool {
	return slices.ContainsFunc(t.Steps(), func(st Step) bool { return st.Open() })
}

// Files lists what the step changed, as absolute paths, those in this root first.
func (s *Step) Files() []string {
	files := slices.Clone(s.Patch.Files)
	for _, o := range s.Elsewhere {
		files = append(files, o.Patch.Files...)
	}
	return files
}

// Changed lists what the steps of the turn changed, files as absolute paths, known changes that no
// capture holds included.
func (t *Turn) Changed() []string {
	var files []string
	for _, st := range t.Steps() {
		files = append(files, st.Files()...)
		for _, stay := range st.Uncaptured() {
			files = append(files, string(stay.Path))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// Last is the time of the newest event of the turn.
func (t *Turn) Last() time.Time {
	last := t.Messages[0].Created
	for _, st := range t.Steps() {
		for _, at := range []time.Time{st.Began, st.Ended} {
			if at.After(last) {
				last = at
			}
		}
	}
	return last
}

// FindTurn returns the id of the message with which the turn begins that spec names: a whole id
// of a message, or else the number of a turn, from 1, or from -1 for the newest that is not
// reverted and further back, or else Newest, alone or with ~N, or else a prefix that one id alone
// has. A spec that names a message within a turn gives the id of that message. The error wraps
// ErrNotFound or cairn.ErrAmbiguous.
func (s *Sessions) FindTurn(ctx context.Context, session, spec string) (string, error) {
	history, err := s.History(ctx, session)
	if err != nil {
		return "", err
	}
	return findTurn(history, session, spec)
}

func findTurn(history []Message, session, spec string) (string, error) {
	if slices.ContainsFunc(history, func(m Message) bool { return m.ID == spec }) {
		return spec, nil
	}
	turns := Turns(history)
	if n, err := strconv.Atoi(spec); err == nil {
		return numberedID(turns, n, session)
	}
	if n, ok := newestBut(spec); ok {
		return numberedID(turns, -1-n, session)
	}
	var found []choice
	for i := range history {
		if m := &history[i]; spec != "" && strings.HasPrefix(m.ID, spec) {
			found = append(found, choice{m.ID, m.Prompt})
		}
	}
	return pick("message "+strconv.Quote(spec)+" of session "+strconv.Quote(session), found)
}

// Turn returns the turn that spec names, as FindTurn has it, from the named message on. Without a spec
// it is the newest turn, a reverted one included.
func (s *Sessions) Turn(ctx context.Context, session, spec string) (*Turn, error) {
	history, err := s.History(ctx, session)
	if err != nil {
		return nil, err
	}
	turns := Turns(history)
	if n := len(turns); spec == "" && n > 0 {
		return &turns[n-1], nil
	}
	id, err := findTurn(history, session, spec)
	if err != nil {
		return nil, err
	}
	t, from := turnWith(turns, id)
	return &Turn{Number: t.Number, Messages: t.Messages[from:]}, nil
}

// turnWith returns the turn that has a message of the history, and the place of the message in it.
func turnWith(turns []Turn, id string) (t *Turn, at int) {
	for i := range turns {
		if at = slices.IndexFunc(turns[i].Messages, func(m Message) bool { return m.ID == id }); at >= 0 {
			return &turns[i], at
		}
	}
	panic("session: a message in no turn: " + id) // Turns has all messages
}

// TurnScope returns the scope of the turn that spec names, as FindTurn has it. A spec that names a
// message means the turn of this message.
func (s *Sessions) TurnScope(ctx context.Context, session, spec string) (Scope, error) {
	history, err := s.History(ctx, session)
	if err != nil {
		return Scope{}, err
	}
	id, err := findTurn(history, session, spec)
	if err != nil {
		return Scope{}, err
	}
	t, _ := turnWith(Turns(history), id)
	return t.scope(), nil
}

// NumberedTurn returns the scope of a turn by its number, from 1, or from -1 for the newest that is
// not reverted and further back.
func (s *Sessions) NumberedTurn(ctx context.Context, session string, n int) (Scope, error) {
	history, err := s.History(ctx, session)
	if err != nil {
		return Scope{}, err
	}
	t, err := numbered(Turns(history), n, session)
	if err != nil {
		return Scope{}, err
	}
	return t.scope(), nil
}

// scope covers all messages of the turn.
func (t *Turn) scope() Scope { return Scope{Message: t.ID(), Turn: len(t.Messages) > 1} }

// numbered finds a turn by its number.
func numbered(turns []Turn, n int, session string) (*Turn, error) {
	in := turns
	if n < 0 {
		in = slices.DeleteFunc(slices.Clone(turns), func(t Turn) bool { return t.Reverted() })
	}
	at := n - 1
	if n < 0 {
		at = len(in) + n
	}
	if n == 0 || at < 0 || at >= len(in) {
		return nil, notFound("turn %d of session %q: there are %d, the first is 1 and the newest -1", n, session, len(in))
	}
	return &in[at], nil
}

func numberedID(turns []Turn, n int, session string) (string, error) {
	t, err := numbered(turns, n, session)
	if err != nil {
		return "", err
	}
	return t.ID(), nil
}
