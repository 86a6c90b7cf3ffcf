package gitrestore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestLocksOfAKilledGit: an Applier that goes on with a plan removes the locks that a killed git has left
// in a transaction, and carries the plan out. One that begins a plan leaves them: a living git may hold
// them.
func TestLocksOfAKilledGit(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	for _, format := range knownFormats(t) {
		locks := []string{"refs/heads/a.lock", "packed-refs.lock"}
		if isReftable(format) {
			locks = []string{"reftable/tables.list.lock", "reftable/0x000000000001-0x000000000002-0a1b2c3d.ref.lock"}
		}
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, formats[format]...)
			before, look := w.record(), w.look()
			w.git("branch", "-q", "-D", "a", "b")
			p := Make(before, nil, w.record(), Parts{})
			was := w.git("for-each-ref")
			for _, name := range locks {
				w.write(filepath.Join(".git", filepath.FromSlash(name)), "")
			}
			if _, err := w.Apply(context.Background(), p); err == nil {
				t.Error("carried out beside the locks of another git")
			}
			if got := w.git("for-each-ref"); got != was {
				t.Errorf("refs\n%s\nwere\n%s", got, was)
			}
			w.Resume = true
			failures, err := w.Apply(context.Background(), p)
			if err != nil || len(failures) > 0 {
				t.Fatal(failures, err)
			}
			w.same("resumed", look)
			for _, name := range locks {
				if _, err := os.Lstat(filepath.Join(w.dir, ".git", filepath.FromSlash(name))); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}
