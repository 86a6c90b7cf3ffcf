// Package reviewed remembers what a reviewer decided about hunks: that they are accepted, and which
// operation took them back.
//
// The decisions are in one private file of the store. They name hunks and keep no object alive, so
// a cleaning removes states as if there were no review. The decisions about a session go when the
// session is deleted, and with the next change where a cleaning removed it. A purge of a path
// removes the decisions about it.
package reviewed

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Mark is one decision about a hunk. Its name in a diff and its path identify the hunk within the
// turn. A mark without a path is about the whole turn; in the place of the hunk it has the number of steps.
type Mark struct {
	Session   string     `json:"session,omitempty"` // "" = the turn is a range of checkpoints
	Turn      string     `json:"turn"`              // id of the message that begins it, or FROM..TO with the ids of commits
	Path      state.Path `json:"path,omitempty"`
	Hunk      string     `json:"hunk,omitempty"`
	Operation string     `json:"operation,omitempty"` // that took it back; "" = accepted
}

// Load lists the decisions. A damaged file counts as one without decisions.
func Load(r *history.Store) []Mark {
	data, err := r.DB.ReadPrivate(odb.PrivateReviewed)
	if errors.Is(err, odb.ErrNotFound) {
		return nil
	}
	var list []Mark
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		r.Log.Warn("decisions of reviews not read: there are none", "error", err)
		return nil
	}
	return list
}

// Change removes some decisions and adds others.
func Change(ctx context.Context, r *history.Store, remove, add []Mark) error {
	return r.Exclusive(ctx, func(*history.Locked) error {
		gone := make(map[Mark]bool, len(remove)+len(add))
		for _, m := range append(slices.Clip(remove), add...) {
			gone[m] = true
		}
		alive := make(map[string]bool)
		list := slices.DeleteFunc(Load(r), func(m Mark) bool { return gone[m] || !isAlive(r, m, alive) })
		return write(r, append(list, add...))
	})
}

// isAlive reports whether a decision is about what the store still has. known keeps the answers.
func isAlive(r *history.Store, m Mark, known map[string]bool) bool {
	key := "session " + m.Session
	if m.Session == "" {
		key = m.Turn
	}
	alive, ok := known[key]
	if !ok {
		alive = m.Session != "" && hasRef(r, m.Session) || m.Session == "" && hasCommits(r, m.Turn)
		known[key] = alive
	}
	return alive
}

// hasRef reports whether a session is there. A ref that cannot be read is one that is there.
func hasRef(r *history.Store, session string) bool {
	_, err := r.DB.Ref(history.LineRef(session))
	return !errors.Is(err, odb.ErrNotFound)
}

func hasCommits(r *history.Store, turn string) bool {
	from, to, _ := strings.Cut(turn, "..")
	for _, text := range []string{from, to} {
		if text == "" { // the present
			continue
		}
		id, err := object.ParseID(text)
		if err != nil {
			return false
		}
		if ok, err := r.DB.Has(id); err == nil && !ok {
			return false
		}
	}
	return true
}

// Forget drops the decisions about a session. Call it with the lock held.
func Forget(r *history.Store, session string) error {
	return drop(r, func(m Mark) bool { return m.Session == session && session != "" })
}

// ForgetPaths drops the decisions about paths and everything below them. Call it with the lock held.
func ForgetPaths(r *history.Store, paths []string) error {
	scope := state.NewPathScope(paths)
	return drop(r, func(m Mark) bool { return m.Path != "" && scope.Covers(string(m.Path)) })
}

// drop removes decisions, and leaves a file alone that has none of them.
func drop(r *history.Store, gone func(Mark) bool) error {
	list := Load(r)
	left := slices.DeleteFunc(slices.Clone(list), gone)
	if len(left) == len(list) {
		return nil
	}
	return write(r, left)
}

func write(r *history.Store, list []Mark) error {
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return r.DB.WritePrivate(odb.PrivateReviewed, append(data, '\n'))
}
