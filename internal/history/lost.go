package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Loss is one thing that a repair has removed from the history because the store had lost an object
// and found no copy of it.
type Loss struct {
	Path        state.Path `json:"path,omitempty"` // from the root
	When        time.Time  `json:"when"`
	Kind        string     `json:"kind"`                  // "path", "checkpoint", "operation", "ref", or "aside": a pack or file that was set aside
	Ref         string     `json:"ref,omitempty"`         // the line that it was on, or the ref
	Checkpoint  string     `json:"checkpoint,omitempty"`  // the commit as it was; of a path, the newest that it is lost in
	Now         string     `json:"now,omitempty"`         // of a ref: where it leads now
	Checkpoints []string   `json:"checkpoints,omitempty"` // of a path: the commits that it is lost in, as they are now
	Text        string     `json:"text"`
}

// Losses lists everything that repairs of this store have removed, oldest repair first.
func (r *Store) Losses() ([]Loss, error) {
	data, err := r.DB.ReadPrivate(odb.PrivateLost)
	if errors.Is(err, odb.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Loss
	for line := range bytes.Lines(data) {
		var l Loss
		if err := json.Unmarshal(line, &l); err == nil { // a torn line is skipped
			list = append(list, l)
		}
	}
	return list, nil
}

// RecordLosses appends to the list.
func (r *Store) RecordLosses(l *Locked, more []Loss) error {
	r.Holds(l)
	data, err := r.DB.ReadPrivate(odb.PrivateLost)
	if err != nil && !errors.Is(err, odb.ErrNotFound) {
		return err
	}
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	w.Write(data)
	enc := json.NewEncoder(w)
	for _, l := range more {
		l.When = r.Now().UTC()
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return r.DB.WritePrivate(odb.PrivateLost, out.Bytes())
}

// withoutLost removes the ids of checkpoints that a repair has removed. Such a commit may exist
// until the next cleaning, but its state is incomplete.
func (r *Store) withoutLost(ids []object.ID) []object.ID {
	list, err := r.Losses()
	if err != nil || len(list) == 0 {
		return ids
	}
	cut := make(map[string]bool)
	for i := range list {
		if list[i].isCut() {
			cut[list[i].Checkpoint] = true
		}
	}
	return slices.DeleteFunc(ids, func(id object.ID) bool { return cut[id.String()] })
}

// isCut reports whether a commit was removed from its line.
func (l *Loss) isCut() bool { return l.Kind == "checkpoint" || l.Kind == "operation" }

// LossOf says how a repair has removed a commit, given the beginning of its id, or a ref. It
// returns "" if no repair has.
func (r *Store) LossOf(name string) string {
	list, err := r.Losses()
	if err != nil {
		return ""
	}
	for i := range list {
		l := &list[i]
		if l.isCut() && strings.HasPrefix(l.Checkpoint, name) || l.Kind == "ref" && l.Ref == name && l.Now == "" {
			return l.Text + " (cairn doctor --fix cut it out)"
		}
	}
	return ""
}

// LossOfPath says in how many checkpoints a path is lost.
func LossOfPath(path string, checkpoints []string) string {
	newest := checkpoints[len(checkpoints)-1]
	if len(checkpoints) == 1 {
		return fmt.Sprintf("%s is lost in checkpoint %s", path, newest)
	}
	return fmt.Sprintf("%s is lost in %s, the last of which is %s", path, wording.Count(len(checkpoints), "checkpoint"), newest)
}

// LineText returns a ref's name for people.
func LineText(ref string) string {
	for prefix, what := range map[string]string{
		RefTracks: "the line of ", RefPins: "the pin ", RefSessions: "the session ",
		RefRemotes: "the fetched line ", RefImported: "the imported checkpoint ",
	} {
		if rest, ok := strings.CutPrefix(ref, prefix); ok {
			return what + rest
		}
	}
	if ref == RefOperations {
		return "the list of operations"
	}
	if ref == RefTests {
		return "the results of tests"
	}
	return "the ref " + ref
}
