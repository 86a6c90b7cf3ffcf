//go:build unix

package programmodel

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// entry is one path of the disk.
type entry struct {
	kind byte // 'f' file, 'd' directory, 'l' symbolic link, 'o' anything else; 0: nothing
	perm fs.FileMode
	data string // contents, or a link's target
}

func (e entry) String() string {
	data := e.data
	if len(data) > 60 {
		data = fmt.Sprintf("%s... (%d bytes)", data[:60], len(e.data))
	}
	if e.kind == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%c %03o %q", e.kind, e.perm, data)
}

// blob is git's id of a file's or link's contents.
func (e entry) blob() string {
	return fmt.Sprintf("%x", sha1.Sum([]byte(fmt.Sprintf("blob %d\x00%s", len(e.data), e.data))))
}

// view is everything below the root at one time, without what is git's own.
type view map[string]entry

// look lists the disk. git holds what lies in directories of that name, with times.
func (w *world) look() (v view, git map[string]string) {
	v, git = make(view), make(map[string]string)
	err := filepath.WalkDir(w.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(w.root, path)
		if err != nil || rel == "." {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		e, err := describe(path, info)
		if slices.Contains(strings.Split(rel, "/"), ".git") {
			git[rel] = fmt.Sprintf("%c %o %d %x", e.kind, e.perm, info.ModTime().UnixNano(), sha1.Sum([]byte(e.data)))
			if d.IsDir() {
				git[rel] = fmt.Sprintf("%c %o", e.kind, e.perm)
			}
			return err
		}
		v[rel] = e
		return err
	})
	w.must(err)
	return v, git
}

func describe(path string, info fs.FileInfo) (e entry, err error) {
	e.perm = info.Mode().Perm()
	switch info.Mode().Type() {
	case 0:
		var data []byte
		data, err = os.ReadFile(path)
		e.kind, e.data = 'f', string(data)
	case fs.ModeDir:
		e.kind = 'd'
	case fs.ModeSymlink:
		e.kind, e.perm = 'l', 0
		e.data, err = os.Readlink(path)
	default:
		e.kind = 'o'
	}
	return e, err
}

// paths lists the paths of several views in order.
func paths(views ...view) []string {
	all := make(map[string]bool)
	for _, v := range views {
		for p := range v {
			all[p] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func diff(a, b view) string {
	var lines []string
	for _, p := range paths(a, b) {
		if a[p] != b[p] {
			lines = append(lines, fmt.Sprintf("%q: %v, now %v", p, a[p], b[p]))
		}
	}
	return strings.Join(lines, "\n")
}

func dirOf(path string) string {
	return path[:max(strings.LastIndexByte(path, '/'), 0)]
}

func isBelow(path, dir string) bool { return strings.HasPrefix(path, dir+"/") }

// holds reports whether anything lies below a path.
func (v view) holds(dir string) bool {
	for p := range v {
		if isBelow(p, dir) {
			return true
		}
	}
	return false
}

// hollow has the directories without files at and below a path, and those from there on that lead to
// them.
func (v view) hollow(path string) view {
	all := make(view)
	for dir, e := range v {
		if e.kind != 'd' || dir != path && !isBelow(dir, path) || v.holdsFile(dir) {
			continue
		}
		for at := dir; len(at) >= len(path); at = dirOf(at) {
			all[at] = v[at]
		}
	}
	return all
}

// holdsFile reports whether anything but directories lies below a path.
func (v view) holdsFile(dir string) bool {
	for p, e := range v {
		if e.kind != 'd' && isBelow(p, dir) {
			return true
		}
	}
	return false
}

// holds reports whether anything lies below a path on disk, git's own included.
func (m *move) holds(dir string) bool {
	if m.after.holds(dir) {
		return true
	}
	for p := range m.git {
		if isBelow(p, dir) {
			return true
		}
	}
	return false
}

// closedTo reports whether the user of the history cannot look at a path. A directory
// that may be listed, but not entered, shows at least that it is empty.
func (w *world) closedTo(v view, path string) bool {
	if w.uid == 0 {
		return false
	}
	switch e := v[path]; {
	case e.kind == 'f' && e.perm&0o400 == 0:
		return true
	case e.kind == 'd' && e.perm&0o500 != 0o500 && (e.perm&0o400 == 0 || v.holds(path)):
		return true
	}
	for at := dirOf(path); at != ""; at = dirOf(at) {
		if v[at].perm&0o500 != 0o500 {
			return true
		}
	}
	return false
}

// ignored asks git which paths of the disk are ignored. v lists the disk.
func (w *world) ignored(v view) map[string]bool {
	w.copyExclude()
	var stdin strings.Builder
	for _, p := range paths(v) {
		stdin.WriteString("./" + p + "\x00") // ":(x)" by itself would be magic
	}
	cmd := w.command("git", "--git-dir="+w.scratch, "--work-tree="+w.root, "check-ignore", "-z", "--stdin", "--no-index")
	cmd.Stdin = strings.NewReader(stdin.String())
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	err := bounded(cmd)
	out := stdout.Bytes()
	if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 {
		w.must(fmt.Errorf("check-ignore: %w", err))
	}
	set := make(map[string]bool)
	for _, p := range strings.Split(string(out), "\x00") {
		set[strings.TrimPrefix(p, "./")] = true
	}
	return set
}

// copyExclude gives the rules of the user's own repository to the scratch one.
func (w *world) copyExclude() {
	to := w.scratch + "/info/exclude"
	text, err := os.ReadFile(w.root + "/.git/info/exclude")
	if err != nil {
		text = nil
	}
	w.must(os.WriteFile(to, text, 0o644))
	w.own(to)
}
