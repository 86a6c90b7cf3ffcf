package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/reviewed"
	"github.com/seed-fb9cbc17/cairn/internal/takenback"
	"github.com/seed-fb9cbc17/cairn/session"
)

// store is the Source of a repository.
type store struct {
	repo *cairn.Repo
	all  *session.Sessions
	only string // id of the only session that is asked for

	operations *takenback.Operations
}

// NewSource returns the Source of a repository and its sessions.
func NewSource(repo *cairn.Repo, all *session.Sessions, only string) Source {
	return &store{repo, all, only, takenback.NewOperations(repo)}
}

// Sessions implements Source. The work of a sub-agent is part of the turn that called it, so its
// session is listed only if it is asked for.
func (s *store) Sessions(ctx context.Context) ([]*Session, error) {
	list, err := s.all.List(ctx)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(list))
	for _, one := range list {
		known[one.ID] = true
	}
	var out []*Session
	for _, one := range list {
		if one.ID == s.only || s.only == "" && !known[one.Parent] {
			out = append(out, &Session{ID: one.ID, Title: one.Title, Agent: one.Agent, Updated: one.Updated, Turns: one.Messages})
		}
	}
	return out, nil
}

// Turns implements Source.
func (s *store) Turns(ctx context.Context, of *Session) ([]*Turn, error) {
	messages, err := s.all.History(ctx, of.ID)
	if err != nil {
		return nil, err
	}
	turns := session.Turns(messages)
	list := make([]*Turn, 0, len(turns))
	for i, t := range slices.Backward(turns) {
		first := &t.Messages[0]
		out := &Turn{
			Session: of, ID: t.ID(), Number: t.Number, Prompt: t.Prompt(),
			Agent: cmp.Or(first.Agent, of.Agent), When: first.Created, Last: t.Last(),
			Later: len(turns) - 1 - i,
		}
		for j := range t.Messages {
			s.addSteps(out, &t.Messages[j])
		}
		list = append(list, out)
	}
	return list, nil
}

// addSteps adds a message and its steps to the turn that it belongs to.
func (s *store) addSteps(t *Turn, m *session.Message) {
	t.Reverted = m.Reverted
	if m.Truncated {
		t.Prompt = "(its beginning has been cleaned away) " + t.Prompt
	}
	for i := range m.Steps {
		st := &m.Steps[i]
		t.Agent = cmp.Or(st.Agent, t.Agent)
		t.Open = t.Open || st.Open()
		t.Steps++
		for _, file := range st.Patch.Files {
			rel := file
			if below, err := filepath.Rel(s.repo.Root(), filepath.FromSlash(file)); err == nil {
				rel = filepath.ToSlash(below)
			}
			if !slices.Contains(t.Paths, rel) {
				t.Paths = append(t.Paths, rel)
			}
		}
	}
}

// Files implements Source. What others changed between the steps of a turn is not shown.
func (s *store) Files(ctx context.Context, t *Turn) ([]File, error) {
	var list []cairn.Change
	var own *session.OwnChanges
	var err error
	if t.Session.ID == "" {
		list, err = s.repo.Changes(ctx, t.Range.From, t.Range.To)
	} else if own, err = s.all.OwnChanges(ctx, t.Session.ID, scopeOf(t)); err == nil {
		list = own.List
	}
	files := make([]File, len(list))
	for i := range list {
		files[i].Change, files[i].own = list[i], own
	}
	return files, err
}

// scopeOf is the turn as package session names it.
func scopeOf(t *Turn) session.Scope { return session.Scope{Message: t.ID, Turn: true} }

// differ compares the sides of changes.
type differ interface {
	CountLines(c *cairn.Change, opt cairn.DiffOptions) (additions, deletions int, note string, err error)
	FileDiffs(ctx context.Context, list []cairn.Change, opt cairn.DiffOptions) iter.Seq2[cairn.FileDiff, error]
}

func (s *store) differ(f *File) differ {
	if f.own != nil {
		return f.own
	}
	return s.repo
}

// Count implements Source.
func (s *store) Count(f *File) (err error) {
	f.Additions, f.Deletions, f.Note, err = s.differ(f).CountLines(&f.Change, cairn.DiffOptions{})
	return err
}

// Diff implements Source.
func (s *store) Diff(ctx context.Context, f *File) (*cairn.FileDiff, error) {
	for d, err := range s.differ(f).FileDiffs(ctx, []cairn.Change{f.Change}, cairn.DiffOptions{Hunks: true}) {
		return &d, err
	}
	return nil, fmt.Errorf("%w: %s", cairn.ErrNotFound, f.Change.Path)
}

