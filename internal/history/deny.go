package history

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// compileNever compiles the deny list. Patterns ignore case: a secret file in other case is still secret. A purged path
// is one file or directory, so its case counts where the system's file systems tell names by it.
func compileNever(patterns, purged []string, foldPurged bool) *ignore.Chain {
	parse := func(patterns []string, fold bool) *ignore.Patterns {
		return ignore.Parse([]byte(strings.Join(patterns, "\n")+"\n"), fold)
	}
	return ignore.NewChain(parse(neverPatterns(purged), foldPurged), parse(patterns, true))
}

// foldsCase reports whether file systems of this system usually take names that differ by case for the same one.
const foldsCase = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// denyList holds the patterns and paths that are never stored: Options.Never, and the purged paths.
type denyList struct {
	Chain  *ignore.Chain // nil = nothing is denied
	id     string        // checksum of the patterns; when it changes, the list is applied to earlier captures as well
	purged []string      // the purged paths
	text   string        // content of the file with the purged paths
	err    error         // why the purged paths are not known
}

// RefreshDenied reads the list of purged paths again, so that a Repo that stays open sees paths
// that this or another process has purged or unpurged. It is called before each capture. The error says that the
// purged paths are not known: a capture then could bring them back.
func (r *Store) RefreshDenied() error {
	last := r.Never.Load()
	text, err := r.DB.ReadPrivate(odb.PrivatePurged)
	switch {
	case errors.Is(err, odb.ErrNotFound):
		text, err = []byte("[]"), nil // a file that is empty is damaged
	case err != nil && last != nil && last.err == nil:
		r.Log.Warn("list of purged paths not read: it is taken for what it was", "error", err)
		return nil
	}
	if last != nil && err == nil && last.text == string(text) {
		return last.err
	}
	now := &denyList{text: string(text)}
	if err == nil {
		now.purged, err = decodePurged(text)
	}
	if err != nil {
		now.err = fmt.Errorf("%w: the list of purged paths, %s, cannot be read, and they could be captured again "+
			"(cairn doctor --fix sets it aside; then cairn purge PATH for each that is to stay away): %w",
			state.ErrCorrupt, r.DB.PrivatePath(string(odb.PrivatePurged)), err)
	}
	if len(r.Opt.Never)+len(now.purged) > 0 {
		now.Chain, now.id = compileNever(r.Opt.Never, now.purged, foldsCase), denyID(r.Opt.Never, now.purged)
	}
	r.Never.Store(now)
	return now.err
}

// denyID is the checksum of a deny list. With purged paths it is another one than that of releases before, which
// ignored the case of these, so that the list is applied again.
func denyID(patterns, purged []string) string {
	text := strings.Join(patterns, "\n")
	if len(purged) > 0 {
		text += "\x00" + strings.Join(purged, "\x00")
	}
	return state.Checksum(text)
}

// NeverID returns the checksum of the deny list, "" for an empty list.
func (r *Store) NeverID() string { return r.Never.Load().id }

// Denied reports whether the deny list covers the path of a file.
func (r *Store) Denied(path string) bool {
	never := r.Never.Load().Chain
	return never != nil && never.Covers(path, false)
}
