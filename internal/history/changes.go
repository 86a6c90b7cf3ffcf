package history

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// StateOf returns the checkpoint's tree and metadata.
func StateOf(c *Checkpoint) (state.State, error) {
	if err := c.thinnedError(); err != nil {
		return state.State{}, err
	}
	m, err := MetadataOf(c)
	return state.State{Tree: c.tree, Meta: m}, err
}

// Change is a file that differs between two states, or a directory that exists in both with
// different permission bits. A directory has no id.
type Change struct {
	Path    string // from the root, '/'-separated
	Status  Status
	OldMode uint32 // git's mode, 0 where the file is absent
	NewMode uint32
	OldPerm uint16 // permission bits
	NewPerm uint16
	OldID   string // blob, "" where the file is absent
	NewID   string
}

// OldEntry returns the tree entry of the old side, nil where the file is absent.
func OldEntry(c *Change) *object.Entry { return sideOf(c.Path, c.OldMode, c.OldID) }

// NewEntry returns the tree entry of the new side, nil where the file is absent.
func NewEntry(c *Change) *object.Entry { return sideOf(c.Path, c.NewMode, c.NewID) }

// sideOf returns the entry of one side. The id is zero if the text is no object id; CheckChange
// refuses that.
func sideOf(path string, mode uint32, id string) *object.Entry {
	if mode == 0 {
		return nil
	}
	_, name := index.Split(path)
	parsed, _ := object.ParseID(id)
	return &object.Entry{Mode: object.Mode(mode), Name: name, ID: parsed}
}

// CheckChange refuses a change that a caller has built with an invalid id or without a mode.
func CheckChange(c *Change) error {
	for _, side := range []struct {
		mode uint32
		id   string
	}{{c.OldMode, c.OldID}, {c.NewMode, c.NewID}} {
		if side.mode == 0 || c.isDir() {
			continue
		}
		if _, err := object.ParseID(side.id); err != nil {
			return fmt.Errorf("change of %s: %w", c.Path, err)
		}
	}
	if c.OldMode == 0 && c.NewMode == 0 {
		return fmt.Errorf("change of %s: it has a mode on neither side", c.Path)
	}
	return nil
}

// Status says what happened to a file.
type Status string

// The statuses, in OpenCode's words. A rename is a deletion and an addition. A file
// that became a symlink, or the reverse, is modified.
const (
	Added    Status = "added"
	Modified Status = "modified"
	Deleted  Status = "deleted"
)

// Letter returns the letter that git prints for the status.
func (c *Change) Letter() string {
	switch {
	case c.OldMode == 0:
		return "A"
	case c.NewMode == 0:
		return "D"
	case object.Mode(c.OldMode).IsFile() != object.Mode(c.NewMode).IsFile():
		return "T"
	}
	return "M"
}

// changeJSON is the JSON form of a Change. Modes and permission bits are octal, as git prints them.
// A side where the file is absent has neither.
type changeJSON struct {
	Path    state.Path   `json:"path"`
	Status  Status       `json:"status"`
	OldMode string       `json:"oldMode,omitempty"`
	NewMode string       `json:"newMode,omitempty"`
	OldPerm *state.Octal `json:"oldPerm,omitempty"`
	NewPerm *state.Octal `json:"newPerm,omitempty"`
	OldID   string       `json:"oldID,omitempty"`
	NewID   string       `json:"newID,omitempty"`
}

// MarshalJSON implements json.Marshaler:
// {"path","status","oldMode","newMode","oldPerm","newPerm","oldID","newID"}.
func (c Change) MarshalJSON() ([]byte, error) {
	f := changeJSON{Path: state.Path(c.Path), Status: c.Status, OldID: c.OldID, NewID: c.NewID}
	if c.OldMode != 0 {
		f.OldMode, f.OldPerm = object.Mode(c.OldMode).String(), (*state.Octal)(&c.OldPerm)
	}
	if c.NewMode != 0 {
		f.NewMode, f.NewPerm = object.Mode(c.NewMode).String(), (*state.Octal)(&c.NewPerm)
	}
	return json.Marshal(f)
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Change) UnmarshalJSON(data []byte) (err error) {
	var f changeJSON
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	*c = Change{Path: string(f.Path), Status: f.Status, OldID: f.OldID, NewID: f.NewID}
	if c.OldMode, err = parseMode(f.OldMode); err != nil {
		return err
	}
	if c.NewMode, err = parseMode(f.NewMode); err != nil {
		return err
	}
	if f.OldPerm != nil {
		c.OldPerm = uint16(*f.OldPerm)
	}
	if f.NewPerm != nil {
		c.NewPerm = uint16(*f.NewPerm)
	}
	return nil
}

