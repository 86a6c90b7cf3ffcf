package gitrestore

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
)

// moveProgress brings back the files of an operation in progress. Files that go, go last: the sign of
// an operation is among them.
func (r *run) moveProgress() error {
	if len(r.Progress) == 0 {
		return nil
	}
	if r.Resume && r.fresh != nil && !halfWay(only(r.target, gitstate.OfProgress), only(r.now, gitstate.OfProgress), only(r.fresh, gitstate.OfProgress)) {
		return errors.New("an operation has begun or gone on meanwhile")
	}
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range r.Progress {
		if data, ok := r.target.Files[name]; ok {
			if err := r.put(root, name, data); err != nil {
				return err
			}
		}
	}
	for _, name := range r.Progress {
		if _, ok := r.target.Files[name]; !ok {
			if err := r.drop(root, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// put writes a file by way of another name.
func (r *run) put(root *os.Root, name string, data []byte) error {
	if r.isRef(name) {
		return r.putRef(name, strings.TrimSpace(string(data)))
	}
	if dir := path.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	temp := r.temp("file")
	err := root.WriteFile(temp, data, 0o666)
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		_ = root.Remove(temp) // the reason is the first error
	}
	return err
}

// drop removes a file, and its directory if no file of the plan is in that.
func (r *run) drop(root *os.Root, name string) error {
	if r.isRef(name) {
		_, err := r.git("", "update-ref", "--no-deref", "-d", name)
		return err
	}
	top, _, below := strings.Cut(name, "/")
	if below && !slices.ContainsFunc(r.targetNames(), func(o string) bool { return strings.HasPrefix(o, top+"/") }) {
		return root.RemoveAll(top)
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// putRef moves a ref outside of refs/. One that led to an object that is gone, as an ORIG_HEAD may after
// a git gc, cannot be written and is left out.
func (r *run) putRef(name, id string) error {
	there, err := r.present(r.dir, []string{id})
	if err != nil {
		return err
	}
	args := []string{"update-ref", "--no-deref", name, id}
	if len(there) == 0 {
		args = []string{"update-ref", "--no-deref", "-d", name}
	}
	_, err = r.git("", args...)
	return err
}

// isRef reports whether a file of a record is a ref in the tables of the repository.
func (r *run) isRef(name string) bool { return gitstate.RootRef(name) && r.tables() }

// tables reports whether the refs of the repository are in tables.
func (r *run) tables() bool {
	return strings.Contains(strings.ToLower(string(r.target.Files[gitstate.CommonPrefix+"config"])), "reftable")
}

func (r *run) targetNames() (names []string) {
	for name := range r.target.Files {
		names = append(names, name)
	}
	return names
}

// temp is the name of a temporary file in the git directory.
func (r *run) temp(what string) string { return what + ".cairn-" + r.Token }
