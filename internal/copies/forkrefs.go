package copies

import (
	"context"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// refs lists the refs of the new store, sorted by name. Left out are those of this directory alone, and
// sessions of several directories.
func (f *fork) refs(ctx context.Context, batch *odb.Batch) ([]odb.RefUpdate, error) {
	own, err := f.DB.Refs(history.RefRoot)
	if err != nil {
		return nil, err
	}
	begin := odb.RefUpdate{Name: history.RefForked, ID: history.IDOf(f.start)}
	var refs []odb.RefUpdate
	for _, ref := range own {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if begin.Name != "" && ref.Name >= begin.Name {
			refs, begin.Name = append(refs, begin), ""
		}
		if f.belongs(ref) {
			refs = append(refs, odb.RefUpdate{Name: ref.Name, ID: ref.ID})
		}
	}
	if begin.Name != "" {
		refs = append(refs, begin)
	}
	// Captures of the fork hold what this tree has, whatever the ignore rules say: the fork may lack the repository that
	// tracks some of it.
	refs = withRef(refs, odb.RefUpdate{Name: history.RefDisk, ID: history.TreeOf(f.start)})
	if history.TreeOf(f.start) == history.TreeOf(f.present) || f.start.ID == f.present.ID {
		return refs, nil
	}
	op, after, err := f.operation(ctx, batch)
	if err != nil {
		return nil, err
	}
	refs = withRef(refs, odb.RefUpdate{Name: f.CurrentLine(), ID: after})
	return withRef(refs, odb.RefUpdate{Name: history.RefOperations, ID: op}), nil
}

// withRef sets a ref in a sorted list.
func withRef(refs []odb.RefUpdate, u odb.RefUpdate) []odb.RefUpdate {
	for i := range refs {
		if refs[i].Name == u.Name {
			refs[i] = u
			return refs
		}
		if refs[i].Name > u.Name {
			return append(refs[:i:i], append([]odb.RefUpdate{u}, refs[i:]...)...)
		}
	}
	return append(refs, u)
}

// belongs reports whether a ref is part of the history that a fork goes on with.
func (f *fork) belongs(ref odb.Ref) bool {
	switch {
	case ref.Err != nil:
		f.Log.Warn("not forked", "ref", ref.Name, "error", ref.Err)
		return false
	case ref.Name == history.RefDisk, ref.Name == history.RefHeld, ref.Name == history.RefBefore, ref.Name == history.RefForked,
		strings.HasPrefix(ref.Name, history.RefForks), strings.HasPrefix(ref.Name, history.RefSignatures):
		return false // a signature names the store that it is about
	case strings.HasPrefix(ref.Name, history.RefSessions):
		tip, err := f.ReadLineEvent(ref.ID)
		if err != nil {
			f.Log.Warn("not forked", "ref", ref.Name, "error", err)
			return false
		}
		if d := lineOf(tip); d.several() {
			f.res.NotForked = append(f.res.NotForked, d.Now.ID)
			return false
		}
	}
	return true
}
