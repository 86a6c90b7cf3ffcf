package cairn_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// V13: where the value of a ref is lost, its checkpoints are found again.
func TestV13_TornRefFindsItsLine(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for what, content := range map[string]string{"emptied": "", "torn": "12345", "of no object": strings.Repeat("1", 40) + "\n"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newLostWorld(t)
			for _, line := range [][]string{w.today, w.days, w.line} {
				w.tear(line[len(line)-1], content)
			}
			if _, err := w.repo().Check(t.Context(), cairn.CheckOptions{Fix: true}); err != nil {
				t.Fatal(err)
			}
			for _, line := range [][]string{w.today, w.days, w.line} {
				for _, id := range line {
					if !slices.Contains(strings.Fields(w.o.In(w.store, "rev-list", "--all")), id) {
						t.Errorf("no ref leads to %s, %d of its line", id, slices.Index(line, id))
					}
				}
			}
			again, err := w.repo().Check(t.Context(), cairn.CheckOptions{})
			if err != nil || len(again) > 0 {
				t.Errorf("after the repair: %+v, %v", again, err)
			}
			w.o.In(w.store, "fsck", "--strict", "--full", "--no-dangling")
			w.trackAll()
		})
	}
}

// tear overwrites the ref of a line, which lies in a file of its own, and leads to the tip.
func (w *lostWorld) tear(tip, content string) {
	w.Helper()
	for line := range strings.Lines(w.o.In(w.store, "for-each-ref", "--format=%(objectname) %(refname)", "refs/cairn/tracks", "refs/cairn/sessions")) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if id != tip {
			continue
		}
		file := filepath.Join(w.store, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			w.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			w.Fatal(err)
		}
		return
	}
	w.Fatalf("no ref leads to %s", tip)
}
