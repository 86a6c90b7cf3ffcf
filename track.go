package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Limits are the limits in force. NoLimit means none; 0 does not occur.
type Limits = capture.Limits

// Extent says for how much of the root a checkpoint vouches. "" is the whole root.
type Extent = state.Extent

// The extents of partial checkpoints.
const (
	ExtentTime  Extent = state.ExtentTime  // what was read before the deadline; unread paths are skipped as "unread"
	ExtentPaths Extent = state.ExtentPaths // the paths that Track was given
)

// SkippedPath is a path that is present but was not captured.
type SkippedPath = state.Skipped

// Secret is the place of a credential in a file. The credential itself is in no answer.
type Secret = state.Secret

// MaxMessage is the length of the longest message of a Track, in characters. Checkpoints of earlier releases may
// have longer ones.
const MaxMessage = capture.MaxMessage

// TrackOptions controls a Track. The zero value is the usual way.
type TrackOptions = capture.TrackOptions

// TrackResult is the answer of Repo.Track.
type TrackResult = capture.TrackResult

// Reasons maps paths to errors. The JSON form of an error is its text. A decoded error has the text
// only.
type Reasons = capture.Reasons

// WatchState describes how the next capture of a Repo finds changes.
type WatchState = capture.WatchState

// Limits returns the limits of this Repo.
func (r *Repo) Limits() Limits {
	return r.capturer.Limits()
}

// Track records the present state of the root as a checkpoint. If nothing has changed since the
// day's last checkpoint, and no session has a newer one of another state, it returns that one and
// writes nothing. On error there is no new checkpoint.
func (r *Repo) Track(ctx context.Context, opt TrackOptions) (*TrackResult, error) {
	return r.capturer.Track(ctx, opt)
}

// Watching describes how the next capture finds changes. Without Options.Watch it scans everything.
func (r *Repo) Watching() WatchState {
	return r.capturer.Watching()
}
