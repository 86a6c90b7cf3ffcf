package transfer

import (
	"context"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/envelope"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// refs names the lines of a note in the quarantine as those of an open push, and adds the note.
func (f *sealedFetch) refs(ctx context.Context, note *envelope.Note, heads map[string]envelope.Head) error {
	place := note.Key + "/" + note.Store
	batch := f.q.NewBatch()
	defer batch.Discard()
	about, err := batch.Add(object.Blob, note.About)
	if err != nil {
		return err
	}
	updates := []odb.RefUpdate{{Name: refAbout + place, ID: about}}
	for name, head := range heads {
		line, signed := strings.CutPrefix(history.RefRoot+name, history.RefSignatures)
		to := RefIncoming + place + "/" + name
		if signed {
			to = history.RefSignatures + place + "/" + line
		} else {
			line = name
		}
		newer, err := f.newer(ctx, RefIncoming+place+"/"+line, heads[line].ID)
		if err != nil {
			return err
		}
		if newer {
			continue // the store has pushed openly since
		}
		updates = append(updates, odb.RefUpdate{Name: to, ID: head.ID})
	}
	if f.named == nil {
		f.named = make(map[string]bool)
	}
	for _, u := range updates {
		f.named[u.Name] = true
	}
	return batch.Commit(updates...)
}

// newer reports whether a line came that goes on from its sealed head. Of two that have parted, the one with the newer
// commit counts, also where the line is a pin that was moved, and of two equally old ones the one that was purged; of
// those of two notes, the one of the newer note.
func (f *sealedFetch) newer(ctx context.Context, line string, head object.ID) (bool, error) {
	id, err := f.q.Ref(line)
	switch {
	case err != nil || id == head:
		return false, nil
	case head.IsZero():
		return true, nil
	}
	if on, err := f.parents().leadTo(ctx, id, head); on || err != nil {
		return on, err
	}
	if f.named[line] {
		return false, nil
	}
	back, err := f.parents().leadTo(ctx, head, id)
	if err != nil || back {
		return false, err
	}
	if open, sealed := f.when(id), f.when(head); !open.Equal(sealed) {
		return open.After(sealed), nil
	}
	return f.purgedSince(ctx, id, head), nil
}

// purgedSince reports whether a line came out of another one by a purge. That keeps the times of commits and their
// order, so the newest two that differ in purged paths tell.
func (f *sealedFetch) purgedSince(ctx context.Context, line, other object.ID) bool {
	for line != other && ctx.Err() == nil {
		a, err := f.commit(line)
		if err != nil {
			return false
		}
		b, err := f.commit(other)
		if err != nil {
			return false
		}
		if n, m := purgedPaths(a), purgedPaths(b); n != m {
			return n > m
		}
		if len(a.Parents) == 0 || len(b.Parents) == 0 {
			return false
		}
		line, other = a.Parents[0], b.Parents[0]
	}
	return false
}

// purgedPaths counts the purged paths of a checkpoint.
func purgedPaths(c *object.CommitData) (n int) {
	m, err := state.DecodeMetadata(c.Header(state.MetadataHeader))
	if err != nil {
		return 0
	}
	for _, s := range m.Skipped {
		if s.Reason == state.Purged {
			n++
		}
	}
	return n
}

// commit reads a commit of the quarantine or the store.
func (f *sealedFetch) commit(id object.ID) (*object.CommitData, error) {
	kind, data, err := f.q.Read(id)
	if err == nil && kind != object.Commit {
		err = odb.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return object.ParseCommit(data)
}

func (f *sealedFetch) parents() parentsOf {
	return func(id object.ID) ([]object.ID, error) {
		c, err := f.commit(id)
		if err != nil {
			return nil, err
		}
		return c.Parents, nil
	}
}

// when is the time of a commit, zero for what is none.
func (f *sealedFetch) when(id object.ID) time.Time {
	c, err := f.commit(id)
	if err != nil {
		return time.Time{}
	}
	return c.Committer.When
}
