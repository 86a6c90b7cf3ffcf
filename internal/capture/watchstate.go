package capture

import (
	"errors"

	"github.com/seed-fb9cbc17/cairn/internal/watch"
)

// WatchState says how the next capture of a Repo finds what has changed.
type WatchState struct {
	On          bool   `json:"on"`               // where nothing happened it need not look
	Directories int    `json:"directories"`      // under watch
	Reason      string `json:"reason,omitempty"` // why it looks at everything
	Limit       string `json:"sysctl,omitempty"` // the setting of the system, as sysctl has it, that would have to be raised
}

// Watching tells how the next capture finds what has changed. Without Options.Watch it
// looks at everything.
func (r *Capturer) Watching() WatchState {
	w := r.Watch
	if w == nil {
		return WatchState{Reason: "not asked for"}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		s := WatchState{Reason: w.failed.Error()}
		var limit *watch.LimitError
		if errors.As(w.failed, &limit) {
			s.Limit = limit.Name
		}
		return s
	}
	s := WatchState{On: w.sure, Reason: w.reason}
	if w.watcher != nil {
		s.Directories = w.watcher.Watched()
	}
	if !s.On && s.Reason == "" {
		s.Reason = "nothing captured yet"
	}
	return s
}
