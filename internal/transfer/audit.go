package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// ErrBundle: the input is not a bundle that Export has written, or it was cut off or altered.
// Nothing of it is in the store.
var ErrBundle = errors.New("unusable bundle")

// Limits for objects from elsewhere. Trees may share sub-trees, so a few objects can stand for more
// paths than any disk holds.
const (
	maxForeignPaths  = 1 << 26
	maxForeignHeight = 4096 // directories in one path
)

// objectReader reads objects that came from elsewhere.
type objectReader interface {
	Read(id object.ID) (object.Kind, []byte, error)
	Kind(id object.ID) object.Kind // 0 = the object is missing
}

// audit checks checkpoints from elsewhere before anything uses them. A checkpoint that passes is
// complete, has metadata that this release understands, and has no path outside the root or inside
// a .git.
type audit struct {
	objects objectReader
	trees   map[object.ID]extent // checked
	blobs   map[object.ID]bool
}

// extent is the size of a tree.
type extent struct {
	height int
	paths  int64
}

func newAudit(objects objectReader) *audit {
	return &audit{objects: objects, trees: make(map[object.ID]extent), blobs: make(map[object.ID]bool)}
}

// checkpoint checks a commit and everything below its tree, but not its parents.
func (a *audit) checkpoint(id object.ID) (*object.CommitData, error) {
	data, err := a.read(object.Commit, id)
	if err != nil {
		return nil, err
	}
	c, err := object.ParseCommit(data)
	if err == nil {
		err = sameEncoding(data, func() ([]byte, error) { return object.AppendCommit(nil, c) })
	}
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", id, err)
	}
	if c.Header(state.MetadataHeader) == "" {
		return nil, fmt.Errorf("commit %s is not a checkpoint", id)
	}
	m, err := state.DecodeMetadata(c.Header(state.MetadataHeader))
	if err == nil {
		err = m.CheckPaths()
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w", id, foreign(err))
	}
	_, err = a.tree(c.Tree, 0)
	return c, err
}

// foreign removes ErrCorrupt and ErrStore from an error: the damage is not in this store.
func foreign(err error) error {
	for _, sentinel := range []error{state.ErrCorrupt, state.ErrStore} {
		if errors.Is(err, sentinel) {
			err = errors.New(strings.TrimPrefix(err.Error(), sentinel.Error()+": "))
		}
	}
	return err
}

func (a *audit) read(want object.Kind, id object.ID) ([]byte, error) {
	if got := a.objects.Kind(id); got == 0 {
		return nil, fmt.Errorf("%s %s is missing", want, id)
	} else if got != want {
		return nil, fmt.Errorf("%s is a %s, not a %s", id, got, want)
	}
	_, data, err := a.objects.Read(id)
	return data, err
}

// sameEncoding refuses an object that this program would encode in another way. Git's fsck
// complains about most of these.
func sameEncoding(data []byte, encode func() ([]byte, error)) error {
	again, err := encode()
	if err == nil && !bytes.Equal(again, data) {
		err = fmt.Errorf("%w: not in its usual form", object.ErrMalformed)
	}
	return err
}

// tree checks a tree and everything below it, each tree once.
func (a *audit) tree(id object.ID, depth int) (extent, error) {
	if e, ok := a.trees[id]; ok {
		return e, nil
	}
	if depth >= maxForeignHeight {
		return extent{}, fmt.Errorf("tree %s lies below %d directories", id, depth)
	}
	data, err := a.read(object.Tree, id)
	if err != nil {
		return extent{}, err
	}
	entries, err := object.ParseTree(data)
	if err == nil {
		err = sameEncoding(data, func() ([]byte, error) { return object.AppendTree(nil, entries), nil })
	}
	if err != nil {
		return extent{}, fmt.Errorf("tree %s: %w", id, err)
	}
	e := extent{height: 1}
	for i := range entries {
		below, err := a.entry(&entries[i], depth)
		if err != nil {
			return extent{}, err
		}
		e.height = max(e.height, below.height+1)
		e.paths += below.paths + 1
		if e.height > maxForeignHeight || e.paths > maxForeignPaths {
			return extent{}, fmt.Errorf("tree %s stands for too many paths", id)
		}
	}
	a.trees[id] = e
	return e, nil
}

func (a *audit) entry(e *object.Entry, depth int) (extent, error) {
	switch {
	case !object.SafeName(e.Name):
		return extent{}, fmt.Errorf("a tree holds the name %q", e.Name)
	case e.Mode == object.Dir:
		return a.tree(e.ID, depth+1)
	case e.Mode == object.Gitlink:
		return extent{}, fmt.Errorf("%q is a submodule, which no checkpoint holds as such", e.Name)
	case a.blobs[e.ID]:
		return extent{}, nil
	}
	switch kind := a.objects.Kind(e.ID); kind {
	case object.Blob:
		a.blobs[e.ID] = true
		return extent{}, nil
	case 0:
		return extent{}, fmt.Errorf("blob %s (%q) is missing", e.ID, e.Name)
	default:
		return extent{}, fmt.Errorf("%s (%q) is a %s, not a blob", e.ID, e.Name, kind)
	}
}

// badBundle makes an ErrBundle.
func badBundle(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrBundle, fmt.Errorf(format, args...))
}

// bundleError makes an ErrBundle of an error about the bundle. An error of the store or the reader
// stays as it is.
func bundleError(err error) error {
	if errors.Is(err, odb.ErrPack) {
		return badBundle("%w", err)
	}
	return err
}
