package cairn_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// lostWorld is a store of two days' lines, a session's line, operations and pins, whose
// objects are files of their own, so that each can be lost.
type lostWorld struct {
	*aged
	o     *gittest.Oracle
	store string
	days  []string                     // checkpoints of the day before yesterday, oldest first
	today []string                     // checkpoints of today
	line  []string                     // checkpoints of a session
	want  map[string]map[string]string // by checkpoint: contents by path
}

func newLostWorld(t *testing.T) *lostWorld {
	w := &lostWorld{aged: newAged(t), want: make(map[string]map[string]string)}
	w.o = gittest.NewOracle(t)
	for i := range 4 {
		w.days = append(w.days, w.step(2*day, fmt.Sprint("day ", i)))
	}
	for i := range 3 {
		w.today = append(w.today, w.step(0, fmt.Sprint("today ", i)))
	}
	for i := range 4 {
		w.fill(fmt.Sprint("line ", i))
		err := access.Lines(w.repo()).Update(background, func(u *operation.LineUpdate) error {
			e, err := u.Append(background, "s", operation.LineAppend{Capture: true, Record: []byte(`{"now":{"id":"s"}}`)})
			if err == nil {
				w.line = append(w.line, e.ID)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.repo().Pin(background, w.days[1], "kept"); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{w.days[0], w.today[1], w.line[3]} {
		w.restoreAll(id)
	}
	w.store = w.repo().StoreDir()
	for _, ids := range [][]string{w.days, w.today, w.line} {
		for _, id := range ids {
			w.want[id] = w.contents(id)
		}
	}
	w.closeAll()
	w.explode()
	return w
}

// fill makes all files new.
func (w *lostWorld) fill(text string) {
	for _, path := range []string{"a", "d/x", "d/e/y", "only/one"} {
		w.write(path, text+" "+path)
	}
	w.write("same", "always the same")
}

func (w *lostWorld) step(ago time.Duration, text string) string {
	w.fill(text)
	w.time = time.Now().Add(-ago)
	got, err := w.at().Track(background, cairn.TrackOptions{Message: text})
	if err != nil {
		w.Fatal(err)
	}
	w.time = time.Now()
	return got.Checkpoint
}

// contents is what a checkpoint holds.
func (w *lostWorld) contents(id string) map[string]string {
	w.Helper()
	r := w.repo()
	all := make(map[string]string)
	for e, err := range r.List(background, id, "") {
		if err != nil {
			w.Fatalf("list %s: %v", id, err)
		}
		_, rc, err := r.OpenFile(background, id, e.Path)
		if err != nil {
			continue // a directory
		}
		data, err := io.ReadAll(rc)
		rc.Close()
		if err != nil {
			w.Fatalf("read %s of %s: %v", e.Path, id, err)
		}
		all[e.Path] = string(data)
	}
	return all
}

// explode makes every object a file of its own.
func (w *lostWorld) explode() {
	w.Helper()
	packs, err := filepath.Glob(filepath.Join(w.store, "objects", "pack", "*"))
	if err != nil || len(packs) == 0 {
		w.Fatalf("no packs: %v", err)
	}
	all := w.o.In(w.store, "cat-file", "--batch-all-objects", "--batch=%(objectname) %(objecttype) %(objectsize)")
	for all != "" {
		var id, kind string
		var size int
		head, rest, _ := strings.Cut(all, "\n")
		if _, err := fmt.Sscan(head, &id, &kind, &size); err != nil {
			w.Fatalf("cat-file says %q: %v", head, err)
		}
		w.writeLoose(id, fmt.Sprintf("%s %d\x00%s", kind, size, rest[:size]))
		all = rest[size+1:]
	}
	for _, path := range packs {
		if err := os.Remove(path); err != nil {
			w.Fatal(err)
		}
	}
}

// writeLoose writes an object as a file of its own.
func (w *lostWorld) writeLoose(id, data string) {
	w.Helper()
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, err := io.WriteString(z, data)
	path := filepath.Join(w.store, "objects", id[:2], id[2:])
	if err = errors.Join(err, z.Close(), os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
		w.Fatal(err)
	}
}

// object resolves a name as git does.
func (w *lostWorld) object(name string) string {
	w.Helper()
	return strings.TrimSpace(w.o.In(w.store, "rev-parse", name))
}

func (w *lostWorld) file(id string) string { return filepath.Join(w.store, "objects", id[:2], id[2:]) }

// lose removes objects, named as for git.
func (w *lostWorld) lose(names ...string) {
	w.Helper()
	for _, name := range names {
		if err := os.Remove(w.file(w.object(name))); err != nil {
			w.Fatal(err)
		}
	}
}

// unlike makes the disk hold nothing that a checkpoint holds.
func (w *lostWorld) unlike() { w.fill("unlike") }

func (w *lostWorld) check(opt cairn.CheckOptions) []cairn.Fault {
	w.Helper()
	found, err := w.repo().Check(background, opt)
	if err != nil {
		w.Fatalf("check %+v: %v", opt, err)
	}
	w.closeAll()
	return found
}

// mended checks a store that was mended: git and a second look find nothing, every checkpoint
// that was not cut holds what it held but for the paths that the list of losses names, and
// all commands work. It returns the losses.
func (w *lostWorld) mended() []cairn.Loss {
	w.Helper()
	if found := w.check(cairn.CheckOptions{Fix: true}); len(found) > 0 {
		w.Errorf("a second mending finds %+v", found)
	}
	if found := w.check(cairn.CheckOptions{}); len(found) > 0 {
		w.Errorf("a check after mending finds %+v", found)
	}
	losses, err := w.repo().Losses()
	if err != nil {
		w.Fatal(err)
	}
	w.sound()
	w.sameBut(losses)
	w.works()
	return losses
}

func (w *lostWorld) sameBut(losses []cairn.Loss) {
	w.Helper()
	for id, want := range w.want {
		c, err := w.repo().Lookup(background, id)
		cut := slices.ContainsFunc(losses, func(l cairn.Loss) bool { return l.Kind == "checkpoint" && l.Checkpoint == id })
		if cut != (err != nil) {
			w.Errorf("checkpoint %s: cut %v, looked up %v", id, cut, err)
		}
		if err != nil {
			continue
		}
		var lost []string
		for _, l := range losses {
			if l.Kind == "path" && slices.Contains(l.Checkpoints, c.ID) {
				lost = append(lost, string(l.Path))
			}
		}
		want = maps.Clone(want)
		maps.DeleteFunc(want, func(path, _ string) bool {
			return slices.ContainsFunc(lost, func(l string) bool { return path == l || strings.HasPrefix(path, l+"/") })
		})
		if got := w.contents(c.ID); !maps.Equal(got, want) {
			w.Errorf("checkpoint %s holds %v, want %v", id, got, want)
		}
		skipped, err := c.Skipped()
		if err != nil || len(skipped) != len(lost) {
			w.Errorf("checkpoint %s skips %v, %v, want %v", id, skipped, err, lost)
		}
		for _, s := range skipped {
			if s.Reason != "lost" || !slices.Contains(lost, string(s.Path)) {
				w.Errorf("checkpoint %s skips %+v", id, s)
			}
		}
	}
}

// works runs what was refused before.
func (w *lostWorld) works() {
	w.Helper()
	r := w.repo()
	w.fill("after")
	got, err := r.Track(background, cairn.TrackOptions{})
	if err != nil {
		w.Fatalf("track: %v", err)
	}
	before := w.manifest()
	w.fill("later")
	w.restoreAll(got.Checkpoint)
	gittest.AssertEqual(w, "restored", before, w.manifest())
	for range r.Operations(background) {
	}
	if _, err := r.Undo(background, cairn.RevertOptions{}); err != nil {
		w.Errorf("undo: %v", err)
	}
	if _, err := r.Purge(background, []string{"same"}); err != nil {
		w.Errorf("purge: %v", err)
	}
	w.clean(cairn.CleanOptions{Thorough: true})
}

func kinds(losses []cairn.Loss) map[string]int {
	n := make(map[string]int)
	for _, l := range losses {
		n[l.Kind]++
	}
	return n
}