// parseMode parses an octal git mode. "" is 0, an absent file.
func parseMode(text string) (uint32, error) {
	if text == "" {
		return 0, nil
	}
	mode, err := strconv.ParseUint(text, 8, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is no mode: it takes octal digits, as 100644", text)
	}
	return uint32(mode), nil
}

// AllChanges returns Changes and the directories whose permission bits differ.
func (r *Store) AllChanges(ctx context.Context, a, b state.State, scope *state.PathScope) ([]Change, error) {
	list, err := r.Changes(ctx, a, b, scope)
	if err != nil {
		return nil, err
	}
	dirs, err := r.ChmoddedDirs(a, b)
	for _, dir := range dirs {
		if scope.Covers(dir) {
			list = append(list, Chmod(dir, a.Meta.PermOf(dir, object.Dir), b.Meta.PermOf(dir, object.Dir)))
		}
	}
	slices.SortStableFunc(list, func(x, y Change) int { return strings.Compare(x.Path, y.Path) })
	return list, err
}

// ScopeOf returns the scope of some paths of a caller, nil for none.
func (r *Store) ScopeOf(paths []string) (*state.PathScope, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	rels := make([]string, len(paths))
	for i, p := range paths {
		rel, err := r.Rel(p)
		if err != nil {
			return nil, err
		}
		rels[i] = rel
	}
	return state.NewPathScope(rels), nil
}

// Changes lists the files that differ between two states, by path. It leaves out a path that one of
// the states did not capture or did not read.
func (r *Store) Changes(ctx context.Context, a, b state.State, scope *state.PathScope) ([]Change, error) {
	var list []Change
	inA, inB := state.NewCoverage(a.Meta), state.NewCoverage(b.Meta)
	for c, err := range r.CompareTrees(ctx, a.Tree, b.Tree, scope) {
		if err != nil {
			return nil, err
		}
		if c.Old == nil && inA.Uncaptured(c.Path) != "" || c.New == nil && inB.Uncaptured(c.Path) != "" ||
			inA.Unread(c.Path) || inB.Unread(c.Path) {
			continue
		}
		list = append(list, ChangeBetween(c.Path, EndWith(a, c.Path, c.Old), EndWith(b, c.Path, c.New)))
	}
	perms, err := r.PermChanges(ctx, a, b, scope)
	if err != nil {
		return nil, err
	}
	list = append(list, perms...)
	slices.SortStableFunc(list, func(x, y Change) int { return strings.Compare(x.Path, y.Path) })
	return slices.CompactFunc(list, func(x, y Change) bool { return x.Path == y.Path }), nil
}

// PermChanges lists the files that exist on both sides with different permission bits. If the
// common bits are equal, only paths with an exception are compared. Otherwise every file is
// compared.
func (r *Store) PermChanges(ctx context.Context, a, b state.State, scope *state.PathScope) ([]Change, error) {
	var list []Change
	consider := func(path string) error {
		old, err := r.EntryOrNil(a.Tree, path)
		if err != nil || old == nil || !old.Mode.IsFile() {
			return err
		}
		new, err := r.EntryOrNil(b.Tree, path)
		if err != nil || new == nil || !new.Mode.IsFile() {
			return err
		}
		if from, to := EndWith(a, path, old), EndWith(b, path, new); from.Perm != to.Perm {
			list = append(list, ChangeBetween(path, from, to))
		}
		return nil
	}
	if a.Meta.Perm.File != b.Meta.Perm.File || a.Meta.Perm.Exec != b.Meta.Perm.Exec {
		for c, err := range r.WalkTree(ctx, b.Tree, scope) {
			if err != nil {
				return nil, err
			}
			if err := consider(c.Path); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	for path := range state.DifferingPerms(a.Meta, b.Meta) {
		if scope.Covers(path) {
			if err := consider(path); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}
