package purge

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/signature"
)

// Rewritten is a history with new commit ids. Its objects are in a batch.
type Rewritten struct {
	First    []odb.Ref               // that move before any other
	Refs     []odb.Ref               // with their new values
	Dropped  []string                // refs to delete
	Commits  map[object.ID]object.ID // every visited commit and its new id
	Ends     []object.ID             // commits whose parents no longer count
	Replaced map[object.ID]object.ID
	Journals []odb.Journal
	Paths    int // that went
}

// ReplaceHistory replaces the store's history by a rewritten one. If the process dies on the way,
// the store is sound and the same call completes the work. beforeRefs runs after all objects are
// written and before the first ref moves.
func (r *Rewriter) ReplaceHistory(ctx context.Context, l *history.Locked, batch *odb.Batch, w Rewritten, beforeRefs func() error) error {
	r.Holds(l)
	ends, err := r.DB.Shallow()
	if err != nil {
		return err
	}
	for _, id := range ends {
		if now, ok := w.Commits[id]; ok && !now.IsZero() {
			ends = append(ends, now)
		}
	}
	if err := batch.Commit(); err != nil {
		return err
	}
	if err := r.DB.SetShallow(append(ends, w.Ends...)); err != nil {
		return err
	}
	for _, ref := range w.First {
		if err := r.moveRef(ref); err != nil {
			return err
		}
	}
	if err := r.RecordReplaced(l, w.Replaced); err != nil {
		return err
	}
	if err := beforeRefs(); err != nil {
		return err
	}
	rewritings := signature.Ref(signature.Rewritings)
	if slices.Contains(w.Dropped, rewritings) { // it cannot be read, so a new list begins
		if err := r.DB.DeleteRef(rewritings); err != nil {
			return err
		}
	}
	if err := signature.Rewriting(ctx, r.Store, l, w.Commits, w.Paths); err != nil {
		return fmt.Errorf("record the new ids: %w", err)
	}
	r.FreshIndex(l) // it names the contents
	for _, ref := range w.Refs {
		if ref.Name == rewritings {
			continue // its new statement is there
		}
		if err := r.moveRef(ref); err != nil {
			return err
		}
	}
	for _, name := range w.Dropped {
		if name == rewritings {
			continue
		}
		if err := r.DB.DeleteRef(name); err != nil {
			return err
		}
	}
	for _, j := range w.Journals {
		if err := r.DB.WriteJournal(j.Name, j.Data, nil); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rewriter) moveRef(ref odb.Ref) error {
	if now, err := r.DB.Ref(ref.Name); err == nil && now == ref.ID {
		return nil
	}
	return r.DB.SetRef(ref.Name, ref.ID)
}

// JournalsNaming returns the journals that mentions changes, with their new content.
func (r *Rewriter) JournalsNaming(mentions func(string) (string, error)) ([]odb.Journal, error) {
	all, err := r.DB.Journals()
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

// ReplaceIDs replaces every object id in a text by the one that now returns for it.
func ReplaceIDs(text string, now func(object.ID) (object.ID, error)) (string, error) {
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
