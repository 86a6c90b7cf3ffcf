package capture

import (
	"errors"

	"github.com/seed-fb9cbc17/cairn/internal/watch"
)

// WatchState describes how the next capture of a Repo finds changes.
type WatchState struct {
	On          bool   `json:"on"`               // directories without events are not scanned
	Directories int    `json:"directories"`      // number of directories under watch
	Reason      string `json:"reason,omitempty"` // why the next capture scans everything
	Limit       string `json:"sysctl,omitempty"` // name of the system's setting (sysctl) that would have to be raised
}

// Watching describes how the next capture finds changes. Without Options.Watch it scans everything.
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
