package peers

import (
	"context"
	"fmt"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// turner takes back the turn of a session.
type turner interface {
	// BeginTurn and EndTurn return the checkpoints before and after the turn.
	BeginTurn() (before string, err error)
	EndTurn() (after string, err error)

	RevertRange(from, to string) error
	RevertTurn() error
	Unrevert() error
}

// turnOf carries out an operation of a turner.
func turnOf(c Contender, req *Request, resp *Response) (err error) {
	t, ok := c.(turner)
	if !ok {
		return errUnable
	}
	switch req.Op {
	case OpTurnBegin:
		resp.Tree, err = t.BeginTurn()
	case OpTurnEnd:
		resp.Tree, err = t.EndTurn()
	case OpRevertRange:
		err = t.RevertRange(req.Tree, req.To)
	case OpRevertTurn:
		err = t.RevertTurn()
	case OpUnrevert:
		err = t.Unrevert()
	}
	return err
}

// turnSession is the session of the newest turn. Each turn has a session of its own: a
// revert also sums up its whole session, which is not what a turn costs.
func (l *library) turnSession() string { return fmt.Sprint("bench-", l.turns) }

func (l *library) sessions() (*session.Sessions, error) {
	repo, err := l.opened()
	if err != nil {
		return nil, err
	}
	return session.New(repo), nil
}

// BeginTurn implements turner.
func (l *library) BeginTurn() (string, error) {
	s, err := l.sessions()
	if err != nil {
		return "", err
	}
	l.turns++
	l.turn, err = s.BeginStep(context.Background(), session.StepBegin{Session: l.turnSession(), Message: "turn", Role: session.RoleUser})
	if err != nil {
		return "", err
	}
	return l.turn.Before.ID, nil
}

// EndTurn implements turner.
func (l *library) EndTurn() (string, error) {
	s, err := l.sessions()
	if err != nil {
		return "", err
	}
	l.turn, err = s.EndStep(context.Background(), session.StepEnd{Session: l.turnSession(), Step: l.turn.ID})
	if err != nil {
		return "", err
	}
	return l.turn.After.ID, nil
}

// RevertRange implements turner.
func (l *library) RevertRange(from, to string) error {
	repo, err := l.opened()
	if err != nil {
		return err
	}
	return whole(repo.Revert(context.Background(), cairn.Range{From: from, To: to}, cairn.RevertOptions{}))
}

// RevertTurn implements turner.
func (l *library) RevertTurn() error {
	s, err := l.sessions()
	if err != nil {
		return err
	}
	_, res, err := s.Revert(context.Background(), l.turnSession(), session.Target{Message: l.turn.Message}, session.MoveOptions{})
	return whole(res, err)
}

// Unrevert implements turner.
func (l *library) Unrevert() error {
	s, err := l.sessions()
	if err != nil {
		return err
	}
	_, res, err := s.Unrevert(context.Background(), l.turnSession(), session.MoveOptions{})
	return whole(res, err)
}
