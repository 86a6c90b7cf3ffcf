package operation

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// TestRecoverWhereNothingCanBeRemoved: the temporary file of a killed operation stays in a directory that only takes
// additions. The path is a conflict then, and the journal does not stop every later command.
func TestRecoverWhereNothingCanBeRemoved(t *testing.T) {
	t.Parallel()
	store := statetest.NewStore(t)
	c := statetest.Track(t, store, statetest.NewState(t, store, map[string]string{"d/f": "f"}))
	r := &Operator{Capturer: capture.New(store, nil)}
	j := newJournal(NewToken(), opRequest{kind: "restore"}, history.IDOf(c), &plan.Plan{Changes: []apply.Change{
		{Path: "d/f", Action: apply.Create, Mode: object.Regular, Perm: 0o644, ID: blobID("f")},
	}})
	folder := filepath.Join(store.Root, "d")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, dir.TempName(j.Token, 0)), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	gittest.AppendOnly(t, folder)
	err := r.Locked(t.Context(), func(l *history.Locked) error {
		if err := r.writeJournal(l, j, nil); err != nil {
			return err
		}
		return r.RecoverOperations(t.Context(), l)
	})
	if err != nil {
		t.Error(err)
	}
	if all, err := r.DB.Journals(); err != nil || len(all) > 0 {
		t.Errorf("left are %v, %v", all, err)
	}
}
