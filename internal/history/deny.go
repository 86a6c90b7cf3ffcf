package history

import (
	"errors"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// compileNever compiles the deny list. Case is ignored: a secret file in other case is still
// secret.
func compileNever(patterns []string) *ignore.Chain {
	return ignore.NewChain(ignore.Parse([]byte(strings.Join(patterns, "\n")+"\n"), true))
}

// denyList holds the patterns and paths that are never stored: Options.Never, and the purged paths.
type denyList struct { // denyList holds the patterns of paths that are never stored: Options.Never and the purged paths.
	Chain  *ignore.Chain // nil = nothing is denied
	id     string        // checksum of the patterns; when it changes, the list is applied to earlier captures as well
	purged []string      // the purged paths
	text   string        // content of the file with the purged paths
}

// RefreshDenied reads the list of purged paths again, so that a Repo that stays open sees paths
// that this or another process has purged or unpurged. It is called before each capture.
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

// NeverID returns the checksum of the deny list, "" for an empty list.
func (r *Store) NeverID() string { return r.Never.Load().id }

// Denied reports whether the deny list covers the path of a file.
func (r *Store) Denied(path string) bool {
	never := r.Never.Load().Chain
	return never != nil && never.Covers(path, false)
}
