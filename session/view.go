package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
)

// Get returns a session.
func (s *Sessions) Get(ctx context.Context, id string) (*Session, error) {
	h, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	out, active, err := s.view(ctx, h)
	if err != nil {
		return nil, err
	}
	all, _, err := s.around(ctx, h)
	if err != nil {
		return nil, err
	}
	out.Children = children(all, id)
	return out, s.addChanges(ctx, out, h, active, all)
}

// Brief returns a session without what has to be computed from its files: Summary, Children and the Diff of Revert.
// It takes as long however many steps the session has.
func (s *Sessions) Brief(ctx context.Context, id string) (*Session, error) {
	h, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	out, _, err := s.view(ctx, h)
	return out, err
}

// view is a session without what has to be computed from its files.
func (s *Sessions) view(ctx context.Context, h *history) (*Session, []*boundary, error) {
	out := s.dated(&h.digest, h.root)
	out.Truncated, out.Fetched = h.truncated, h.from
	out.show(h.latest(nil))
	active, err := s.active(ctx, h)
	if err != nil || len(active) == 0 {
		return out, nil, err
	}
	out.Messages, out.Steps = h.counts(newest(active))
	out.show(h.latest(newest(active)))
	out.Revert, err = s.revertView(ctx, h, active)
	return out, active, err
}

// revertView is where a revert stands, without its diff.
func (s *Sessions) revertView(ctx context.Context, h *history, active []*boundary) (*Boundary, error) {
	last := newest(active)
	out := &Boundary{Message: last.Message, Part: last.Part, Checkpoint: active[0].line.Before}
	snapshot, err := s.repo.Lookup(ctx, out.Checkpoint)
	if err != nil {
		return out, h.tolerate(expired(err, "the state before the revert of session %q", h.ID))
	}
	out.Snapshot = snapshot.Hash
	return out, nil
}

// dated is a session whose times fit the present clock. A session that has worked while the clock was ahead has times in
// the future, which keep its events in order; among other sessions and operations it would stay the newest.
func (s *Sessions) dated(d *digest, root string) *Session {
	out := d.view(root)
	out.Updated = d.Clock.Bound(out.Updated, s.clock(), s.awake())
	if out.Created.After(out.Updated) {
		out.Created = out.Updated
	}
	return out
}

func (d *digest) view(root string) *Session {
	out := &Session{
		ID: d.ID, Parent: d.Parent, Title: d.title(), Agent: d.Meta[MetaAgent], Meta: maps.Clone(d.Meta), Root: cairn.Path(root), Further: d.Further,
		Created: instant(d.Created), Updated: instant(d.At), Messages: d.Messages, Steps: d.Steps, Open: d.Open,
	}
	out.show(d.Work)
	if d.Fork != nil {
		fork := *d.Fork
		out.Fork = &fork
	}
	return out
}

// show sets the newest work of a session, and its model.
func (s *Session) show(latest *Work) {
	s.Latest, s.Model = latest, s.Meta[MetaModel]
	if latest != nil && latest.Model != "" {
		s.Model = latest.Model
	}
}

// addChanges computes what needs the files: the summary and what a revert did.
func (s *Sessions) addChanges(ctx context.Context, out *Session, h *history, active []*boundary, all []digest) (err error) {
	if out.Summary, err = s.summary(ctx, h, active, all); err != nil || out.Revert == nil {
		return err
	}
	out.Revert.Diff, err = s.revertDiff(ctx, active, newest(active).line.ID)
	return h.tolerate(err)
}

// summarized is a summary and what it was worked out from.
type summarized struct {
	from string
	Summary
}

// summary counts what a session changed. It looks at every step, so the last one is
// kept, until anything happens in any session. While a step is open the disk counts.
func (s *Sessions) summary(ctx context.Context, h *history, active []*boundary, all []digest) (*Summary, error) {
	from := summarySource(h, active, all)
	s.mu.Lock()
	known := s.summaries[h.ID]
	s.mu.Unlock()
	if from != "" && known.from == from {
		return &known.Summary, nil
	}
	list, err := s.changed(ctx, h, active, Scope{})
	if errors.Is(err, cairn.ErrThinned) {
		return recordedSummary(h), nil
	}
	if err != nil {
		return nil, err
	}
	sum := Summary{Files: len(list)}
	for i := range list {
		added, deleted, _, err := s.repo.CountLines(&list[i], cairn.DiffOptions{})
		if err != nil {
			return nil, err
		}
		sum.Additions += added
		sum.Deletions += deleted
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.summaries) >= maxLoaded {
		clear(s.summaries)
	}
	s.summaries[h.ID] = summarized{from, sum}
	return &sum, nil
}

// recordedSummary counts the files that the records of steps name. The lines of a session with thinned
// states are not known.
func recordedSummary(h *history) *Summary {
	files := make(map[string]bool)
	for _, m := range h.messages {
		for _, st := range m.steps {
			for _, file := range st.first {
				files[file] = true
			}
		}
	}
	return &Summary{Files: len(files)}
}

