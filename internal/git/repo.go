package git

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
)

// Repo is the user's repository as seen from one of its work trees.
type Repo struct {
	// Top is the work tree, the directory that git rev-parse --show-toplevel
	// names. It is "" where git has no work tree: in a bare repository, inside
	// the git directory itself, and where core.worktree names a directory that
	// does not enclose the place from which the repository was found.
	Top string
	// GitDir holds HEAD and the index of this work tree; CommonDir holds what all
	// work trees of the repository share. They differ in a linked worktree.
	// Neither path contains symbolic links.
	GitDir, CommonDir string
	SHA256            bool // object names have 32 bytes, not 20
	Bare              bool

	spelled string // GitDir by the caller's own spelling of the directory, for includeIf
}

// Find returns the repository whose work tree encloses dir, or nil and no error
// where there is none. Like git it ascends, stops at the boundary of the file
// system, and stops at a .git file that leads nowhere: there git refuses to work,
// and Find says that there is no repository.
//
// Find does not judge who owns the repository, nor extensions that it does not
// know: it only ever reads.
func Find(dir string) (*Repo, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find repository of %s: %w", dir, err)
	}
	start, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, fmt.Errorf("find repository of %s: %w", dir, err)
	}
	r := ascend(start, sameDevice)
	if r != nil && r.Top != "" {
		r.spelled = spelling(r, abs, start)
	}
	return r, nil
}

// ascend is Find for an absolute path without symbolic links; same reports
// whether two directories are on one file system.
func ascend(start string, same func(a, b string) bool) *Repo {
	for dir := start; ; {
		switch at, found := dotGit(filepath.Join(dir, ".git")); found {
		case broken:
			return nil
		case present:
			return newRepo(at, dir, start)
		}
		if at, ok := gitDir(dir); ok {
			return newRepo(at, "", start)
		}
		parent := filepath.Dir(dir)
		if parent == dir || !same(start, parent) {
			return nil
		}
		dir = parent
	}
}

// dirs are the directories of a repository.
type dirs struct{ git, common string }

// newRepo reads the part of the repository's configuration that decides its shape. It ignores a
// configuration that cannot be read; IgnoreSettings reports it.
func newRepo(at dirs, top, start string) *Repo {
	f := readFormat(at)
	r := &Repo{Top: top, GitDir: at.git, CommonDir: at.common, SHA256: f.sha256, Bare: f.bare}
	switch {
	case f.bare || realpath.Within(start, at.git):
		r.Top = ""
	case f.worktree != "":
		r.Top = chosenWorktree(at.git, f.worktree, top, start)
	}
	return r
}

// chosenWorktree follows core.worktree. One that no longer exists (a submodule
// moved by hand) counts as absent.
func chosenWorktree(gitDir, worktree, top, start string) string {
	if !filepath.IsAbs(worktree) {
		worktree = filepath.Join(gitDir, worktree)
	}
	if !isDir(worktree) {
		return top
	}
	if worktree = resolved(worktree); realpath.Within(start, worktree) {
		return worktree
	}
	return ""
}

// spelling returns r.GitDir below abs's spelling of r.Top, or "" if it is the same
// or not reached that way.
func spelling(r *Repo, abs, start string) string {
	rel, err := filepath.Rel(r.Top, start)
	if err != nil || abs == start || r.GitDir != filepath.Join(r.Top, ".git") {
		return ""
	}
	top := abs
	if rel != "." {
		for range strings.Count(filepath.ToSlash(rel), "/") + 1 {
			top = filepath.Dir(top)
		}
	}
	a, errA := os.Stat(top)
	b, errB := os.Stat(r.Top)
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		return ""
	}
	return filepath.Join(top, ".git")
}

// IndexPath is where the index of this work tree lies, if it has one.
func (r *Repo) IndexPath() string { return filepath.Join(r.GitDir, "index") }

