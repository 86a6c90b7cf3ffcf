package verify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// sessionRecord is the part of a session's record that links its checkpoints. Package session writes it.
type sessionRecord struct {
	Events []struct {
		Kind  string     `json:"kind"`
		Step  string     `json:"step"`
		State *lineState `json:"state"`
	} `json:"events"`
	Now struct {
		ID string `json:"id"`
		At int64  `json:"at"`
	} `json:"now"`
}

// lineState is a state that a step began or ended with, where it is not that of the checkpoint.
type lineState struct{ ID, Hash string }

// recorded is a checkpoint of a session's line.
type recorded struct {
	id     object.ID
	commit *commit
	line   history.LineRecord
	rec    sessionRecord
}

// ofSession returns the name that the ref of a session has in the store that made it, "" for a ref of
// another line.
func ofSession(ref string) string {
	if fetched, ok := strings.CutPrefix(ref, history.RefRemotes); ok {
		_, name, _ := strings.Cut(fetched, "/")
		ref = history.RefRoot + name
	}
	if !strings.HasPrefix(ref, history.RefSessions) {
		return ""
	}
	return ref
}

// records compares the records of a session's line with its chain. name is that of its ref in the store
// that made it.
func (v *verifier) records(ref odb.Ref, name string) {
	line, whole := v.chain(ref.ID)
	v.named(ref, name, line)
	begun := make(map[string]bool)
	var last *recorded
	for i := range line {
		e := &line[i]
		v.reverts(e, whole)
		if e.rec.Now.ID == "" {
			continue
		}
		if last != nil && last.rec.Now.ID == e.rec.Now.ID && e.rec.Now.At < last.rec.Now.At {
			v.fault(FindLink, e.id, "checkpoint %s says that it is older than %s, which is before it", e.id, last.id)
		}
		last = e
		v.steps(e, begun, whole)
	}
}

// chain returns the checkpoints of a line that were checked, the oldest first, as far as they have
// records. whole is false if the line has older ones.
func (v *verifier) chain(tip object.ID) (line []recorded, whole bool) {
	whole = true
	for id := tip; ; {
		c := v.commits[id]
		if c == nil { // too old, or a finding
			whole = false
			break
		}
		if e, ok := v.record(id, c); ok {
			line = append(line, e)
		}
		if len(c.parents) == 0 {
			whole = whole && len(c.data.Parents) == 0
			break
		}
		id = c.parents[0]
	}
	slices.Reverse(line)
	return line, whole
}

// record reads the record of a checkpoint. ok is false for one without.
func (v *verifier) record(id object.ID, c *commit) (e recorded, ok bool) {
	value := c.data.Header(history.LineHeader)
	if value == "" {
		return e, false
	}
	e = recorded{id: id, commit: c}
	err := json.Unmarshal([]byte(value), &e.line)
	if err == nil && len(e.line.Record) > 0 {
		err = json.Unmarshal(e.line.Record, &e.rec)
	}
	if err != nil {
		v.fault(FindRecord, id, "record of checkpoint %s: %v", id, err)
	}
	return e, err == nil
}

// named compares the name of a session's ref with the newest record. A line that was begun again has a
// suffix elsewhere.
func (v *verifier) named(ref odb.Ref, name string, line []recorded) {
	for _, e := range slices.Backward(line) {
		id := e.rec.Now.ID
		if id == "" {
			continue
		}
		if want := history.LineRef(id); name != want && !strings.HasPrefix(name, want+"-") {
			v.fault(FindLink, e.id, "%s leads to session %q", ref.Name, id)
		}
		return
	}
}

// reverts checks that the states of a revert are there.
func (v *verifier) reverts(e *recorded, whole bool) {
	for _, id := range []string{e.line.Before, e.line.Wanted} {
		if id != "" && whole && !e.commit.gone && !v.holds(id) {
			v.fault(FindLink, e.id, "checkpoint %s is a revert of %s, which is missing", e.id, id)
		}
	}
}

// steps checks that every step that ends has begun, and that the states of steps are what they say.
func (v *verifier) steps(e *recorded, begun map[string]bool, whole bool) {
	for _, ev := range e.rec.Events {
		switch ev.Kind {
		case "step":
			begun[ev.Step] = true
		case "end":
			if whole && !begun[ev.Step] {
				v.fault(FindLink, e.id, "checkpoint %s ends step %q, which no checkpoint before it begins", e.id, ev.Step)
			}
		}
		if ev.State == nil {
			continue
		}
		if tree, ok := v.stateOf(ev.State.ID); ok && tree != ev.State.Hash {
			v.fault(FindLink, e.id, "checkpoint %s names state %s of %s, which has %s", e.id, ev.State.Hash, ev.State.ID, tree)
		}
	}
}

// operations compares the records of operations with their parents.
func (v *verifier) operations(tip object.ID) {
	for id := tip; ; {
		c := v.commits[id]
		if c == nil || len(c.parents) < 2 {
			return
		}
		var rec history.OperationRecord
		if err := json.Unmarshal([]byte(c.data.Header(history.OperationHeader)), &rec); err != nil {
			v.fault(FindRecord, id, "record of operation %s: %v", id, err)
		} else if states := c.parents[len(c.parents)-2:]; states[0].String() != rec.Before || states[1].String() != rec.After {
			v.fault(FindLink, id, "operation %s went from %s to %s, and its record says from %s to %s", id, states[0], states[1], rec.Before, rec.After)
		}
		if len(c.parents) == 2 {
			return
		}
		id = c.parents[0]
	}
}

// String is the text of a note for people.
func (n Note) String() string {
	if n.Ref == "" {
		return n.Text
	}
	return fmt.Sprintf("%s: %s", history.LineText(n.Ref), n.Text)
}
