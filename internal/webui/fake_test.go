package webui

import (
	"context"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

type fakeSessions struct {
	repo *cairn.Repo
	list []*session.Session
	msgs map[string][]session.Message
}

func (f *fakeSessions) Get(_ context.Context, id string) (*session.Session, error) {
	for _, s := range f.list {
		if s.ID == id {
			return s, nil
		}
	}
	return nil, session.ErrNotFound
}
func (f *fakeSessions) List(context.Context) ([]*session.Session, error) {
	return append([]*session.Session{}, f.list...), nil
}
func (f *fakeSessions) History(_ context.Context, id string) ([]session.Message, error) {
	return f.msgs[id], nil
}
func (f *fakeSessions) Revert(ctx context.Context, id string, to session.Target, opt session.RevertOptions) (*session.Session, *cairn.Result, error) {
	in := false
	var first, last *session.Step
	for i := range f.msgs[id] {
		m := &f.msgs[id][i]
		in = in || m.ID == to.Message
		for j := range m.Steps {
			if in {
				if first == nil {
					first = &m.Steps[j]
				}
				last = &m.Steps[j]
			}
		}
	}
	if first == nil {
		return nil, nil, session.ErrNotFound
	}
	res, err := f.repo.RevertRange(ctx, first.Before.ID, last.After.ID, cairn.RevertOptions{DryRun: opt.DryRun, Plan: opt.Plan, OnConflict: opt.OnConflict})
	return nil, res, err
}
func (f *fakeSessions) Unrevert(context.Context, string, session.RevertOptions) (*session.Session, *cairn.Result, error) {
	return nil, nil, session.ErrNotFound
}
func (f *fakeSessions) cp(ctx context.Context) session.Checkpoint {
	t, err := f.repo.Track(ctx, cairn.TrackOptions{})
	if err != nil {
		panic(err)
	}
	return session.Checkpoint{ID: t.Checkpoint, Hash: t.Hash}
}
func (f *fakeSessions) BeginStep(ctx context.Context, b session.StepBegin) (*session.Step, error) {
	s, err := f.Get(ctx, b.Session)
	if err != nil {
		s = &session.Session{ID: b.Session, Created: time.Now()}
		f.list = append(f.list, s)
		if f.msgs == nil {
			f.msgs = map[string][]session.Message{}
		}
	}
	ms := f.msgs[b.Session]
	if len(ms) == 0 || ms[len(ms)-1].ID != b.Message {
		ms = append(ms, session.Message{ID: b.Message, Role: b.Role, Prompt: b.Prompt, Created: time.Now()})
		s.Messages++
	}
	m := &ms[len(ms)-1]
	m.Steps = append(m.Steps, session.Step{ID: b.Step, Session: b.Session, Message: b.Message, Began: time.Now(), Before: f.cp(ctx)})
	f.msgs[b.Session] = ms
	s.Steps++
	s.Updated = time.Now()
	return nil, nil
}
func (f *fakeSessions) EndStep(ctx context.Context, e session.StepEnd) (*session.Step, error) {
	ms := f.msgs[e.Session]
	m := &ms[len(ms)-1]
	st := &m.Steps[len(m.Steps)-1]
	st.After, st.Ended = f.cp(ctx), time.Now()
	st.Patch, _ = f.repo.Patch(ctx, st.Before.ID, st.After.ID)
	s, _ := f.Get(ctx, e.Session)
	s.Updated = time.Now()
	return st, nil
}