// Holds reports whether path, absolute and without symbolic links, is or lies
// below one of the repository's own directories: not a place to capture. A work
// tree that was added inside a bare repository does not belong to those.
func (r *Repo) Holds(path string) bool {
	if realpath.Within(path, r.GitDir) || !realpath.Within(path, r.CommonDir) {
		return realpath.Within(path, r.GitDir)
	}
	return r.Top == "" || !realpath.Within(r.Top, r.CommonDir) || !realpath.Within(path, r.Top)
}

type foundness int

const (
	absent foundness = iota // git goes on to the parent directory
	broken                  // git gives up
	present
)

// dotGit examines a path that may be a repository's .git directory or file.
func dotGit(path string) (dirs, foundness) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return dirs{}, absent
	case info.Mode().IsRegular():
		target, ok := readDotGitFile(path)
		if !ok {
			return dirs{}, broken
		}
		if at, ok := gitDir(target); ok {
			return at, present
		}
		return dirs{}, broken
	case info.IsDir():
		if at, ok := gitDir(path); ok {
			return at, present
		}
	}
	return dirs{}, absent
}

// maxDotGitFile is git's own limit.
const maxDotGitFile = 1 << 20

// readDotGitFile returns where a file of the form "gitdir: <path>" leads.
func readDotGitFile(path string) (string, bool) {
	data, err := ReadFile(path, maxDotGitFile)
	if err != nil {
		return "", false
	}
	target, ok := bytes.CutPrefix(data, []byte("gitdir: "))
	if !ok {
		return "", false
	}
	return pathLine(target, filepath.Dir(path))
}

// pathLine reads the path that is the one line of a file, relative to dir.
func pathLine(line []byte, dir string) (string, bool) {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) == 0 || bytes.IndexByte(line, 0) >= 0 {
		return "", false
	}
	p := filepath.FromSlash(string(line))
	if !filepath.IsAbs(p) {
		p = filepath.Join(dir, p)
	}
	return p, true
}

// gitDir reports whether path is a git directory, by git's rule: a HEAD that may
// be one, and beside it, or where commondir leads, objects and refs.
func gitDir(path string) (dirs, bool) {
	if !isHead(filepath.Join(path, "HEAD")) {
		return dirs{}, false
	}
	at := dirs{git: resolved(path)}
	at.common = at.git
	if data, err := ReadFile(filepath.Join(path, "commondir"), 1<<16); err == nil {
		common, ok := pathLine(data, path)
		if !ok {
			return dirs{}, false
		}
		at.common = resolved(common)
	} else if !os.IsNotExist(err) {
		return dirs{}, false
	}
	return at, isDir(filepath.Join(at.common, "objects")) && isDir(filepath.Join(at.common, "refs"))
}

// isHead reports whether path may be a HEAD: a symbolic link into refs/, a line
// "ref: refs/...", or an object name.
func isHead(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	if info.Mode().Type() == fs.ModeSymlink {
		target, err := os.Readlink(path)
		return err == nil && strings.HasPrefix(target, "refs/")
	}
	head, ok := readHead(path)
	if !ok {
		return false
	}
	if ref, ok := strings.CutPrefix(head, "ref:"); ok {
		return strings.HasPrefix(strings.TrimLeft(ref, " \t\r\n"), "refs/")
	}
	if len(head) < 40 {
		return false
	}
	_, err = object.ParseID(head[:40])
	return err == nil
}

// readHead returns the contents of a HEAD, which are one short line.
func readHead(path string) (string, bool) {
	data, err := ReadFile(path, 1<<16)
	return string(data), err == nil
}

// branch returns the name of the branch that is checked out, "" when there is none
// or when the repository keeps its refs in another format than files.
func (r *Repo) branch() string {
	path := filepath.Join(r.GitDir, "HEAD")
	head, err := os.Readlink(path)
	if err != nil {
		line, _ := readHead(path)
		ref, ok := strings.CutPrefix(line, "ref:")
		if !ok {
			return ""
		}
		head = strings.Trim(ref, " \t\r\n")
	}
	name, ok := strings.CutPrefix(head, "refs/heads/")
	if !ok || name == ".invalid" { // what reftable leaves in HEAD
		return ""
	}
	return name
}
