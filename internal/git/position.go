package git

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// Position identifies the state of a work tree that a commit, checkout, stash or rebase changes. A
// field is "" if it is not known, as in a repository whose refs are not files.
type Position struct {
	Branch string `json:"branch,omitempty"` // branch that is checked out; "" = detached HEAD
	Commit string `json:"commit,omitempty"` // of HEAD
	Stash  string `json:"stash,omitempty"`  // newest entry
	Under  string `json:"under,omitempty"`  // "rebase" or "merge" in progress
}

// Position reads the position of the work tree.
func (r *Repo) Position() Position {
	p := Position{Branch: r.branch(), Stash: r.ref("refs/stash")}
	if p.Branch != "" {
		p.Commit = r.ref("refs/heads/" + p.Branch)
	} else if head, ok := readHead(filepath.Join(r.GitDir, "HEAD")); ok && !strings.HasPrefix(head, "ref:") {
		p.Commit = strings.TrimSpace(head)
	}
	for _, sign := range []struct{ name, under string }{{"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"}} {
		if _, err := os.Lstat(filepath.Join(r.GitDir, sign.name)); err == nil {
			p.Under = sign.under
			break
		}
	}
	return p
}

// ref returns the commit that a ref names, "" if there is none.
func (r *Repo) ref(name string) string {
	if data, err := ReadFile(filepath.Join(r.CommonDir, filepath.FromSlash(name)), 1<<10); err == nil {
		return strings.TrimSpace(string(data))
	}
	data, err := ReadFile(filepath.Join(r.CommonDir, "packed-refs"), 64<<20)
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(data) {
		if id, ref, ok := strings.Cut(strings.TrimSpace(string(line)), " "); ok && ref == name {
			return id
		}
	}
	return ""
}
