package capture

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// IndexFile returns the paths of the stat cache.
func (r *Capturer) IndexFile() index.File {
	return index.File{Base: r.DB.PrivatePath("index"), Delta: r.DB.PrivatePath("index.delta"), Shared: r.DB.PrivatePath("index.shared")}
}

// loadIndex returns the stat cache. It returns an empty one if the file is damaged or a pack that
// holds its ids is gone.
func (r *Capturer) loadIndex(l *history.Locked) *index.Index {
	x, err := index.Load(r.IndexFile())
	if err == nil {
		if gone := lackedBy(x, r.DB.PackNames()); gone != "" {
			err = fmt.Errorf("pack %s is gone", gone)
		}
	}
	if err != nil {
		r.Log.Warn("stat cache dropped", "error", err)
		return r.FreshIndex(l)
	}
	return x
}

// FreshIndex removes the stat cache and returns an empty one. The files are removed so that a crash
// before the next save does not bring the old cache back. The shared base goes first:
// it names purged contents, and without it the base is none.
func (r *Capturer) FreshIndex(*history.Locked) *index.Index {
	f := r.IndexFile()
	for _, path := range []string{f.Shared, f.Base, f.Delta} {
		if err := r.DB.ClearPrivate(filepath.Base(path)); err != nil {
			r.Log.Warn("stat cache not dropped", "error", err)
		}
		os.Remove(path)
	}
	return index.New()
}

// patience is a factor: a Repo that watches folds packs within a track only when there are that
// many times more packs than usual. Below some 40 packs the redo log, which the fold empties, has
// room.
const patience = 4

func (r *Capturer) saveIndex(ctx context.Context, l *history.Locked, x *index.Index, aux auxiliary) error {
	r.Holds(l)
	if x.Dirty() && (r.Watch == nil || r.DB.Crowded(patience)) { // else see watchidle.go
		if _, err := r.DB.Fold(ctx); err != nil && ctx.Err() == nil && !state.IsNoSpace(err) {
			return fmt.Errorf("fold packs: %w", err)
		}
	}
	x.SetPrivate(r.DB.KnownPacks(), aux.encode())
	if err := r.write(x); err != nil {
		return fmt.Errorf("save the stat cache: %w", err)
	}
	r.rememberLast(l, x, aux)
	return nil
}
