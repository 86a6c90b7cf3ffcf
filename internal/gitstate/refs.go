package gitstate

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ofWorktree lists the refs that each work tree has for itself.
var ofWorktree = []string{"bisect", "worktree", "rewritten"}

// readRefs reads packed refs, then loose ones, which count more.
func (r *Reader) readRefs(ctx context.Context) {
	if r.hasTables() {
		r.readTables(ctx)
		return
	}
	r.see(filepath.Join(r.Repo.CommonDir, "packed-refs"))
	data, err := readFile(r.common, "packed-refs", maxPacked)
	if err == nil {
		r.packed(data)
	} else if !errors.Is(err, fs.ErrNotExist) {
		r.note("packed-refs cannot be read")
	}
	r.looseIn(r.common, r.Repo.CommonDir)
	if r.Repo.GitDir == r.Repo.CommonDir {
		return
	}
	for name := range r.record.Refs { // those of the main work tree
		if private(name) {
			delete(r.record.Refs, name)
		}
	}
	r.looseIn(r.own, r.Repo.GitDir)
}

// private reports whether each work tree has its own ref of this name.
func private(name string) bool {
	for _, dir := range ofWorktree {
		if strings.HasPrefix(name, "refs/"+dir+"/") {
			return true
		}
	}
	return false
}

func (r *Reader) looseIn(root *os.Root, dir string) {
	r.see(filepath.Join(dir, "refs"))
	info, err := root.Lstat("refs")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil || !info.IsDir():
		r.note("refs is no directory")
		return
	}
	below, err := root.OpenRoot("refs")
	if err != nil {
		r.note("refs cannot be read")
		return
	}
	defer below.Close()
	r.loose(below, filepath.Join(dir, "refs"), "refs/", 0)
}

// loose reads the refs in one directory. Each directory is opened by itself, so that a path is not
// looked up from the top for each file.
func (r *Reader) loose(root *os.Root, dir, prefix string, depth int) {
	names, err := list(root, ".")
	if err != nil || depth > maxDepth {
		r.note("%q cannot be read", prefix)
		return
	}
	for _, name := range names {
		full, path := prefix+name, filepath.Join(dir, name)
		info, err := root.Lstat(name)
		switch {
		case err != nil:
		case info.IsDir():
			r.see(path)
			below, err := root.OpenRoot(name)
			if err != nil {
				r.note("%q cannot be read", full)
				continue
			}
			r.loose(below, path, full+"/", depth+1)
			below.Close()
		case strings.HasSuffix(name, ".lock"): // another program is writing a ref
		default:
			r.seeRef(path)
			r.looseRef(root, name, full)
		}
	}
}

func (r *Reader) looseRef(root *os.Root, name, full string) {
	value, ok := "", false
	if target, err := root.Readlink(name); err == nil {
		value, ok = symbolic(target)
	} else if data, err := readFile(root, name, maxRefFile); err == nil {
		value, ok = refValue(string(data), r.Repo.SHA256)
	} else if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if !ok {
		delete(r.record.Refs, full) // git does not fall back to the packed ref either
		r.note("ref %q is broken", full)
		return
	}
	r.addRef(full, value)
}

func (r *Reader) addRef(name, value string) {
	switch {
	case !validName(name):
		r.note("ref %q has no valid name", name)
	case len(r.record.Refs) == maxRefs:
		r.note("more than %d refs", maxRefs)
	default:
		r.record.Refs[name] = value
	}
}

// packed reads the lines of a packed-refs file: "<object> <name>", comments, and lines "^<object>"
// for the object that the tag before leads to.
func (r *Reader) packed(data []byte) {
	for line := range bytes.Lines(data) {
		line = bytes.TrimRight(line, "\n")
		if len(line) == 0 || line[0] == '#' || line[0] == '^' {
			continue
		}
		id, name, ok := strings.Cut(string(line), " ")
		if value, valid := refValue(id, r.Repo.SHA256); ok && valid && !strings.HasPrefix(value, "ref: ") {
			r.addRef(name, value)
		} else {
			r.note("packed-refs has a broken line")
		}
	}
}

// refValue reads the contents of a ref: an object name, or "ref: <name>". Anything may follow an
// object name after white space, as in FETCH_HEAD.
func refValue(text string, sha256 bool) (string, bool) {
	if name, ok := strings.CutPrefix(text, "ref:"); ok {
		return symbolic(strings.Trim(name, " \t\r\n"))
	}
	size := 40
	if sha256 {
		size = 64
	}
	if len(text) < size || len(text) > size && !strings.ContainsRune(" \t\r\n", rune(text[size])) {
		return "", false
	}
	id := strings.ToLower(text[:size])
	if _, err := hex.DecodeString(id); err != nil || strings.Trim(id, "0") == "" {
		return "", false
	}
	return id, true
}

// symbolic returns the value of a symbolic ref.
func symbolic(target string) (string, bool) {
	return "ref: " + target, strings.HasPrefix(target, "refs/") && validName(target)
}

// validName reports whether git takes a name for that of a ref (git-check-ref-format(1)).
func validName(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c == 0x7f || strings.IndexByte(`~^:?*[\`, c) >= 0 {
			return false
		}
	}
	return !strings.Contains(name, "..") && !strings.Contains(name, "@{") && !strings.HasSuffix(name, ".")
}
