package signature

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/sshsig"
)

// ErrNoKey: no key is set to sign with.
var ErrNoKey = errors.New("no key to sign with is set")

// keyOf returns what signs for a store.
func keyOf(s *history.Store) (signer, error) {
	if s.Opt.Sign == "" {
		return nil, ErrNoKey
	}
	program, err := sshsig.Look()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, text string) (string, error) { return program.Sign(ctx, s.Opt.Sign, text) }, nil
}

// Heads signs the heads of the lines of a store that have moved since they were signed last, and returns
// the names of the lines. The store is locked only while the signatures are written. A line that is
// signed by another process meanwhile is left to that process.
func Heads(ctx context.Context, s *history.Store) (signed []string, err error) {
	sign, err := keyOf(s)
	if err != nil {
		return nil, err
	}
	moved, err := movedLines(s)
	if err != nil || len(moved) == 0 {
		return nil, err
	}
	store, err := identity(ctx, s)
	if err != nil {
		return nil, err
	}
	var lists []grown
	for _, m := range moved {
		st, err := next(m.list)
		if err != nil {
			return nil, fmt.Errorf("signatures of %s: %w", m.line, err)
		}
		st.Store, st.Line, st.Head, st.Time = store, m.line, m.head, s.Now()
		e := Entry{Text: st.Text()}
		if e.Signature, err = sign(ctx, e.Text); err != nil {
			return nil, err
		}
		lists = append(lists, grown{m.line, append(m.list, e)})
	}
	err = s.Exclusive(ctx, func(*history.Locked) error {
		lists = slices.DeleteFunc(lists, func(g grown) bool { return !g.follows(s) })
		if err := add(s, lists); err != nil {
			return err
		}
		return forget(s)
	})
	for _, g := range lists {
		signed = append(signed, g.line)
	}
	return signed, err
}

// follows reports whether the list in the store is still the one that the new entry follows.
func (g *grown) follows(s *history.Store) bool {
	now, err := Read(s, g.line)
	return err == nil && slices.Equal(now, g.list[:len(g.list)-1])
}

// movedLine is a line whose head has no signature.
type movedLine struct {
	line string
	head object.ID
	list []Entry // about the line
}

func movedLines(s *history.Store) (moved []movedLine, err error) {
	refs, err := s.DB.Refs(history.RefRoot)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		if ref.Err != nil || !Signable(ref.Name) {
			continue
		}
		line := strings.TrimPrefix(ref.Name, history.RefRoot)
		list, err := Read(s, line)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 {
			last, err := Parse(list[len(list)-1].Text)
			if err == nil && last.Head == ref.ID {
				continue
			}
		}
		moved = append(moved, movedLine{line, ref.ID, list})
	}
	return moved, nil
}

// identity returns the id of the store.
func identity(ctx context.Context, s *history.Store) (id string, err error) {
	if id, err = s.DB.Identity(false); !errors.Is(err, odb.ErrNotFound) {
		return id, err
	}
	err = s.Exclusive(ctx, func(*history.Locked) error {
		id, err = s.DB.Identity(true)
		return err
	})
	return id, err
}

// Rewriting appends the statement that commits have new ids. The statement is signed if a key is set. If
// the key cannot be used, the statement is written without a signature, and the log says why. The caller
// holds the lock and calls Rewriting before the first ref moves.
func Rewriting(ctx context.Context, s *history.Store, l *history.Locked, replaced map[object.ID]object.ID, paths int) error {
	s.Holds(l)
	store, err := s.DB.Identity(true)
	if err != nil {
		return err
	}
	list, err := Read(s, Rewritings)
	if err != nil {
		return err
	}
	st, err := next(list)
	if err != nil {
		return err
	}
	st.Store, st.Time, st.Replaced, st.Paths = store, s.Now(), make(map[object.ID]object.ID), paths
	for old, now := range replaced {
		if old != now && !now.IsZero() {
			st.Replaced[old] = now
		}
	}
	e := Entry{Text: st.Text()}
	sign, err := keyOf(s)
	if err == nil {
		e.Signature, err = sign(ctx, e.Text)
	}
	if err != nil && !errors.Is(err, ErrNoKey) {
		s.Log.Warn("new ids are recorded without a signature", "error", err)
	}
	return add(s, []grown{{Rewritings, append(list, e)}})
}

// remembered is how long the statements about a line stay that is gone.
const remembered = 90 * 24 * time.Hour

// forget removes the lists of lines that have been gone for long.
func forget(s *history.Store) error {
	refs, err := s.DB.Refs(history.RefSignatures)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		line := strings.TrimPrefix(ref.Name, history.RefSignatures)
		_, err := s.DB.Ref(history.RefRoot + line)
		if !errors.Is(err, odb.ErrNotFound) || line == Rewritings {
			continue
		}
		list, err := Read(s, line)
		if err != nil || len(list) == 0 {
			continue // verify tells
		}
		last, err := Parse(list[len(list)-1].Text)
		if err != nil || s.Now().Sub(last.Time) < remembered {
			continue
		}
		if err := Drop(s, line); err != nil {
			return err
		}
	}
	return nil
}
