package plan

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// fakeDisk is a directory without a disk: contents by path, and "d/" for an empty directory. All files have the bits 0644.
type fakeDisk struct {
	files    map[string]string
	captured map[string]string
	locked   string // a file that cannot be opened
}

var errLocked = errors.New("locked")

func (d fakeDisk) isDir(path string) bool {
	for file := range d.files {
		if strings.HasPrefix(file, path+"/") {
			return true
		}
	}
	return false
}

func (d fakeDisk) Find(path string) (*dir.Found, error) {
	for i, c := range path + "/" {
		content, ok := d.files[path[:i]]
		if c == '/' && ok {
			return &dir.Found{Path: path[:i], Mode: object.Regular, Perm: 0o644, Stat: index.Stat{Size: int64(len(content))}}, nil
		}
	}
	if d.isDir(path) {
		return &dir.Found{Path: path, Mode: object.Dir, Perm: 0o755}, nil
	}
	return nil, nil
}

func (d fakeDisk) Names(folder string) ([]string, error) {
	names := make(map[string]bool)
	for file := range d.files {
		if below, ok := strings.CutPrefix(file, folder+"/"); ok && below != "" {
			name, _, _ := strings.Cut(below, "/")
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

func (d fakeDisk) Identify(path string) (*dir.State, error) {
	content, ok := d.files[path]
	if !ok || path == d.locked {
		return nil, errLocked
	}
	return &dir.State{Mode: object.Regular, Perm: 0o644, ID: object.Sum(object.Blob, []byte(content))}, nil
}

func (d fakeDisk) Uncaptured(folder string, but map[string]bool) string {
	for _, file := range slices.Sorted(maps.Keys(d.files)) {
		if _, ok := d.captured[file]; !ok && !but[file] && strings.HasPrefix(file, folder+"/") {
			return file
		}
	}
	return ""
}

func (d fakeDisk) CanSave(path string) error {
	if path == d.locked {
		return errLocked
	}
	return nil
}

// capture is what a capture of the fake disk would have found.
func (d fakeDisk) capture(t *testing.T, store *history.Store) *history.DiskState {
	t.Helper()
	s, x := statetest.NewState(t, store, d.captured), index.New()
	dirs := map[string]map[string]bool{"": {}}
	for file := range d.captured {
		for at := file; at != ""; {
			parent, name := index.Split(at)
			if dirs[parent] == nil {
				dirs[parent] = make(map[string]bool)
			}
			if name != "" {
				dirs[parent][name] = true
			}
			at = parent
		}
	}
	for path, names := range dirs {
		block := &index.Dir{Path: path, Tree: s.Tree}
		if path != "" {
			block.Tree = d.entryAt(t, store, s, path).ID
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			e := d.entryAt(t, store, s, index.Join(path, name))
			block.Raw = index.Append(block.Raw, &index.Entry{Name: name, Mode: e.Mode, Perm: s.Meta.PermOf(path, e.Mode), ID: e.ID})
		}
		x.Put(block)
	}
	return &history.DiskState{State: s, Index: x}
}

func (d fakeDisk) entryAt(t *testing.T, store *history.Store, s state.State, path string) *object.Entry {
	t.Helper()
	if _, empty := d.captured[path+"/"]; empty {
		return &object.Entry{Mode: object.Dir}
	}
	e, err := store.EntryOrNil(s.Tree, path)
	if err != nil || e == nil {
		t.Fatalf("%s: %v, %v", path, e, err)
	}
	return e
}
