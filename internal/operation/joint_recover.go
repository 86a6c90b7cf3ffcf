package operation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// wholeJoint reports whether the operation of an interrupted journal has begun: each of the other
// roots has its journal, or its record. Otherwise no root has changed. No root finishes then, because
// a journal that is missing stays missing.
func (r *Operator) wholeJoint(ctx context.Context, j *journal) (bool, error) {
	if j.Joint == nil || j.Joint.Begun {
		return true, nil
	}
	for _, root := range r.Elsewhere(j.Joint.Roots) {
		if has, err := r.hasShare(ctx, root, j.Joint.ID); err != nil || !has {
			return false, otherRoot(root, r.Root, err)
		}
	}
	return true, nil
}

// hasShare reports whether the store of another root has a share of a joint operation. It takes no
// lock: the process that held all of them is dead. A record is written before its journal goes, so a
// reader that looks for the journal first misses neither.
func (r *Operator) hasShare(ctx context.Context, root, id string) (bool, error) {
	db, err := odb.Open(state.StorePath(r.Opt.DataDir, root), root, odb.Options{})
	if errors.Is(err, odb.ErrNotStore) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%w: %w", state.ErrStore, err)
	}
	defer db.Close()
	if has, err := hasJournal(db, id); err != nil || has {
		return has, err
	}
	return r.hasRecord(ctx, db, root, id)
}

// hasRecord reports whether a store has the record of a share.
func (r *Operator) hasRecord(ctx context.Context, db *odb.DB, root, id string) (bool, error) {
	other := history.New(r.Opt, root)
	other.Use(db)
	share, _, err := other.ShareOf(ctx, id)
	return share != nil, err
}

// hasJournal reports whether a store has the journal of a share.
func hasJournal(db *odb.DB, id string) (bool, error) {
	journals, err := db.Journals()
	for _, stored := range journals {
		var j journal
		if stored.Name != history.JournalName || stored.Err != nil || json.Unmarshal(stored.Data, &j) != nil {
			continue
		}
		if j.Joint != nil && j.Joint.ID == id {
			return true, nil
		}
	}
	return false, err
}

// tellUnfinished names the roots whose shares wait for a command there. This root is finished, which says nothing of
// them.
func (r *Operator) tellUnfinished(ctx context.Context, j *journal) {
	if j.Joint == nil {
		return
	}
	var waiting []string
	for _, root := range r.Elsewhere(j.Joint.Roots) {
		if r.isWaiting(ctx, root, j.Joint.ID) {
			waiting = append(waiting, root)
		}
	}
	if len(waiting) > 0 {
		r.Log.Warn("the operation is not finished in every directory; the next cairn command in each finishes it", "unfinished", waiting)
	}
}

// isWaiting reports whether another root has the journal of a share and no record. Errors are for a command there.
func (r *Operator) isWaiting(ctx context.Context, root, id string) bool {
	db, err := odb.Open(state.StorePath(r.Opt.DataDir, root), root, odb.Options{})
	if err != nil {
		return false
	}
	defer db.Close()
	if has, err := hasJournal(db, id); err != nil || !has {
		return false
	}
	done, err := r.hasRecord(ctx, db, root, id)
	return err == nil && !done
}

// dropShare drops the journal of a joint operation that has not begun. err is why that is not known.
func (r *Operator) dropShare(l *history.Locked, j *journal, err error) error {
	if err != nil {
		return err
	}
	r.Log.Info("dropped an interrupted operation that had not begun in every directory", "kind", j.Kind, "roots", j.Joint.Roots)
	return r.dropJournal(l)
}
