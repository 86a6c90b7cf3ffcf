package gitstate

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// askTimeout limits the time of the git program.
const askTimeout = 10 * time.Second

// tables is the file that a repository with a reftable has. A linked work tree has one of its own.
const tables = "reftable/tables.list"

// hasTables reports whether the refs are in tables, which only the git program reads.
func (r *Reader) hasTables() bool {
	_, err := r.common.Lstat(tables)
	return err == nil
}

// readTables has the git program read HEAD, the refs and the list of stashes.
func (r *Reader) readTables(ctx context.Context) {
	r.see(filepath.Join(r.Repo.CommonDir, filepath.FromSlash(tables)))
	if r.Repo.GitDir != r.Repo.CommonDir {
		r.see(filepath.Join(r.Repo.GitDir, filepath.FromSlash(tables)))
	}
	if r.Git == nil {
		r.note("the refs are no files, and there is no git program to read them")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	out, err := r.ask(ctx, "for-each-ref", "--include-root-refs", "--format=%(refname) %(objectname) %(symref)")
	if err != nil {
		r.note("the refs are no files, and the git program cannot read them")
		return
	}
	r.asked(out)
	if out, err = r.ask(ctx, "symbolic-ref", "-q", "HEAD"); err == nil {
		r.record.Head, _ = symbolic(strings.TrimSpace(out))
	}
	if r.record.Refs["refs/stash"] != "" {
		r.askStashes(ctx)
	}
}

func (r *Reader) ask(ctx context.Context, args ...string) (string, error) {
	out, err := r.Git.Command(ctx, r.Repo.GitDir, append([]string{"--git-dir=" + r.Repo.GitDir}, args...)...).Output()
	return string(out), err
}

// asked takes the answer of for-each-ref. A root ref is a file where refs are files, so it counts as one
// here.
func (r *Reader) asked(out string) {
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 2:
		case fields[0] == "HEAD":
			r.record.Head = fields[1]
		case !strings.HasPrefix(fields[0], "refs/"):
			if RootRef(fields[0]) && slices.Contains(progress, fields[0]) {
				r.record.Files[fields[0]] = []byte(fields[1] + "\n")
			}
		case len(fields) == 2:
			r.addRef(fields[0], fields[1])
		default:
			r.addRef(fields[0], "ref: "+fields[2])
		}
	}
}

// askStashes makes a reflog of the list of stashes, oldest first as in a file. It has no times.
func (r *Reader) askStashes(ctx context.Context) {
	out, err := r.ask(ctx, "log", "-g", "--no-show-signature", "--format=%H%x09%gs", "refs/stash", "--")
	if err != nil {
		r.note("the list of stashes cannot be read")
		return
	}
	lines := slices.Collect(strings.Lines(out))
	old := strings.Repeat("0", len(strings.SplitN(out, "\t", 2)[0]))
	for _, line := range slices.Backward(lines) {
		id, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		r.record.Stash = fmt.Appendf(r.record.Stash, "%s %s git <> 0 +0000\t%s\n", old, id, message)
		old = id
	}
}

// rootRefs are the refs outside of refs/ whose names do not end in _HEAD.
var rootRefs = []string{"AUTO_MERGE", "BISECT_EXPECTED_REV", "NOTES_MERGE_PARTIAL", "NOTES_MERGE_REF", "MERGE_AUTOSTASH"}

// RootRef reports whether a name is that of a ref outside of refs/, other than HEAD. MERGE_HEAD and
// FETCH_HEAD are files in every repository.
func RootRef(name string) bool {
	return strings.HasSuffix(name, "_HEAD") && name != "MERGE_HEAD" && name != "FETCH_HEAD" && !strings.Contains(name, "/") ||
		slices.Contains(rootRefs, name)
}