// Taken implements Source. A range that ends at the present has nothing that is taken back.
func (s *store) Taken(ctx context.Context, t *Turn, f *File, d *cairn.FileDiff) ([]string, error) {
	if t.Last.IsZero() {
		return nil, nil
	}
	operations, err := s.operations.Since(ctx, t.Last)
	if err != nil {
		return nil, err
	}
	back := &takenback.Back{Read: takenback.Texts(access.Lines(s.repo).OpenBlob), Made: make(map[string][]byte)}
	names, err := back.Hunks(f.Change, d, takenback.At(f.Change.Path, t.When, operations))
	if errors.Is(err, cairn.ErrNotFound) { // contents of an operation are gone: it is not known
		return nil, nil
	}
	return names, err
}

// Marks implements Source.
func (s *store) Marks(ctx context.Context) ([]reviewed.Mark, error) {
	list := access.Marks(s.repo)
	if !slices.ContainsFunc(list, func(m reviewed.Mark) bool { return m.Operation != "" }) {
		return list, nil
	}
	undone, err := s.undone(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(m reviewed.Mark) bool { return m.Operation != "" && undone[m.Operation][m.Path] }), nil
}

// undone lists for each operation the paths on which it is taken back at present.
func (s *store) undone(ctx context.Context) (map[string]map[cairn.Path]bool, error) {
	undone := make(map[string]map[cairn.Path]bool)
	for op, err := range s.repo.Operations(ctx) {
		if err != nil {
			return nil, err
		}
		if op.Undoes == "" {
			continue
		}
		if undone[op.Undoes] == nil {
			undone[op.Undoes] = make(map[cairn.Path]bool)
		}
		for _, path := range op.Paths {
			if !undone[op.ID][cairn.Path(path)] {
				undone[op.Undoes][cairn.Path(path)] = true
			}
		}
	}
	return undone, nil
}

// ChangeMarks implements Source.
func (s *store) ChangeMarks(ctx context.Context, remove, add []reviewed.Mark) error {
	return access.ChangeMarks(ctx, s.repo, remove, add)
}

// Do implements Source.
func (s *store) Do(ctx context.Context, a Action) (*cairn.Result, error) {
	opt := cairn.RevertOptions{DryRun: a.Plan == "", Plan: a.Plan}
	switch a.Verb {
	case Undo:
		return s.repo.Undo(ctx, opt)
	case Redo:
		return s.repo.Redo(ctx, opt)
	case GoBack:
		move := session.MoveOptions{DryRun: opt.DryRun, Plan: opt.Plan}
		_, res, err := s.all.Revert(ctx, a.Turn.Session.ID, session.Target{Message: a.Turn.ID}, move)
		return res, err
	}
	return s.takeBack(ctx, a, opt)
}

// takeBack takes hunks back and remembers which operation did.
func (s *store) takeBack(ctx context.Context, a Action, opt cairn.RevertOptions) (res *cairn.Result, err error) {
	for _, h := range a.Hunks {
		opt.Hunks = append(opt.Hunks, h.Hunk)
	}
	opt.OnConflict = cairn.Merge
	if a.Turn.Session.ID == "" {
		res, err = s.repo.Revert(ctx, a.Turn.Range, opt)
	} else {
		res, err = s.all.RevertHunks(ctx, a.Turn.Session.ID, scopeOf(a.Turn), opt)
	}
	if err != nil || res.DryRun || res.Operation == "" {
		return res, err
	}
	stays := make(map[cairn.Path]bool)
	for _, c := range append(res.Conflicts, res.Kept...) {
		stays[c.Path] = true
	}
	var add, remove []reviewed.Mark
	for _, h := range a.Hunks {
		if stays[h.Path] {
			continue
		}
		remove = append(remove, h, wholeMark(a.Turn))
		h.Operation = res.Operation
		add = append(add, h)
	}
	return res, s.ChangeMarks(ctx, remove, add)
}

// RangeTurn is the range between two checkpoints as a turn. Without to it ends at the present. words
// say what the newer one was made for.
func RangeTurn(from, to *cairn.Checkpoint, words string) *Turn {
	t := &Turn{Session: &Session{}, ID: from.ID + "..", When: from.When, Range: cairn.Range{From: from.ID}}
	t.Prompt = from.Hash[:8] + "..the present"
	if to != nil {
		t.ID, t.Range.To, t.When, t.Last = from.ID+".."+to.ID, to.ID, to.When, to.When
		t.Prompt = strings.TrimSpace(from.Hash[:8] + ".." + to.Hash[:8] + " " + words)
	}
	return t
}
