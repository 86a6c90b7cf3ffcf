package history

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Refs of forks. A fork is a directory whose store began with the history of another one.
const (
	RefForks  = RefRoot + "forks/" // in the first store: the checkpoint where a fork began, by the project id of the fork
	RefForked = RefRoot + "forked" // in the store of the fork: the same checkpoint
)

// ForkRecord is the private file of a fork's store that says where it came from.
type ForkRecord struct {
	Version int                 `json:"v"`
	Root    state.Path          `json:"root"`              // of the first store, when the fork was made
	Store   string              `json:"store"`             // id of the first store
	Session string              `json:"session,omitempty"` // whose state it began with
	At      int64               `json:"at"`                // when it was made: nanoseconds since 1970
	Earlier []ForkedRoot        `json:"earlier,omitempty"` // of a fork of a fork: the roots before Root, oldest first
	Ignore  state.IgnoreContext `json:"ignore,omitzero"`   // rules of Root that are no files of the tree
	Git     *ForkedGit          `json:"git,omitempty"`     // of a fork that is a linked work tree of Root's repository
	Lacks   []state.Path        `json:"lacks,omitempty"`   // files and symlinks that its directory could not be made with
	Without []state.Path        `json:"without,omitempty"` // paths that its directory began without, because no checkpoint held them
}

// ForkedGit is the branch that was made with a fork.
type ForkedGit struct {
	Branch string `json:"branch"` // without refs/heads/
	Commit string `json:"commit"` // at which it began
}

// ForkedRoot is a directory, and the time up to which the history of a fork happened there.
type ForkedRoot struct {
	Root state.Path `json:"root"`
	At   int64      `json:"at"`
}

const forkVersion = 1

// Encode returns the contents of the private file.
func (f *ForkRecord) Encode() ([]byte, error) {
	f.Version = forkVersion
	return json.Marshal(f)
}

// IsFork reports whether the store in dir is that of a fork. It stats one file, or three where the store is sealed.
func IsFork(dir string) bool {
	regular := func(name string) bool {
		info, err := os.Lstat(filepath.Join(dir, "cairn", name))
		return err == nil && info.Mode().IsRegular()
	}
	return regular(string(odb.PrivateForked)) || regular(odb.ForkMark) && odb.IsSealed(dir)
}

// Forked returns where the store came from, nil for a store that is no fork. The file is read once: it
// does not change.
func (r *Store) Forked() *ForkRecord {
	r.forked.Do(func() {
		f, err := ReadForkRecord(r.DB.Dir())
		if err != nil {
			r.Log.Warn("what this directory is a fork of is not known", "error", err)
			return
		}
		r.fork = f
	})
	return r.fork
}

// ReadForkRecord reads where the store in a directory came from, nil for one that is no fork. It does not
// open the store.
func ReadForkRecord(dir string) (*ForkRecord, error) {
	path := filepath.Join(dir, "cairn", string(odb.PrivateForked))
	data, err := atomicfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	f := &ForkRecord{}
	if err == nil {
		err = json.Unmarshal(data, f)
	}
	if err == nil && f.Version != forkVersion {
		err = fmt.Errorf("%w: version %d, of a later release", state.ErrStore, f.Version)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// ForkStart returns the state that the first directory had when a fork was made of it, and the time. It returns nil
// where the store is not that of a fork, where that began with another state, and where the checkpoint is lost.
func (r *Store) ForkStart() (*Checkpoint, int64) {
	f := r.Forked()
	if f == nil || f.Session != "" {
		return nil, 0
	}
	c, err := r.Tip(RefForked)
	if err != nil {
		return nil, 0
	}
	return c, f.At
}

// ForkedAt returns the directory in which the history of a time happened, "" for that of the store itself: it is
// another one for what a fork has from the first store. at is in nanoseconds since 1970.
func (r *Store) ForkedAt(at int64) string {
	f := r.Forked()
	if f == nil || at > f.At {
		return ""
	}
	for _, e := range f.Earlier {
		if at <= e.At {
			return string(e.Root)
		}
	}
	return string(f.Root)
}

// RootAt is ForkedAt, and knows where the root of the store itself was before it was moved.
func (r *Store) RootAt(at int64) string {
	if root := r.ForkedAt(at); root != "" {
		return root
	}
	for _, m := range r.Moved() {
		if at <= m.At {
			return m.Root
		}
	}
	return ""
}

// Moved lists the former roots of the store, oldest first. The file is read once: it does not change.
func (r *Store) Moved() []odb.MovedRoot {
	r.moved.Do(func() {
		var err error
		if r.movedRoots, err = r.DB.MovedRoots(); err != nil {
			r.Log.Warn("where this directory was before is not known", "error", err)
		}
	})
	return r.movedRoots
}

// PresentRoot returns where a root lies now: its real path, or that of the directory whose store was of root before and
// came along to another path. A root that is gone stays as it is.
func (r *Store) PresentRoot(root string) string {
	if real, err := realpath.Of(root); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(real, root)
	}
	stores, _ := odb.List(filepath.Dir(r.DB.Dir())) // one that cannot be listed knows no other place
	_, present := odb.LastUsed(stores, func(store string) (string, bool) {
		if !odb.WasAt(store, root) {
			return "", false
		}
		at, err := odb.RecordedRoot(store)
		return at, err == nil
	})
	return cmp.Or(present, root)
}

// Elsewhere lists those of several roots that are not this one, where they lie now.
func (r *Store) Elsewhere(roots []string) (others []string) {
	for _, root := range roots {
		if root = r.PresentRoot(root); root != r.Root {
			others = append(others, root)
		}
	}
	return others
}
