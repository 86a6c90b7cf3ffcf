package cairn

import (
	"context"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/purge"
	"github.com/seed-fb9cbc17/cairn/internal/retention"
)

// CleanOptions controls a cleaning.
type CleanOptions = retention.CleanOptions

// CleanResult is the answer of Clean.
type CleanResult = retention.CleanResult

// KeptRule is what one rule of Retention.Keep keeps.
type KeptRule = retention.KeptRule

// Usage is the size and the content of a store.
type Usage = retention.Usage

// Clean removes the checkpoints that opt allows to remove, and repacks. It holds the lock for
// moments only, and a waiting process gets it first.
//
// If the store cannot be read as a whole, lines are removed but no objects; Blocked says why. The
// error wraps ErrBusy if another process is cleaning, and ErrNoSpace if there is no room for the
// cleaning itself.
func (r *Repo) Clean(ctx context.Context, opt CleanOptions) (*CleanResult, error) {
	return r.cleaner.Clean(ctx, opt)
}

// CleanIfDue cleans if the last cleaning, finished or not, began at least every ago and no other
// process uses or cleans the store. Otherwise it returns nil.
func (r *Repo) CleanIfDue(ctx context.Context, keep Retention, every time.Duration) (*CleanResult, error) {
	return r.cleaner.CleanIfDue(ctx, keep, every)
}

// Usage measures the store. It counts the checkpoints and lines that can be read.
func (r *Repo) Usage(ctx context.Context) (*Usage, error) {
	return r.cleaner.Usage(ctx)
}

// PurgeResult is the answer of Purge.
type PurgeResult = purge.PurgeResult

// PurgeHolder is another store of the project that holds purged contents.
type PurgeHolder = purge.Holder

// Purge removes the contents of paths, and of everything below them, from the whole history:
// checkpoints, sessions, operations, pins, imports and lines of other stores. The checkpoints that
// held them record the paths as present but not captured, so going back leaves the paths alone.
// Other stores of the project, such as those of forks, keep them, and the result names these.
// These checkpoints and their descendants get new ids. Look-ups with the old ids still find them.
// The paths are not captured again until Unpurge. The files in the root, and exported or pushed
// copies, are not touched.
//
// An absolute path outside the root is removed from what was saved for RevertOptions.Outside, and is not
// saved again until Unpurge. The error wraps ErrOutside if no step has saved it.
//
//  1. finish interrupted operations, drop the stat cache
//  2. write the new commits, in one pack
//  3. record the replaced ids, move the refs
//  4. drop every unreachable object, down to the last byte
//
// If the process dies in between, the store is sound, but some lines may still hold the paths: the
// same call completes the purge. The error wraps ErrNotFound if no checkpoint holds any of the paths. Every
// unreachable object goes then, too: contents of a deleted session may be among them.
func (r *Repo) Purge(ctx context.Context, paths []string) (*PurgeResult, error) {
	return r.rewriter.Purge(ctx, paths)
}

// PurgeSecretsOptions narrows PurgeSecrets.
type PurgeSecretsOptions = purge.PurgeSecretsOptions

// PurgeSecretsResult is the answer of PurgeSecrets.
type PurgeSecretsResult = purge.PurgeSecretsResult

// HistorySecret is a credential in contents of a path that the history holds. The credential itself is in
// no answer.
type HistorySecret = purge.HistorySecret

// PurgeSecrets looks for credentials, by the rules of Options.SecretRules, in all contents that the
// history holds, those that no capture has looked at included. It removes the contents that have one as
// Purge removes paths: other contents of the same paths stay. A path whose file still has removed contents
// is not captured until Unpurge, unless Options.Secrets leaves such files out. If nothing is found, only
// contents go that nothing leads to. If the process dies, the same call completes the purge. The error wraps
// ErrNotFound if no checkpoint holds any of the paths; NotFound lists single ones.
func (r *Repo) PurgeSecrets(ctx context.Context, opt PurgeSecretsOptions) (*PurgeSecretsResult, error) {
	return r.rewriter.PurgeSecrets(ctx, opt)
}

// PurgedPaths lists the purged paths, from the root. They are not captured. Where the list cannot be read, it is
// empty, the log has a warning, and captures fail with ErrCorrupt.
func (r *Repo) PurgedPaths() []string {
	list, err := r.store.PurgedPaths()
	if err != nil {
		r.store.Log.Warn("purged paths are not known", "error", err)
	}
	return list
}

// Unpurge allows captures of purged paths again. Their old contents stay gone. A path that was not
// purged is ErrNotFound.
func (r *Repo) Unpurge(ctx context.Context, paths []string) error {
	return r.rewriter.Unpurge(ctx, paths)
}
