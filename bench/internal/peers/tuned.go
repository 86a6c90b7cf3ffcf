package peers

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// tuned is the specification's sequence with settings of git that make it faster.
// The first track is the specification's own: they change nothing about it.
type tuned struct {
	*spec
	config [][2]string
}

var (
	untrackedCache = [][2]string{{"core.untrackedCache", "true"}, {"index.version", "4"}, {"feature.manyFiles", "true"}}
	fileMonitor    = append(untrackedCache[:len(untrackedCache):len(untrackedCache)], [2]string{"core.fsmonitor", "true"})
)

func newTuned(s Setting, config [][2]string) *tuned { return &tuned{newSpec(s), config} }

// Track sets the store up where there is none.
func (t *tuned) Track() (string, error) {
	if _, err := os.Stat(t.store); err != nil {
		if err := errors.Join(t.init(), t.configure(t.config...)); err != nil {
			return "", err
		}
	}
	return t.spec.Track()
}

// Adopt implements lendable: objects never change, so they are linked.
func (t *tuned) Adopt(store string) error {
	if err := trees.CopyTree(filepath.Join(store, filepath.Base(t.store)), t.store, trees.LinkBelow("objects")); err != nil {
		return err
	}
	return t.configure(t.config...)
}

// Close ends the process that git may have started for the monitor; where there is
// none, git fails.
func (t *tuned) Close() error {
	for _, pair := range t.config {
		if pair[0] != "core.fsmonitor" {
			continue
		}
		if _, err := t.plain("fsmonitor--daemon", "stop"); err != nil && !system.ExitedWith(err) {
			return err
		}
	}
	return nil
}
