package gitstate

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
)

// Record is one state of a repository.
type Record struct {
	GitDir, CommonDir string // as in git.Repo
	SHA256            bool

	Head      string            // contents of HEAD: an object name or "ref: <name>"; "" if it cannot be read
	Refs      map[string]string // values like Head, by name
	Stash     []byte            // reflog of refs/stash
	Worktrees []Worktree        // the other work trees of the repository, by name
	Files     map[string][]byte // the other parts: index, state of operations in progress, configuration
	IndexTree string            // instead of an index in Files: the tree that it equals, see NameIndex
	Notes     []string          // what could not be read, sorted

	Executable []string // names of Files, sorted

	Nested map[string]*Record // the repositories in the work tree, by their paths from the root
}

// Worktree is a linked work tree. The main one, seen from a linked one, has the name "".
type Worktree struct {
	Name, Head string
	Place      string // path of its .git file
}

// The names of parts. Those of a record's Files are paths from the git directory below "files/".
const (
	partAbout     = "about"
	partHead      = "HEAD"
	partRefs      = "refs"
	partStash     = "stash"
	partWorktrees = "worktrees"
	partFiles     = "files/"
)

// keyIndexTree begins the line of Record.IndexTree. The name after it has no quotes: releases that would take the
// record for one of a repository without an index refuse it for that.
const keyIndexTree = "index-tree"

// Parts returns the record as texts by path. Equal records have equal parts.
func (r *Record) Parts() map[string][]byte {
	parts := map[string][]byte{partAbout: r.about(), partRefs: r.refLines()}
	if r.Head != "" {
		parts[partHead] = []byte(r.Head + "\n")
	}
	if len(r.Stash) > 0 {
		parts[partStash] = r.Stash
	}
	if len(r.Worktrees) > 0 {
		var b bytes.Buffer
		for _, w := range r.Worktrees {
			fmt.Fprintf(&b, "%q %q %q\n", w.Name, w.Head, w.Place)
		}
		parts[partWorktrees] = b.Bytes()
	}
	for name, data := range r.Files {
		parts[partFiles+name] = data
	}
	r.addNested(parts)
	return parts
}

func (r *Record) about() []byte {
	var b bytes.Buffer
	format := "sha1"
	if r.SHA256 {
		format = "sha256"
	}
	fmt.Fprintf(&b, "format %s\ngitdir %q\ncommondir %q\n", format, r.GitDir, r.CommonDir)
	if r.IndexTree != "" {
		fmt.Fprintf(&b, "%s %s\n", keyIndexTree, r.IndexTree)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note %q\n", note)
	}
	for _, name := range r.Executable {
		fmt.Fprintf(&b, "executable %q\n", name)
	}
	return b.Bytes()
}

// refLines returns a line for each ref, sorted by name. Neither values nor names have line feeds,
// and names have no spaces.
func (r *Record) refLines() []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(r.Refs)) {
		fmt.Fprintf(&b, "%s %s\n", name, r.Refs[name])
	}
	return b.Bytes()
}

// Parse is the inverse of Record.Parts.
func Parse(parts map[string][]byte) (*Record, error) {
	r := &Record{Refs: make(map[string]string), Files: make(map[string][]byte), Stash: parts[partStash]}
	if parts[partAbout] == nil {
		return nil, fmt.Errorf("record of a git repository: it has no part %q", partAbout)
	}
	if err := r.parseAbout(parts[partAbout]); err != nil {
		return nil, err
	}
	r.Head = strings.TrimSuffix(string(parts[partHead]), "\n")
	for line := range strings.Lines(string(parts[partRefs])) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok {
			return nil, fmt.Errorf("record of a git repository: ref line %.80q", line)
		}
		r.Refs[name] = value
	}
	for line := range strings.Lines(string(parts[partWorktrees])) {
		var w Worktree
		if _, err := fmt.Sscanf(line, "%q %q %q\n", &w.Name, &w.Head, &w.Place); err != nil {
			return nil, fmt.Errorf("record of a git repository: work tree %.80q: %w", line, err)
		}
		r.Worktrees = append(r.Worktrees, w)
	}
	for name, data := range parts {
		if name, ok := strings.CutPrefix(name, partFiles); ok {
			r.Files[name] = data
		}
	}
	return r, r.parseNested(parts)
}

func (r *Record) parseAbout(data []byte) error {
	for line := range strings.Lines(string(data)) {
		key, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "format":
			r.SHA256 = text == "sha256"
			continue
		case keyIndexTree:
			if id, ok := refValue(text, r.SHA256); !ok || id != text || strings.HasPrefix(text, "ref:") {
				return fmt.Errorf("record of a git repository: line %.80q", line)
			}
			r.IndexTree = text
			continue
		}
		value, err := strconv.Unquote(text)
		if err != nil {
			return fmt.Errorf("record of a git repository: line %.80q: %w", line, err)
		}
		switch key {
		case "gitdir":
			r.GitDir = value
		case "commondir":
			r.CommonDir = value
		case "note":
			r.Notes = append(r.Notes, value)
		case "executable":
			r.Executable = append(r.Executable, value)
		}
	}
	return nil
}

// Branch returns the name of the branch that is checked out, "" for a detached HEAD.
func (r *Record) Branch() string {
	name, _ := strings.CutPrefix(r.Head, "ref: refs/heads/")
	if name == r.Head {
		return ""
	}
	return name
}

// Commit returns the object name that HEAD leads to, "" for none.
func (r *Record) Commit() string {
	value := r.Head
	for range maxSymbolic {
		name, ok := strings.CutPrefix(value, "ref: ")
		if !ok {
			return value
		}
		value = r.Refs[name]
	}
	return ""
}

// OfProgress reports whether a file of a record belongs to an operation in progress. ORIG_HEAD does
// not: it outlives the operation.
func OfProgress(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return name != "ORIG_HEAD" && slices.Contains(progress, top)
}

// Lacks reports whether the record misses a part of what there was of some files: the reader could not
// read it, or has left it out.
func (r *Record) Lacks(is func(name string) bool) bool {
	return slices.ContainsFunc(r.Notes, func(note string) bool {
		quoted, err := strconv.QuotedPrefix(note)
		if err != nil {
			return false
		}
		name, err := strconv.Unquote(quoted)
		return err == nil && is(name)
	})
}

// LeaveOut takes a file out of the record and notes that it was there.
func (r *Record) LeaveOut(name string) {
	delete(r.Files, name)
	r.Notes = append(r.Notes, strconv.Quote(name)+" is left out")
	slices.Sort(r.Notes)
}

// maxSymbolic is how many symbolic refs git follows.
const maxSymbolic = 5

// Under names the operation that is in progress, "" for none.
func (r *Record) Under() string {
	for _, p := range git.InProgress {
		for name := range r.Files {
			if name == p.File || strings.HasPrefix(name, p.File+"/") {
				return p.Name
			}
		}
	}
	return ""
}
