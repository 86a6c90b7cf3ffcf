package peers

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

const watchingHere = runtime.GOOS == "linux"

// watching is the library with Options.Watch, kept open as a server does.
type watching struct{ *library }

func newWatching(s Setting) *watching {
	w := &watching{newLibrary(s)}
	w.opt.Watch = true
	return w
}

// Adopt implements lendable.
func (w *watching) Adopt(store string) error {
	return errors.Join(w.Reset(), trees.CopyTree(store, w.opt.DataDir, trees.LinkNothing))
}

// Track fails where the next one would look at everything although the system could
// watch: that is another contender.
func (w *watching) Track() (string, error) {
	tree, err := w.library.Track()
	if err != nil {
		return "", err
	}
	if state := w.repo.Watching(); !state.On && watchingHere {
		return "", fmt.Errorf("not watching after a track: %s %s", state.Reason, state.Limit)
	}
	return tree, nil
}
