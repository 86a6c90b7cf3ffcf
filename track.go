package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Tracked reports whether the user's own repository has a file of the root under
// version control: whoever can change the repository can change it, too. Where the
// repository's index cannot be read it may be so. No git binary is asked.
func Tracked(root, name string) (bool, error) { return capture.Tracked(root, name) }

// Limits are the limits in force. 0 means none.
type Limits = capture.Limits

// Partial says why a checkpoint does not vouch for the whole root; "" if it does.
type Partial = state.Partial

// The kinds of partial checkpoints.
const PartialTime = state.PartialTime

const PartialPaths = state.PartialPaths

// Skipped is a path that is present but was not captured.
type Skipped = state.Skipped

// TrackOptions says how to track. The zero value is the usual way.
type TrackOptions = capture.TrackOptions

// Track is the answer of Repo.Track.
type Track = capture.Track

// Reasons maps paths to errors. In JSON an error is its text, and comes back as one
// that has no more than that.
type Reasons = capture.Reasons

// WatchState says how the next capture of a Repo finds what has changed.
type WatchState = capture.WatchState

// Limits returns the limits that captures of this Repo keep to.
func (r *Repo) Limits() Limits {
	return r.capturer.Limits()
}

// Track records the present state of the root as a checkpoint. When nothing at all
// has changed since the day's last one, that one is returned and nothing is
// written. On error there is no new checkpoint.
func (r *Repo) Track(ctx context.Context, opt TrackOptions) (*Track, error) {
	return r.capturer.Track(ctx, opt)
}

// Watching tells how the next capture finds what has changed. Without Options.Watch it
// looks at everything.
func (r *Repo) Watching() WatchState {
	return r.capturer.Watching()
}