// summarySource names what a summary depends on, "" where that includes the disk.
func summarySource(h *history, active []*boundary, all []digest) string {
	text := h.tip
	if last := newest(active); last != nil {
		text += " " + last.line.ID
	}
	for _, d := range all {
		if d.Open != "" {
			return ""
		}
		text += fmt.Sprintf(" %s %d", d.ID, d.At)
	}
	sum := sha256.Sum256([]byte(text))
	return string(sum[:])
}

// MaxRevertDiff is how long Revert.Diff gets, in bytes. A longer diff is cut, and its
// last line says so; Repo.Diff gives all of it.
const MaxRevertDiff = 1 << 20

// revertDiff is what reverting did to the files, as git prints it.
func (s *Sessions) revertDiff(ctx context.Context, active []*boundary, to string) (string, error) {
	var paths []string
	for _, b := range active {
		paths = append(paths, b.line.Paths...)
	}
	if len(paths) == 0 {
		return "", nil
	}
	text := &limited{}
	err := s.repo.Diff(ctx, text, active[0].line.Before, to, cairn.DiffOptions{}, paths...)
	return strings.TrimRight(text.String(), "\n"), err
}

// limited keeps the beginning of the text written to it.
type limited struct {
	strings.Builder
	full bool
}

func (l *limited) Write(p []byte) (int, error) {
	if room := MaxRevertDiff - l.Len(); !l.full && len(p) > room {
		l.full = true
		l.Builder.Write(p[:room])
		l.WriteString("\n# the rest is left out\n")
	}
	if !l.full {
		l.Builder.Write(p)
	}
	return len(p), nil
}

// List returns all sessions that can be read, the one that was changed last first. They come without
// Summary, and Revert without Diff. ListAll names the others.
func (s *Sessions) List(ctx context.Context) ([]*Session, error) {
	list, _, err := s.ListAll(ctx)
	return list, err
}

// ListAll is List, and names the sessions of this store that cannot be read.
func (s *Sessions) ListAll(ctx context.Context) (list []*Session, unread []Unread, err error) {
	all, unread, err := s.allDigests(ctx)
	if err != nil {
		return nil, nil, err
	}
	truncated, err := s.truncated(ctx)
	if err != nil {
		return nil, nil, err
	}
	unpushed, err := access.Unpushed(s.repo)
	if err != nil {
		return nil, nil, err
	}
	list = make([]*Session, 0, len(all))
	for i := range all {
		out := s.dated(&all[i], s.repo.Root())
		if all[i].Chain || all[i].undescribed() || all[i].untitled() || truncated(&all[i]) {
			if out, err = s.Brief(ctx, all[i].ID); Unreadable(err) && ctx.Err() == nil {
				unread = append(unread, Unread{ID: all[i].ID, Err: err, at: all[i].At, open: all[i].Open != ""})
				continue
			}
			if err != nil {
				return nil, nil, err
			}
		}
		out.Children, out.NotPushed = children(all, out.ID), unpushed(out.ID)
		list = append(list, out)
	}
	if list, err = s.addFetched(ctx, list, all); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(list, func(a, b *Session) int {
		return cmp.Or(b.Updated.Compare(a.Updated), strings.Compare(a.ID, b.ID))
	})
	return list, unread, nil
}

// addFetched adds the sessions that were fetched. One that cannot be read is left out.
func (s *Sessions) addFetched(ctx context.Context, list []*Session, own []digest) ([]*Session, error) {
	fetched, err := s.fetchedBeside(ctx, own)
	if err != nil {
		return nil, err
	}
	for i := range fetched {
		h, err := s.load(ctx, fetched[i].ID)
		if err != nil {
			continue
		}
		out, _, err := s.view(ctx, h)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			list = append(list, out)
		}
	}
	return list, nil
}

func children(all []digest, id string) []string {
	var list []string
	for _, d := range all {
		if d.Parent == id {
			list = append(list, d.ID)
		}
	}
	slices.Sort(list)
	return list
}

// stepNow reads a step that was just recorded.
func (s *Sessions) stepNow(ctx context.Context, session, id string) (*Step, error) {
	h, err := s.load(ctx, session)
	if err != nil {
		return nil, err
	}
	st := h.step(id)
	if st == nil {
		return nil, notFound("step %q of session %q", id, session)
	}
	return s.stepOut(ctx, h, st)
}

// stepOut is a step as it is handed out. Long lists of files are not recorded.
func (s *Sessions) stepOut(ctx context.Context, h *history, st *step) (*Step, error) {
	out := st.Step
	out.Session = h.ID
	out.Meta, out.Paths, out.Parts, out.Calls = maps.Clone(st.Meta), slices.Clone(st.Paths), slices.Clone(st.Parts), slices.Clone(st.Calls)
	if st.ended != 0 && !st.files {
		list, err := s.repo.Changes(ctx, st.Before.ID, st.After.ID)
		if errors.Is(err, cairn.ErrThinned) {
			out.Patch.Files = append(out.Patch.Files, st.first...) // what its record names
			return &out, nil
		}
		if err != nil {
			return nil, expired(err, "a state of step %q", st.ID)
		}
		for i := range list {
			out.Patch.Files = append(out.Patch.Files, s.absolute(list[i].Path))
		}
	}
	return &out, nil
}

func (s *Sessions) absolute(rel string) string {
	return path.Join(filepath.ToSlash(s.repo.Root()), rel)
}
