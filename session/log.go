package session

import (
	"context"
	"iter"
	"regexp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// LogOptions select checkpoints. The zero value selects all.
type LogOptions struct {
	cairn.LogOptions
	Session string         // of the session with this id, or the beginning of one
	Text    *regexp.Regexp // whose prompt or message matches
}

// LogEntry is a checkpoint with the work that it belongs to, nil for none.
type LogEntry struct {
	*cairn.Checkpoint
	Work *Work
}

// Checkpoints yields the checkpoints that cairn.Repo.Log yields and opt selects, with their work.
func (s *Sessions) Checkpoints(ctx context.Context, opt LogOptions) iter.Seq2[LogEntry, error] {
	return func(yield func(LogEntry, error) bool) {
		id, err := opt.Session, error(nil)
		if id != "" {
			id, err = s.Find(ctx, id)
		}
		if err != nil {
			yield(LogEntry{}, err)
			return
		}
		known := make(WorkCache)
		for c, err := range s.repo.Log(ctx, opt.LogOptions) {
			e, wanted := LogEntry{Checkpoint: c}, true
			if err == nil {
				e.Work, err = s.WorkOf(ctx, c.ID, known)
			}
			if err == nil {
				wanted, err = s.logged(ctx, &e, id, opt.Text)
			}
			if (err != nil || wanted) && !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// logged reports whether the session and the texts of a checkpoint are wanted.
func (s *Sessions) logged(ctx context.Context, e *LogEntry, id string, text *regexp.Regexp) (bool, error) {
	if id != "" && (e.Work == nil || e.Work.Session != id) {
		return false, nil
	}
	if text == nil || e.Message != state.NoMessage && text.MatchString(e.Message) {
		return true, nil
	}
	if e.Work == nil {
		return false, nil
	}
	prompt, err := s.Prompt(ctx, e.Work.Session, e.Work.Message)
	if Unreadable(err) {
		err = nil // its checkpoints have the beginning
	}
	return text.MatchString(prompt) || text.MatchString(e.Work.Prompt), err
}
