package gittest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Entry is what a Listing says of one path.
type Entry struct {
	Type   byte   // 'f' file, 'd' directory, 'l' symbolic link, 'p' FIFO, 's' socket, 'c' or 'b' device
	Perm   uint32 // permission bits, 07777; 0 for a link, whose bits mean nothing
	Size   int64  // of a file
	Sum    string // SHA-256 of a file's contents in hex, or "unreadable"
	Target string // of a link
	MTime  int64  // nanoseconds since 1970; 0 unless asked for
}

// String returns the entry in one line.
func (e Entry) String() string {
	s := fmt.Sprintf("%c %04o", e.Type, e.Perm)
	switch e.Type {
	case 'f':
		s += fmt.Sprintf(" %d bytes %.12s", e.Size, e.Sum)
	case 'l':
		s += fmt.Sprintf(" -> %q", e.Target)
	}
	if e.MTime != 0 {
		s += fmt.Sprintf(" mtime %d", e.MTime)
	}
	return s
}

// Listing is everything below a directory: paths with '/' and what lies there.
type Listing map[string]Entry

// Want widens or narrows a Manifest.
type Want int

const (
	// WantTimes records the modification times of files and links. Those of
	// directories are left out: they change with every name in them.
	WantTimes Want = iota
	// WantDirTimes records those of directories too.
	WantDirTimes
	// SkipGit leaves out .git at the top, a directory or a file.
	SkipGit
)

// Manifest lists everything below root, not root itself.
func Manifest(t testing.TB, root string, wants ...Want) Listing {
	t.Helper()
	list, err := TryManifest(root, wants...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TryManifest is Manifest for a directory to which another program still writes, so a listed path
// may be gone before its stat.
func TryManifest(root string, wants ...Want) (Listing, error) {
	list := Listing{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if d != nil && d.IsDir() && os.IsPermission(err) && path != root {
				return fs.SkipDir // listed already; its contents cannot be
			}
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || rel == "." {
			return err
		}
		if rel == ".git" && slices.Contains(wants, SkipGit) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		list[filepath.ToSlash(rel)], err = look(path, wants)
		return err
	})
	return list, err
}

// look describes one path.
func look(path string, wants []Want) (Entry, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Type: typeOf(info.Mode()), Perm: keptPerm(info.Mode())}
	switch e.Type {
	case 'f':
		e.Size = info.Size()
		e.Sum, err = sumFile(path)
	case 'l':
		e.Perm = 0
		e.Target, err = os.Readlink(path)
	}
	if e.Type == 'd' && slices.Contains(wants, WantDirTimes) ||
		e.Type != 'd' && (slices.Contains(wants, WantTimes) || slices.Contains(wants, WantDirTimes)) {
		e.MTime = info.ModTime().UnixNano()
	}
	return e, err
}

// keptPerm is what the system keeps of permission bits: on Windows no more than whether a
// file may be written to.
func keptPerm(m fs.FileMode) uint32 {
	switch {
	case runtime.GOOS != "windows" || m.Type()&^fs.ModeDir != 0:
		return permBits(m)
	case m.IsDir():
		return 0o777
	case m&0o200 == 0:
		return 0o444
	}
	return 0o666
}

func typeOf(m fs.FileMode) byte {
	switch {
	case m.IsRegular():
		return 'f'
	case m.IsDir():
		return 'd'
	case m&fs.ModeSymlink != 0:
		return 'l'
	case m&fs.ModeNamedPipe != 0:
		return 'p'
	case m&fs.ModeSocket != 0:
		return 's'
	case m&fs.ModeCharDevice != 0:
		return 'c'
	case m&fs.ModeDevice != 0:
		return 'b'
	}
	return '?'
}

func sumFile(path string) (string, error) {
	data, err := os.ReadFile(path)
	if os.IsPermission(err) {
		return "unreadable", nil
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}

// Diff says in one line per path how b differs from a; "" means not at all. Paths
// are quoted, so that any byte shows.
func Diff(a, b Listing) string {
	var out strings.Builder
	for _, path := range slices.Sorted(maps.Keys(a)) {
		was := a[path]
		switch is, ok := b[path]; {
		case !ok:
			fmt.Fprintf(&out, "- %q: %v\n", path, was)
		case is != was:
			fmt.Fprintf(&out, "! %q: %v, now %v\n", path, was, is)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[path]; !ok {
			fmt.Fprintf(&out, "+ %q: %v\n", path, b[path])
		}
	}
	return out.String()
}

// AssertEqual fails the test, and goes on, if the listings differ. what names the
// thing that they are listings of.
func AssertEqual(t testing.TB, what string, want, got Listing) {
	t.Helper()
	if diff := Diff(want, got); diff != "" {
		t.Errorf("%s differs (- missing, + unexpected, ! changed):\n%s", what, diff)
	}
}

// AssertTree fails the test, and goes on, if what lies below root is not tree, with
// types, permission bits, contents and link targets. A .git at the top is ignored.
func AssertTree(t testing.TB, root string, tree Tree) {
	t.Helper()
	AssertEqual(t, root, tree.Listing(), Manifest(t, root, SkipGit))
}

// Listing returns what Manifest would after Create.
func (tree Tree) Listing() Listing {
	list := Listing{}
	for path, n := range tree {
		for dir := parent(path); dir != ""; dir = parent(dir) {
			if _, ok := tree[dir]; !ok {
				list[dir] = Entry{Type: 'd', Perm: keptPerm(fs.ModeDir | 0o755)}
			}
		}
		e := Entry{Type: n.kind, Perm: keptPerm(n.mode())}
		switch n.kind {
		case 'f':
			sum := sha256.Sum256([]byte(n.content))
			e.Size, e.Sum = int64(len(n.content)), hex.EncodeToString(sum[:])
		case 'l':
			e.Target = n.content
		}
		list[path] = e
	}
	return list
}

// parent returns the directory of a path with '/', "" at the top.
func parent(path string) string {
	return path[:max(strings.LastIndexByte(path, '/'), 0)]
}
