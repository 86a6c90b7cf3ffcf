package transfer

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

// OpenSealed brings the objects of every sealed line on a remote into a quarantine, without refs, as far as the
// identity of the options opens them. The log says how many stores cannot be read, and which are damaged. An identity
// that cannot be used is settings.ErrIdentity.
func (m *remote) OpenSealed(ctx context.Context, s *history.Store, q *odb.Quarantine) (err error) {
	notes, err := s.DB.QuarantineAlone()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, notes.Discard()) }()
	if err := m.fetchInto(ctx, notes, []string{notesSpec}); err != nil {
		return err
	}
	f := &sealedFetch{Transport: &Transport{Store: s}, m: m, q: q, all: true}
	refs, identities, closed, err := f.noteRefs(notes)
	if err != nil {
		return fmt.Errorf("%w: %w", settings.ErrIdentity, err)
	}
	if closed == nil {
		closed = new(sealedNotes)
	}
	for _, ref := range refs {
		switch one, err := f.lostOf(ctx, notes, ref, identities); {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, settings.ErrIdentity):
			return err
		case err != nil: // others may have what is looked for
			s.Log.Warn("a sealed store was not looked at", "note", ref.Name, "error", err)
		case one.closed > 0:
			closed.closed, closed.why = closed.closed+one.closed, one.why
		}
	}
	if closed.closed > 0 {
		s.Log.Warn(closed.remark())
	}
	return nil
}

// lostOf brings the objects of the store that wrote a note.
func (f *sealedFetch) lostOf(ctx context.Context, notes *odb.Quarantine, ref odb.Ref, identities []byte) (*sealedNotes, error) {
	one, err := f.openNotes(notes, []odb.Ref{ref}, identities)
	if err != nil {
		return nil, err
	}
	for _, note := range one.open {
		if err := f.parts(ctx, notes, note, note.Parts); err != nil {
			return nil, err
		}
	}
	return one, nil
}
