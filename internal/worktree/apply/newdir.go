package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// NewDir is a directory that is made beside its place and gets its name when it is whole.
//
// It is made in a sibling called .NAME.cairn-DIGITS, which only its owner may enter. A claim inside
// the sibling shows that the process lives. The claim comes before the tree and goes after it, so a
// sibling with a tree and no claim, or with the claim of a dead process, is a left-over.
type NewDir struct {
	path, aside string
	claim       *os.File
}

const (
	asideMark   = ".cairn-"
	claimPrefix = "claim-"
	asideTree   = "tree"
)

// ErrNotNew: something is at the path of a new directory.
var ErrNotNew = errors.New("is there, and is no empty directory")

// CheckNew refuses the path of a new directory unless nothing is there or an empty directory is.
func CheckNew(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return ErrNotNew
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if names, err := d.Readdirnames(1); len(names) > 0 || err == nil {
		return ErrNotNew
	}
	return nil
}

// MakeAside begins a new directory at path, whose parent exists. It removes what dead processes
// have left of earlier attempts at the same path.
func MakeAside(path string) (*NewDir, error) {
	if err := sweepAsides(path); err != nil {
		return nil, fmt.Errorf("remove the left-overs of a killed command: %w", err)
	}
	for range maxAsides {
		aside, err := os.MkdirTemp(filepath.Dir(path), asidePrefix(path)+"*") // with 0700
		if err != nil {
			return nil, err
		}
		d := &NewDir{path: path, aside: aside}
		d.claim, err = atomicfile.Create(aside, claimPrefix)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a sweeper saw it without a claim
		}
		if err == nil {
			err = os.Mkdir(d.Tree(), 0o777)
		}
		if err != nil {
			return nil, errors.Join(err, d.Discard())
		}
		return d, nil
	}
	return nil, fmt.Errorf("make a directory beside %s: other processes remove it", path)
}

// maxAsides is how often a directory is made in which a sweeper may be faster.
const maxAsides = 100

// asidePrefix begins the names of the siblings of a path. A name has at most 255 bytes.
func asidePrefix(path string) string {
	name := filepath.Base(path)
	return "." + name[:min(len(name), 200)] + asideMark
}

// AsideName is a path as the sibling of a new directory has it.
func AsideName(path string) string { return filepath.Join(filepath.Dir(path), asidePrefix(path)+"1") }

// IsAside reports whether a name is that of such a sibling.
func IsAside(name string) bool {
	i := strings.LastIndex(name, asideMark)
	return i > 0 && name[0] == '.' && isDigits(name[i+len(asideMark):])
}

func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// Tree is the path of the directory while it is being made.
func (d *NewDir) Tree() string { return filepath.Join(d.aside, asideTree) }

// Like is the directory whose owner is that of the new one: the empty directory at its place, else the one in
// which it lies.
func (d *NewDir) Like() string {
	if _, err := os.Lstat(d.path); err == nil {
		return d.path
	}
	return filepath.Dir(d.path)
}

// Place gives the directory its name, in place of an empty directory at most, whose permission bits it
// takes over. With sync the name is on the medium then.
func (d *NewDir) Place(sync bool) error {
	if err := CheckNew(d.path); err != nil {
		return err
	}
	finish, err := d.takeBits()
	if err != nil {
		return err
	}
	if err := d.rename(); err != nil {
		return err
	}
	if err := finish(); err != nil {
		return err
	}
	if sync {
		return atomicfile.SyncDir(filepath.Dir(d.path))
	}
	return nil
}

// takeBits gives the directory the bits of the empty one at its path: who made that for its owner alone
// means what comes into it, too. A directory moves only while its owner may write to it; finish removes
// what that needs.
func (d *NewDir) takeBits() (finish func() error, err error) {
	info, err := os.Lstat(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, err
	}
	bits := info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	if bits&0o700 == 0o700 {
		return func() error { return nil }, os.Chmod(d.Tree(), bits)
	}
	return func() error { return os.Chmod(d.path, bits) }, os.Chmod(d.Tree(), bits|0o700)
}

func (d *NewDir) rename() error {
	err := os.Rename(d.Tree(), d.path)
	if err == nil {
		return nil
	}
	// Windows does not rename over an empty directory.
	if info, serr := os.Lstat(d.path); serr == nil && info.IsDir() && os.Remove(d.path) == nil {
		err = os.Rename(d.Tree(), d.path)
	}
	return err
}

// Discard removes the sibling with whatever is in it. It follows Place as well.
func (d *NewDir) Discard() error {
	err := removeTree(d.Tree())
	if d.claim != nil {
		err = errors.Join(err, atomicfile.RemoveClaimed(d.claim))
		d.claim = nil
	}
	return errors.Join(err, atomicfile.IgnoreMissing(os.Remove(d.aside)))
}

// MoveAway takes a directory's name away, and with it what lies in it from every path below. finish removes
// it. What a killed process leaves, the next MakeAside or MoveAway at the same path removes.
func MoveAway(path string) (finish func() error, err error) {
	d, err := MakeAside(path)
	if err != nil {
		return nil, err
	}
	if err = os.Remove(d.Tree()); err == nil {
		err = os.Rename(path, d.Tree())
	}
	if err != nil {
		return nil, errors.Join(err, d.Discard())
	}
	return d.Discard, nil
}

// sweepAsides removes the siblings of a path whose processes are dead.
func sweepAsides(path string) error {
	parent := filepath.Dir(path)
	d, err := os.Open(parent)
	if err != nil {
		return err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	for _, name := range names {
		if digits, ok := strings.CutPrefix(name, asidePrefix(path)); !ok || !isDigits(digits) {
			continue
		}
		err = errors.Join(err, sweepAside(filepath.Join(parent, name)))
	}
	return err
}

func sweepAside(aside string) error {
	if info, err := os.Lstat(aside); err != nil || !info.IsDir() {
		return atomicfile.IgnoreMissing(err)
	}
	d, err := os.Open(aside)
	if err != nil {
		return atomicfile.IgnoreMissing(err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return atomicfile.IgnoreMissing(err)
	}
	for _, name := range names {
		switch {
		case strings.HasPrefix(name, claimPrefix):
			dead, err := atomicfile.RemoveDead(filepath.Join(aside, name))
			if err != nil || !dead {
				return err
			}
		case name != asideTree:
			return nil // no directory of ours
		}
	}
	if err := removeTree(filepath.Join(aside, asideTree)); err != nil {
		return err
	}
	if err := os.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil // not empty: its process has just claimed it
}

// removeTree removes a directory that may hold directories without write permission.
func removeTree(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	before, lerr := os.Lstat(path)
	root, oerr := os.OpenRoot(path)
	if lerr != nil || oerr != nil {
		return err
	}
	defer root.Close()
	if now, serr := root.Stat("."); serr != nil || !os.SameFile(before, now) {
		return err
	}
	_ = fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = root.Chmod(at, 0o700) // RemoveAll tells what it could not remove
		}
		return nil
	})
	return os.RemoveAll(path)
}
