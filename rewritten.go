package cairn

import (
	"fmt"
	"regexp"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// rewritten is a history whose commits have new ids. Its objects are in a batch.
type rewritten struct {
	refs     []odb.Ref               // as they are to be
	dropped  []string                // refs that lead to nothing
	commits  map[object.ID]object.ID // every commit that was looked at, and its new id
	ends     []object.ID             // commits whose parents do not count from now on
	replaced map[object.ID]object.ID
	journals []odb.Journal
}

// takeRewritten makes a rewritten history the store's own. A process that dies on the way
// leaves a sound store: the same call does the rest. beforeRefs runs when all is written
// and no ref has moved.
func (r *Repo) takeRewritten(batch *odb.Batch, w rewritten, beforeRefs func() error) error {
	ends, err := r.db.Shallow()
	if err != nil {
		return err
	}
	for _, id := range ends {
		if now, ok := w.commits[id]; ok && !now.IsZero() {
			ends = append(ends, now)
		}
	}
	if err := batch.Commit(); err != nil {
		return err
	}
	if err := r.db.SetShallow(append(ends, w.ends...)); err != nil {
		return err
	}
	if err := r.recordReplaced(w.replaced); err != nil {
		return err
	}
	if err := beforeRefs(); err != nil {
		return err
	}
	r.freshIndex() // it names the contents
	for _, ref := range w.refs {
		if err := r.moveRef(ref); err != nil {
			return err
		}
	}
	for _, name := range w.dropped {
		if err := r.db.DeleteRef(name); err != nil {
			return err
		}
	}
	for _, j := range w.journals {
		if err := r.db.WriteJournal(j.Name, j.Data); err != nil {
			return err
		}
	}
	return nil
}

func (r *Repo) moveRef(ref odb.Ref) error {
	if now, err := r.db.Ref(ref.Name); err == nil && now == ref.ID {
		return nil
	}
	return r.db.SetRef(ref.Name, ref.ID)
}

// journalsNaming returns the journals that mentions changes, as they are to be.
func (r *Repo) journalsNaming(mentions func(string) (string, error)) ([]odb.Journal, error) {
	all, err := r.db.Journals()
	if err != nil {
		return nil, err
	}
	var changed []odb.Journal
	for _, j := range all {
		if j.Err != nil {
			return nil, fmt.Errorf("journal %s: %w", j.Name, j.Err)
		}
		text, err := mentions(string(j.Data))
		if err != nil {
			return nil, err
		}
		if text != string(j.Data) {
			changed = append(changed, odb.Journal{Name: j.Name, Data: []byte(text)})
		}
	}
	return changed, nil
}

var fullID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9a-f]{40}`) })

// replaceIDs replaces every id in a text by what now returns for it.
func replaceIDs(text string, now func(object.ID) (object.ID, error)) (string, error) {
	var failed error
	out := fullID().ReplaceAllStringFunc(text, func(digits string) string {
		id, err := object.ParseID(digits)
		if err != nil || failed != nil {
			return digits
		}
		to, err := now(id)
		if err != nil {
			failed = err
			return digits
		}
		return to.String()
	})
	return out, failed
}
