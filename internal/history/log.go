package history

import (
	"context"
	"iter"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// LogOptions selects checkpoints. The zero value selects all of this store's own.
type LogOptions struct {
	Paths        []string  // that change any of these paths, or a path below them
	Since, Until time.Time // of this time; zero = any
	Text         string    // that change how often a file contains this text, see Paths

	// Fetched selects the checkpoints of other stores that a fetch has brought, and imported ones, instead of
	// this store's own. Checkpoint.From says whose they are.
	Fetched bool
}

// LogOf yields the checkpoints that Checkpoints yields and opt selects, newest first. Every change of
// the paths, or of how often the text is there, is told once: by the checkpoint on whose line it
// shows, or by the first one that has it. Of several such checkpoints those count whose author is
// not the default one. If no checkpoint ever had one of the paths, the last error wraps
// state.ErrNotFound.
func (r *Store) LogOf(ctx context.Context, opt LogOptions) iter.Seq2[*Checkpoint, error] {
	if opt.Fetched {
		return r.fetchedLog(ctx, opt)
	}
	return r.logOf(ctx, ownLines, opt)
}

// logOf is LogOf with the lines to select from. All of them are states of one disk.
func (r *Store) logOf(ctx context.Context, of lines, opt LogOptions) iter.Seq2[*Checkpoint, error] {
	return func(yield func(*Checkpoint, error) bool) {
		scope, err := r.ScopeOf(opt.Paths)
		if err != nil {
			yield(nil, err)
			return
		}
		l := &pathLog{repo: r, ctx: ctx, opt: opt, of: of, scope: scope, counts: make(map[object.ID]int)}
		for _, path := range opt.Paths {
			rel, err := r.Rel(path)
			if err != nil {
				yield(nil, err)
				return
			}
			if rel == "" {
				l.finders, l.opt.Paths = nil, nil
				break
			}
			l.finders = append(l.finders, r.NewPathFinder(rel))
		}
		l.walk(yield)
	}
}

// aheadCheckpoints is how many checkpoints are read before the one that is looked at.
const aheadCheckpoints = 256

// ahead yields what walk yields, which runs in a goroutine of its own: reading commits and reading
// trees take about as long.
func ahead(ctx context.Context, walk func(context.Context) iter.Seq2[*Checkpoint, error]) iter.Seq2[*Checkpoint, error] {
	type result struct {
		c   *Checkpoint
		err error
	}
	return func(yield func(*Checkpoint, error) bool) {
		results, stop := make(chan result, aheadCheckpoints), make(chan struct{})
		go func() {
			defer close(results)
			for c, err := range walk(ctx) {
				select {
				case results <- result{c, err}: // also the error of a context that has ended
				case <-stop:
					return
				}
			}
		}()
		defer func() {
			close(stop)
			for range results { // until the goroutine has ended
			}
		}()
		for r := range results {
			if !yield(r.c, r.err) {
				return
			}
		}
	}
}
