package history

import (
	"errors"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// compileNever compiles the deny list. Case is ignored, because a key is a key.
func compileNever(patterns []string) *ignore.Chain {
	return ignore.NewChain(ignore.Parse([]byte(strings.Join(patterns, "\n")+"\n"), true))
}

// denyList is what is never stored: Options.Never, and the paths that were purged.
type denyList struct {
	Chain  *ignore.Chain // nil = nothing is denied
	id     string        // names it: where it changes, it is applied to what was captured before, too
	purged []string      // the paths
	text   string        // of the file that holds these
}

// RefreshDenied has a Repo that stays open learn what was purged since, by itself or by
// others, and what was lifted. It is called before each capture.
func (r *Store) RefreshDenied() {
	last := r.Never.Load()
	text, err := r.DB.ReadPrivate(odb.PrivatePurged)
	if err != nil && !errors.Is(err, odb.ErrNotFound) {
		if last != nil {
			r.Log.Warn("list of purged paths not read: it is taken for what it was", "error", err)
			return
		}
		r.Log.Warn("list of purged paths not read: they may be captured again", "error", err)
	}
	if last != nil && last.text == string(text) {
		return
	}
	now := &denyList{purged: r.decodePurged(text), text: string(text)}
	if patterns := append(slices.Clip(r.Opt.Never), neverPatterns(now.purged)...); len(patterns) > 0 {
		now.Chain, now.id = compileNever(patterns), state.Checksum(strings.Join(patterns, "\n"))
	}
	r.Never.Store(now)
}

// NeverID is the id of the deny list, "" for an empty one.
func (r *Store) NeverID() string { return r.Never.Load().id }

func (r *Store) Denied(path string) bool {
	never := r.Never.Load().Chain
	return never != nil && never.Covers(path, false)
}
