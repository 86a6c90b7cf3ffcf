package lastdone

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/process"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// maxLooked bounds how many sessions are read although they cannot have the newest turn.
const maxLooked = 20

// turns lists the newest turn of the sessions that count, the newest first: of the session that is
// named; else of the sessions of the agents above the caller; else of the session with the newest
// turn, and of those whose agents are at work.
func (f *Finder) turns(ctx context.Context, id string) ([]Choice, error) {
	if id != "" {
		return f.turnOf(ctx, id)
	}
	list, unread, err := f.Sessions.ListAll(ctx)
	if err != nil {
		return nil, err
	}
	var r ranking
	for i, s := range list {
		if i >= maxLooked && len(r.all) > 0 && !s.Updated.After(r.all[0].when) {
			break
		}
		if s.Parent != "" || s.Fetched != nil {
			continue // its parent's turn has its work, or another machine
		}
		c, owner, err := f.newestTurn(ctx, s)
		if session.Unreadable(err) {
			unread = append(unread, session.UnreadOf(s, err))
			continue
		}
		if err != nil {
			return nil, err
		}
		r.see(f.distance(owner))
		if c != nil {
			r.add(c, f.distance(owner), s.Open != "" || alive(owner))
		}
	}
	return r.unlessUnread(unread)
}

// unlessUnread lists the choices that count. A session that cannot be read may have the newest turn.
func (r *ranking) unlessUnread(unread []session.Unread) ([]Choice, error) {
	list := r.counting()
	for i := range unread {
		if u := &unread[i]; !r.inside && (len(list) == 0 || u.After(list[0].when)) {
			return nil, fmt.Errorf("session %s cannot be read, and may have the newest turn (cairn doctor tells more; --session and --operation name what is meant): %w",
				wording.ShellWord(u.ID), u.Err)
		}
	}
	return list, nil
}

// turnOf returns the newest turn of one session, none or one.
func (f *Finder) turnOf(ctx context.Context, id string) ([]Choice, error) {
	list, err := f.Sessions.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if s.ID != id {
			continue
		}
		c, _, err := f.newestTurn(ctx, s)
		if err != nil || c == nil {
			return nil, err
		}
		return []Choice{*c}, nil
	}
	return nil, nil
}

// ranking collects the newest turns of sessions.
type ranking struct {
	all    []Choice // newest first
	active map[string]bool
	inside bool     // an agent is above the caller
	own    []Choice // of the nearest such agent
	near   int      // how near that is
}

// see notes how far above the caller the agent of a session is, -1 for one that is not above.
func (r *ranking) see(distance int) {
	if distance >= 0 && (!r.inside || distance < r.near) {
		r.inside, r.own, r.near = true, nil, distance
	}
}

func (r *ranking) add(c *Choice, distance int, active bool) {
	byTime := func(a, b Choice) int { return b.when.Compare(a.when) }
	r.all = append(r.all, *c)
	slices.SortStableFunc(r.all, byTime)
	if active {
		if r.active == nil {
			r.active = make(map[string]bool)
		}
		r.active[c.Session.ID] = true
	}
	if r.inside && distance == r.near {
		r.own = append(r.own, *c)
		slices.SortStableFunc(r.own, byTime)
	}
}

// counting lists the choices that count.
func (r *ranking) counting() []Choice {
	if r.inside {
		return r.own
	}
	if len(r.all) == 0 {
		return nil
	}
	list := r.all[:1:1]
	for _, c := range r.all[1:] {
		if r.active[c.Session.ID] {
			list = append(list, c)
		}
	}
	return list
}

// newestTurn is the newest turn of a session that is in effect and changed files, or is running,
// and the owner of the session's newest step.
func (f *Finder) newestTurn(ctx context.Context, s *session.Session) (*Choice, *session.Owner, error) {
	history, err := f.Sessions.History(ctx, s.ID)
	if errors.Is(err, session.ErrNotFound) {
		return nil, nil, nil // deleted meanwhile
	}
	if err != nil {
		return nil, nil, err
	}
	owner := newestOwner(history)
	for _, t := range slices.Backward(session.Turns(history)) {
		if t.Reverted() {
			continue
		}
		c := &Choice{Session: s, Turn: &t, when: t.Last()}
		if err := f.extent(ctx, c, t.Messages); err != nil {
			return nil, nil, err
		}
		if s.Updated.Before(t.Last()) { // the clock was set back since
			c.when = s.Updated
		}
		if c.Open && f.EndOpen {
			if err := f.untilNow(ctx, c); err != nil {
				return nil, nil, err
			}
		}
		if len(c.Files) > 0 || c.Open && !f.EndOpen {
			return c, owner, nil
		}
		if moved, err := f.movedBeyond(ctx, c); moved || err != nil {
			return c, owner, err
		}
	}
	return nil, owner, nil
}

// untilNow adds what a running turn has changed on disk.
func (f *Finder) untilNow(ctx context.Context, c *Choice) error {
	list, err := f.Sessions.Changes(ctx, c.Session.ID, session.Scope{Message: c.Turn.ID(), Turn: true})
	for i := range list {
		c.Files = append(c.Files, filepath.Join(f.Repo.Root(), filepath.FromSlash(list[i].Path)))
	}
	slices.Sort(c.Files)
	c.Files = slices.Compact(c.Files)
	return err
}

// extent adds what messages changed, sub-agents included.
func (f *Finder) extent(ctx context.Context, c *Choice, messages []session.Message) error {
	t := session.Turn{Messages: messages}
	c.Open = c.Open || t.Open()
	c.Files = append(c.Files, t.Changed()...)
	if last := t.Last(); last.After(c.when) {
		c.when = last
	}
	for i := range messages {
		for _, child := range messages[i].Children {
			history, err := f.Sessions.History(ctx, child)
			if errors.Is(err, session.ErrNotFound) {
				continue
			}
			if err == nil && len(history) > 0 {
				err = f.extent(ctx, c, history)
			}
			if err != nil {
				return err
			}
		}
	}
	slices.Sort(c.Files)
	c.Files = slices.Compact(c.Files)
	return nil
}

// distance is how far above the caller an agent is, -1 if it is not above. The first of a step's
// owners is the agent; others may be programs around it.
func (f *Finder) distance(o *session.Owner) int {
	if o == nil || len(o.Processes) == 0 {
		return -1
	}
	return slices.IndexFunc(f.Line, func(r process.Relative) bool { return r.ID == process.ID(o.Processes[0]) })
}

// AgentLives reports whether the process that owns the newest step of a session is seen to live.
func AgentLives(history []session.Message) bool { return alive(newestOwner(history)) }

// alive reports whether a process of an owner lives.
func alive(o *session.Owner) bool {
	return o != nil && slices.ContainsFunc(o.Processes, func(p session.Process) bool { return process.ID(p).State() == process.Alive })
}
