package gittest

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Mutate edits what lies below root at random, edits times, and says in words what
// it did: it creates, changes (also without changing the size, and also without
// changing the modification time), deletes, renames and touches, swaps files,
// directories and links for each other, and rewrites ignore files. It leaves alone
// whatever lies in or below a directory named .git.
func Mutate(t testing.TB, rng *rand.Rand, root string, edits int) []string {
	t.Helper()
	m := &mutation{rng: rng, root: root}
	for range edits {
		if err := m.edit(); err != nil {
			t.Fatalf("mutate %s: %v\nafter: %q", root, err, m.done)
		}
	}
	return m.done
}

type mutation struct {
	rng   *rand.Rand
	root  string
	done  []string
	paths []string // everything but directories, relative to root
	dirs  []string // "" among them
}

// scan lists the tree.
func (m *mutation) scan() error {
	m.paths, m.dirs = nil, nil
	return filepath.WalkDir(m.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(m.root, path)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case d.Name() == ".git":
		case rel == ".":
			m.dirs = append(m.dirs, "")
		case d.IsDir():
			m.dirs = append(m.dirs, rel)
		default:
			m.paths = append(m.paths, rel)
		}
		return nil
	})
}

// edit makes one change. A change that makes no sense for its path creates a file.
func (m *mutation) edit() error {
	if err := m.scan(); err != nil {
		return err
	}
	if len(m.paths) == 0 {
		return m.create()
	}
	path := pick(m.rng, m.paths)
	info, err := os.Lstat(m.at(path))
	if err != nil {
		return err
	}
	switch n := m.rng.IntN(20); {
	case n < 3:
		return m.create()
	case n < 9 && info.Mode().IsRegular():
		err := m.change(path, info)
		if os.IsPermission(err) { // to others than root a file may be closed
			return m.create()
		}
		return err
	case n < 11:
		return m.say(os.Remove(m.at(path)), "delete %q", path)
	case n < 12 && len(m.dirs) > 1:
		dir := pick(m.rng, m.dirs[1:])
		return m.say(m.removeTree(dir), "delete all of %q", dir)
	case n < 14:
		return m.swapFile(path)
	case n < 15 && len(m.dirs) > 1:
		return m.swapDir(pick(m.rng, m.dirs[1:]))
	case n < 17:
		return m.rename(path)
	case n < 18:
		return m.ignore()
	case n < 19:
		return m.makeDir()
	}
	return m.create()
}

func (m *mutation) at(path string) string { return filepath.Join(m.root, filepath.FromSlash(path)) }

// say notes a mutation, if it succeeded.
func (m *mutation) say(err error, format string, args ...any) error {
	if err == nil {
		m.done = append(m.done, fmt.Sprintf(format, args...))
	}
	return err
}

// vacant makes up a path that does not exist.
func (m *mutation) vacant() string {
	for {
		path := join(pick(m.rng, m.dirs), randomName(m.rng))
		if _, err := os.Lstat(m.at(path)); os.IsNotExist(err) && portable(filepath.Base(path)) {
			return path
		}
	}
}

func (m *mutation) create() error {
	path := m.vacant()
	return m.say(m.writeNew(path), "create %q", path)
}

func (m *mutation) writeNew(path string) error {
	node := File(randomContent(m.rng))
	if m.rng.IntN(5) == 0 {
		node = Exec(randomContent(m.rng))
	}
	return create(m.at(path), node)
}

// change edits a file in place.
func (m *mutation) change(path string, info fs.FileInfo) error {
	at := m.at(path)
	data, err := os.ReadFile(at)
	if err != nil {
		return err
	}
	switch n := m.rng.IntN(6); {
	case n < 2 && len(data) > 0:
		data[m.rng.IntN(len(data))] ^= 1
		if err := os.WriteFile(at, data, 0); err != nil || n == 0 {
			return m.say(err, "change %q, size kept", path)
		}
		return m.say(os.Chtimes(at, info.ModTime(), info.ModTime()), "change %q, size and mtime kept", path)
	case n < 3:
		return m.say(os.WriteFile(at, append(data, "more\n"...), 0), "append to %q", path)
	case n < 4:
		return m.say(os.Chmod(at, info.Mode()^0o111), "chmod %q", path)
	case n < 5:
		return m.say(os.Chtimes(at, info.ModTime().Add(1e9), info.ModTime().Add(1e9)), "touch %q", path)
	}
	return m.say(os.WriteFile(at, []byte(randomContent(m.rng)), 0), "rewrite %q", path)
}

// swapFile puts something else in the place of a file or link.
func (m *mutation) swapFile(path string) error {
	if err := os.Remove(m.at(path)); err != nil {
		return err
	}
	switch m.rng.IntN(3) {
	case 0:
		return m.say(m.writeNew(path+"/"+"inside"), "put a directory in place of %q", path)
	case 1:
		target := pick(m.rng, []string{"nowhere", ".", "a", "../x"})
		return m.say(os.Symlink(target, m.at(path)), "put a link to %q in place of %q", target, path)
	}
	return m.say(m.writeNew(path), "put a new file in place of %q", path)
}

// swapDir puts a file or a link in the place of a directory.
func (m *mutation) swapDir(dir string) error {
	if err := m.removeTree(dir); err != nil {
		return err
	}
	if _, err := os.Lstat(m.at(dir)); err == nil { // holds a repository
		return nil
	}
	if m.rng.IntN(2) == 0 {
		return m.say(os.Symlink("..", m.at(dir)), "put a link to .. in place of directory %q", dir)
	}
	return m.say(m.writeNew(dir), "put a file in place of directory %q", dir)
}

// removeTree deletes a directory, but not one that holds a repository.
func (m *mutation) removeTree(dir string) error {
	holds := false
	err := filepath.WalkDir(m.at(dir), func(_ string, d fs.DirEntry, err error) error {
		holds = holds || err == nil && d.Name() == ".git"
		return err
	})
	if err != nil || holds {
		return err
	}
	return os.RemoveAll(m.at(dir))
}

// rename moves a path, or sometimes the directory that it is in.
func (m *mutation) rename(path string) error {
	to := m.vacant()
	if dir := parent(path); dir != "" && m.rng.IntN(3) == 0 && to != dir && !strings.HasPrefix(to, dir+"/") {
		path = dir
	}
	return m.say(os.Rename(m.at(path), m.at(to)), "rename %q to %q", path, to)
}

func (m *mutation) ignore() error {
	path := join(pick(m.rng, m.dirs), ".gitignore")
	if info, err := os.Lstat(m.at(path)); err == nil && !info.Mode().IsRegular() {
		return m.create()
	}
	content := RandomIgnoreFile(m.rng, m.paths, false)
	return m.say(os.WriteFile(m.at(path), []byte(content), 0o644), "write %q: %q", path, content)
}

func (m *mutation) makeDir() error {
	path := m.vacant()
	return m.say(os.Mkdir(m.at(path), 0o755), "make directory %q", path)
}
