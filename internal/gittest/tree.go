package gittest

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
)

// Tree is a directory tree as a literal: paths with '/', of any bytes that the file
// system takes, and what lies there. Directories that hold something need no entry
// of their own.
//
//	gittest.Tree{
//		"go.mod":      gittest.File("module x\n"),
//		"bin/run":     gittest.Exec("#!/bin/sh\n"),
//		"latest":      gittest.Link("bin/run"),
//		"empty":       gittest.Dir(),
//	}
type Tree map[string]Node

// Node is what lies at a path of a Tree. Make one with File, Exec, Link and so on.
type Node struct {
	kind    byte // as in Entry.Type
	perm    fs.FileMode
	content string // of a file; the target of a link
}

// mode is the permissions with the type, as far as keptPerm goes by it.
func (n Node) mode() fs.FileMode {
	switch n.kind {
	case 'd':
		return n.perm | fs.ModeDir
	case 'l':
		return n.perm | fs.ModeSymlink
	}
	return n.perm
}

// File is a regular file of mode 0644.
func File(content string) Node { return FileMode(content, 0o644) }

// FileMode is a regular file with all its permission bits given, in the manner of
// chmod: 04755 is set-user-ID.
func FileMode(content string, perm uint32) Node {
	return Node{kind: 'f', perm: fileMode(perm), content: content}
}

// Exec is a regular file of mode 0755.
func Exec(content string) Node { return FileMode(content, 0o755) }

// Link is a symbolic link.
func Link(target string) Node { return Node{kind: 'l', content: target} }

// Dir is a directory of mode 0755, empty unless other paths lie below it.
func Dir() Node { return DirMode(0o755) }

// DirMode is a directory with all its permission bits given.
func DirMode(perm uint32) Node { return Node{kind: 'd', perm: fileMode(perm)} }

// FIFO is a named pipe of mode 0644.
func FIFO() Node { return Node{kind: 'p', perm: 0o644} }

// fileMode turns the bits of chmod into Go's.
func fileMode(perm uint32) fs.FileMode {
	m := fs.FileMode(perm & 0o777)
	for bit, mode := range specialBits {
		if perm&bit != 0 {
			m |= mode
		}
	}
	return m
}

var specialBits = map[uint32]fs.FileMode{
	0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky,
}

// permBits is the inverse of fileMode.
func permBits(m fs.FileMode) uint32 {
	perm := uint32(m.Perm())
	for bit, mode := range specialBits {
		if m&mode != 0 {
			perm |= bit
		}
	}
	return perm
}

// Create makes tree below root, which is created if need be. Nothing may lie in
// its way. The umask has no influence. Directories get their permissions last, so
// that they may be unwritable; the end of the test makes them removable again.
func Create(t testing.TB, root string, tree Tree) {
	t.Helper()
	if err := makeDirs(root); err != nil {
		t.Fatal(err)
	}
	paths := slices.Sorted(maps.Keys(tree))
	for _, path := range paths {
		err := create(filepath.Join(root, filepath.FromSlash(path)), tree[path])
		if errors.Is(err, ErrNoLinks) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range slices.Backward(paths) {
		if node := tree[path]; node.kind == 'd' {
			chmodDir(t, filepath.Join(root, filepath.FromSlash(path)), node.perm)
		}
	}
}

func create(path string, n Node) error {
	if err := makeDirs(filepath.Dir(path)); err != nil {
		return err
	}
	switch n.kind {
	case 'd':
		return makeDirs(path)
	case 'l':
		return Symlink(n.content, path)
	case 'p':
		return mkfifo(path)
	}
	return writeUnforked(path, n.content, n.perm)
}

// ErrNoLinks: a reason to skip a test.
var ErrNoLinks = errors.New("symbolic links cannot be made here")

// Symlink is os.Symlink, for which Windows wants a privilege, and which fails under
// Wine without an error.
func Symlink(target, path string) error {
	err := os.Symlink(target, path)
	if runtime.GOOS != "windows" {
		return err
	}
	if _, lerr := os.Lstat(path); err != nil || lerr != nil {
		return ErrNoLinks
	}
	return nil
}

// CopyTree replaces a directory by a copy of another one: bytes, modes, times and links. A test is skipped
// where no cp is.
func CopyTree(t testing.TB, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	cp, err := exec.LookPath("cp")
	if err != nil {
		t.Skip("cp -a is needed: ", err)
	}
	if out, err := exec.Command(cp, "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp -a %s %s: %v\n%s", from, to, err, out)
	}
}

// Program writes an executable file that the test is going to run.
func Program(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := writeUnforked(path, string(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// writeUnforked makes a file while no other test can fork: a child would hold the
// descriptor open for writing until its exec, and running the file would meanwhile
// fail with "text file busy" (https://go.dev/issue/22315).
func writeUnforked(path, content string, perm fs.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err == nil {
		err = f.Chmod(perm)
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// makeDirs makes dir and its missing parents, with mode 0755.
func makeDirs(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if err := makeDirs(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755)
}

func chmodDir(t testing.TB, path string, perm fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, perm); err != nil {
		t.Fatal(err)
	}
	if perm&0o700 != 0o700 {
		t.Cleanup(func() { _ = os.Chmod(path, 0o755) })
	}
}
