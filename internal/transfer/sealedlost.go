package transfer

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// OpenSealed brings the objects of every sealed line on a remote into a quarantine, without refs, as far as the
// identity of the options opens them. The log says how many stores cannot be read.
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
	if f.notes, err = f.sealedNotes(notes); err != nil {
		return err
	}
	if f.notes.closed > 0 {
		s.Log.Warn(f.notes.remark())
	}
	for _, note := range f.notes.open {
		if err := f.parts(ctx, notes, note, note.Parts); err != nil {
			return fmt.Errorf("sealed lines of store %s: %w", note.Store, err)
		}
	}
	return nil
}
