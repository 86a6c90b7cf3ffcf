package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Tracked reports whether the user's own repository has a file of the root under version control.
// Then every author of the repository can change that file. Without a readable index the result is
// true. It does not run git.
func Tracked(root, name string) (bool, error) { return capture.Tracked(root, name) }

// Limits are the limits in force. 0 means none.
type Limits = capture.Limits

// Partial is the reason why a checkpoint does not vouch for the whole root, "" if it does.
type Partial = state.Partial

// PartialTime: the deadline passed; unread paths are skipped as "unread".
const PartialTime = state.PartialTime

// PartialPaths: only the given paths were read.
const PartialPaths = state.PartialPaths

// Skipped is a path that is present but was not captured.
type Skipped = state.Skipped

// TrackOptions controls a Track. The zero value is the usual way.
type TrackOptions = capture.TrackOptions

// Track is the answer of Repo.Track.
type Track = capture.Track

// Reasons maps paths to errors. The JSON form of an error is its text. A decoded error has the text
// only.
type Reasons = capture.Reasons

// WatchState describes how the next capture of a Repo finds changes.
type WatchState = capture.WatchState

// Limits returns the limits of this Capturer.
func (r *Repo) Limits() Limits {
	return r.capturer.Limits()
}

// Track records the present state of the root as a checkpoint. If nothing has changed since the
// day's last checkpoint, it returns that one and writes nothing. On error there is no new
// checkpoint.
func (r *Repo) Track(ctx context.Context, opt TrackOptions) (*Track, error) {
	return r.capturer.Track(ctx, opt)
}

// Watching describes how the next capture finds changes. Without Options.Watch it scans everything.
func (r *Repo) Watching() WatchState {
	return r.capturer.Watching()
}
