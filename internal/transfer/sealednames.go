package transfer

import (
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/envelope"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// refs names the lines of a note in the quarantine as those of an open push, and adds the note.
func (f *sealedFetch) refs(note *envelope.Note, heads map[string]envelope.Head) error {
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
		if f.newer(RefIncoming+place+"/"+line, heads[line].ID) {
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
// commit counts, also where the line is a pin that was moved; of those of two notes, the one of the newer note.
func (f *sealedFetch) newer(line string, head object.ID) bool {
	id, err := f.q.Ref(line)
	switch {
	case err != nil || id == head:
		return false
	case head.IsZero() || f.leads(id, head):
		return true
	}
	return !f.named[line] && !f.leads(head, id) && f.when(id).After(f.when(head))
}

// when is the time of a commit of the quarantine or the store, zero for what is none.
func (f *sealedFetch) when(id object.ID) time.Time {
	_, data, err := f.q.Read(id)
	if err != nil {
		return time.Time{}
	}
	c, err := object.ParseCommit(data)
	if err != nil {
		return time.Time{}
	}
	return c.Committer.When
}

// leads reports whether a commit of the quarantine or the store leads to another one.
func (f *sealedFetch) leads(from, to object.ID) bool {
	seen := make(map[object.ID]bool)
	for queue := []object.ID{from}; len(queue) > 0; {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if id == to {
			return true
		}
		if kind, data, err := f.q.Read(id); !seen[id] && err == nil && kind == object.Commit {
			if c, err := object.ParseCommit(data); err == nil {
				queue = append(queue, c.Parents...)
			}
		}
		seen[id] = true
	}
	return false
}
