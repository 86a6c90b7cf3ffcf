package odb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// A batch sets refs, on file systems that keep the order of renames and on others, flushed or
// not, with objects and without.
func TestCommitWithRefs(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{true, false} {
		for _, inOrder := range []bool{true, false} {
			t.Run(fmt.Sprintf("sync=%v,inOrder=%v", sync, inOrder), func(t *testing.T) {
				t.Parallel()
				db := newStore(t)
				db.opt.NoSync = !sync
				db.inOrder = func() bool { return inOrder }
				b := db.NewBatch()
				id, err := b.Add(object.Blob, []byte("x"))
				must(t, err)
				must(t, b.Commit(RefUpdate{"refs/cairn/a", id}, RefUpdate{"refs/cairn/deep/er/b", id}))
				must(t, db.NewBatch().Commit(RefUpdate{"refs/cairn/c", id}))
				must(t, db.SetRefs())
				for _, name := range []string{"refs/cairn/a", "refs/cairn/deep/er/b", "refs/cairn/c"} {
					if got, err := db.Ref(name); err != nil || got != id {
						t.Errorf("%s: %s, %v", name, got, err)
					}
				}
				if has, err := db.Has(id); err != nil || !has {
					t.Errorf("the object is not there: %v", err)
				}
				noTemps(t, db)
			})
		}
	}
}

// A ref that cannot be set keeps the batch from being written.
func TestCommitWithBadRefs(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]func(id object.ID) RefUpdate{
		"name":     func(id object.ID) RefUpdate { return RefUpdate{"refs/cairn/../b", id} },
		"no id":    func(object.ID) RefUpdate { return RefUpdate{"refs/cairn/b", object.ID{}} },
		"conflict": func(id object.ID) RefUpdate { return RefUpdate{"refs/cairn/packed/below", id} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newStore(t)
			known := object.Sum(object.Blob, []byte("packed"))
			must(t, os.WriteFile(db.path("packed-refs"), fmt.Appendf(nil, "%s refs/cairn/packed\n", known), 0o600))
			b := db.NewBatch()
			id, err := b.Add(object.Blob, []byte("x"))
			must(t, err)
			if err := b.Commit(RefUpdate{"refs/cairn/good", id}, bad(id)); err == nil {
				t.Fatal("committed")
			}
			if has, err := db.Has(id); err != nil || has {
				t.Errorf("the object is there (%v)", err)
			}
			if _, err := db.Ref("refs/cairn/good"); !errors.Is(err, ErrNotFound) {
				t.Errorf("the good ref is there: %v", err)
			}
			noTemps(t, db)
		})
	}
}

// noTemps fails if temporary files are left in the store.
func noTemps(t *testing.T, db *DB) {
	t.Helper()
	for _, dir := range []string{privateDir, packDir, "refs", filepath.Join("refs", "cairn")} {
		names, err := readNames(db.path(dir))
		must(t, err)
		for _, name := range names {
			if strings.HasPrefix(name, atomicfile.Prefix) || strings.HasPrefix(name, pack.TempPrefix) {
				t.Errorf("%s is left in %s", name, dir)
			}
		}
	}
}
