package answers

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Shown tells what a checkpoint or a turn changed, who did it and for which prompt.
type Shown struct {
	ID        string        `json:"id,omitempty"`
	Hash      string        `json:"hash,omitempty"`
	Session   string        `json:"sessionID,omitempty"`
	MessageID string        `json:"messageID,omitempty"`
	Time      time.Time     `json:"time"`
	Author    string        `json:"author,omitempty"`
	Agent     string        `json:"agent,omitempty"`
	Model     string        `json:"model,omitempty"`
	Message   string        `json:"message,omitempty"`
	Parent    string        `json:"parent,omitempty"`
	Work      *session.Work `json:"work,omitempty"`
	Prompt    string        `json:"prompt,omitempty"`

	Secrets   []cairn.Secret      `json:"secrets,omitempty"` // places of credentials in the files of a checkpoint
	Elsewhere []session.RootPatch `json:"inRoots,omitempty"` // of a turn: what it changed in other directories of its session

	Changes []cairn.Change `json:"-"`
	Calls   []session.Call `json:"-"`
	Title   string         `json:"-"` // of the session
	Number  int            `json:"-"` // of the turn

	states []string // before and after each step of a turn; "" = the disk
}

// Show collects the facts about a checkpoint, or about SESSION or SESSION:TURN. The changes are those
// of some paths, all if there is none. The error wraps cairn.ErrNotFound if neither is there, or one of the paths is
// not.
func Show(ctx context.Context, repo *cairn.Repo, s *session.Sessions, spec string, paths []string) (*Shown, error) {
	out, err := checkpointShown(ctx, repo, s, spec, paths)
	if !errors.Is(err, cairn.ErrNotFound) {
		return out, err
	}
	turn, turnErr := turnShown(ctx, s, spec)
	if turnErr != nil && errors.Is(turnErr, cairn.ErrNotFound) && !strings.Contains(spec, ":") {
		return nil, err
	}
	if turnErr == nil && len(paths) > 0 {
		turn.Changes = slices.DeleteFunc(turn.Changes, func(c cairn.Change) bool { return !below(repo.Root(), c.Path, paths) })
		turnErr = repo.CheckPaths(ctx, paths, turn.states...)
	}
	return turn, turnErr
}

// below reports whether a path of the root is one of some paths or lies below one.
func below(root, path string, paths []string) bool {
	path = filepath.Join(root, filepath.FromSlash(path))
	return slices.ContainsFunc(paths, func(p string) bool {
		if !filepath.IsAbs(p) {
			p = filepath.Join(root, p)
		}
		return realpath.Within(path, p)
	})
}

// ShownDiffs is a Shown with the differences.
type ShownDiffs struct {
	Shown
	Diffs []cairn.FileDiff `json:"diffs"`
}

// WithDiffs adds the differences, as long as their texts have no more bytes than a limit; 0 means none.
// It reports whether all are there.
func (s *Shown) WithDiffs(ctx context.Context, repo *cairn.Repo, opt cairn.DiffOptions, limit int) (out *ShownDiffs, all bool, err error) {
	out = &ShownDiffs{*s, []cairn.FileDiff{}}
	size := 0
	for d, err := range repo.FileDiffs(ctx, s.Changes, opt) {
		if err != nil {
			return nil, false, err
		}
		if size += len(d.Before) + len(d.After) + len(d.Patch); limit > 0 && size > limit {
			return out, false, nil
		}
		out.Diffs = append(out.Diffs, d)
	}
	return out, true, nil
}

// checkpointShown collects the facts about a checkpoint.
func checkpointShown(ctx context.Context, repo *cairn.Repo, s *session.Sessions, spec string, paths []string) (*Shown, error) {
	cp, err := repo.Lookup(ctx, spec)
	if err != nil {
		return nil, err
	}
	out := &Shown{ID: cp.ID, Hash: cp.Hash, Time: cp.When, Author: cp.Author, Message: cp.Message, Parent: cp.Parent}
	if out.Secrets, err = cp.Secrets(); err != nil {
		return nil, err
	}
	if out.Work, err = s.WorkOf(ctx, cp.ID, make(session.WorkCache)); err != nil {
		return nil, err
	}
	if w := out.Work; w != nil {
		out.Agent, out.Model, out.Calls = w.Agent, w.Model, w.Calls
		prompt, err := s.Prompt(ctx, w.Session, w.Message)
		if err != nil {
			return nil, err
		}
		out.Prompt = cmp.Or(prompt, w.Prompt)
		if out.Title, err = s.Title(ctx, w.Session); err != nil {
			return nil, err
		}
	}
	if err := repo.CheckPaths(ctx, paths, out.Parent, out.ID); err != nil || out.Parent == "" {
		return out, err
	}
	out.Changes, err = repo.Changes(ctx, out.Parent, out.ID, paths...)
	return out, err
}

// turnShown collects the facts about SESSION or SESSION:MESSAGE.
func turnShown(ctx context.Context, s *session.Sessions, spec string) (*Shown, error) {
	name, message, _ := strings.Cut(spec, ":")
	id, err := s.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	turn, err := s.Turn(ctx, id, message)
	if err != nil {
		return nil, err
	}
	first := &turn.Messages[0]
	out := &Shown{Session: id, MessageID: first.ID, Time: first.Created, Agent: first.Agent, Prompt: first.Prompt, Number: turn.Number}
	if out.Title, err = s.Title(ctx, id); err != nil {
		return nil, err
	}
	for _, st := range turn.Steps() {
		out.Calls = append(out.Calls, st.Calls...)
		out.states = append(out.states, st.Before.ID, st.After.ID)
		out.Elsewhere = append(out.Elsewhere, st.Elsewhere...)
		out.Agent, out.Model = cmp.Or(st.Agent, out.Agent), cmp.Or(st.Model, out.Model)
	}
	out.Elsewhere = session.JoinPatches(out.Elsewhere)
	if out.Agent == "" {
		whole, err := s.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		out.Agent = whole.Agent
	}
	out.Changes, err = s.Changes(ctx, id, session.Scope{Message: first.ID, Turn: true})
	return out, err
}
