package usergit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Entry is a path's entry in a tree or index. The zero Entry means that there is none.
type Entry struct{ Mode, ID string }

// Modes of entries.
const (
	ModeFile    = "100644"
	ModeExec    = "100755"
	ModeSymlink = "120000"
	ModeGitlink = "160000"
)

// IsFile reports whether an entry is a regular file.
func (e Entry) IsFile() bool { return e.Mode == ModeFile || e.Mode == ModeExec }

// maxArguments is the length of the paths that one git gets. Windows allows 32 KiB in all.
const maxArguments = 16 << 10

// Lookup returns the entries that a tree has at some paths. A directory above others of the paths
// has none.
func (r *Repo) Lookup(ctx context.Context, tree string, paths []string) (map[string]Entry, error) {
	found := make(map[string]Entry)
	for len(paths) > 0 {
		args, length := []string{"ls-tree", "-z", "--full-tree", tree, "--"}, 0
		for len(paths) > 0 && (length == 0 || length+len(paths[0]) < maxArguments) {
			args, length, paths = append(args, paths[0]), length+len(paths[0])+1, paths[1:]
		}
		out, err := r.output(ctx, call{args: args, env: []string{"GIT_LITERAL_PATHSPECS=1"}})
		if err != nil {
			return nil, err
		}
		maps.Copy(found, entries(out, 2))
	}
	return found, nil
}

// Moved is an entry that differs between two trees, or between a tree and the index.
type Moved struct{ From, To Entry }

// Staged lists the entries by which the index differs from a tree. A path of git add -N counts as
// absent.
func (r *Repo) Staged(ctx context.Context, tree string) (map[string]Moved, error) {
	return r.moved(ctx, nil, "diff-index", "--cached", "--ita-invisible-in-index", tree)
}

func (r *Repo) moved(ctx context.Context, env []string, verb string, args ...string) (map[string]Moved, error) {
	args = append([]string{verb, "-r", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none"}, args...)
	out, err := r.output(ctx, call{args: args, env: env})
	if err != nil {
		return nil, err
	}
	list := make(map[string]Moved)
	records := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(records); i += 2 {
		f := strings.Fields(strings.TrimPrefix(records[i], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("git %s: cannot use %q", verb, records[i])
		}
		list[records[i+1]] = Moved{side(f[0], f[2]), side(f[1], f[3])}
	}
	return list, nil
}

func side(mode, id string) Entry {
	if strings.Trim(mode, "0") == "" {
		return Entry{}
	}
	return Entry{mode, id}
}

// entries parses "mode ... id ...\tpath" records; id is the number of the field.
func entries(out []byte, id int) map[string]Entry {
	list := make(map[string]Entry)
	for record := range bytes.SplitSeq(out, []byte{0}) {
		head, path, ok := strings.Cut(string(record), "\t")
		if fields := strings.Fields(head); ok && len(fields) > id {
			list[path] = Entry{fields[0], fields[id]}
		}
	}
	return list
}

// records are the lines that set entries of an index. Entries that go come first: a file may be in
// the place of a directory.
func records(changed map[string]Entry, idLength int) string {
	var gone, set strings.Builder
	for _, path := range slices.Sorted(maps.Keys(changed)) {
		if e := changed[path]; e == (Entry{}) {
			fmt.Fprintf(&gone, "0 %s\t%s\x00", strings.Repeat("0", idLength), path)
		} else {
			fmt.Fprintf(&set, "%s %s\t%s\x00", e.Mode, e.ID, path)
		}
	}
	return gone.String() + set.String()
}

// Ignored returns those of some paths that rules ignore. A caller leaves out paths that git tracks:
// git itself would compare each path with the whole index. A path below a symlink counts as not ignored:
// git refuses to say. Git takes a path for a pattern if it begins with a colon, so each begins with a dot.
func (r *Repo) Ignored(ctx context.Context, paths []string) (map[string]bool, error) {
	links := make(map[string]bool)
	paths = slices.DeleteFunc(slices.Clone(paths), func(name string) bool { return r.belowLink(name, links) })
	if len(paths) == 0 {
		return nil, nil
	}
	const here = "./"
	asked := here + strings.Join(paths, "\x00"+here) + "\x00"
	out, err := r.output(ctx, call{args: []string{"check-ignore", "--no-index", "-z", "--stdin"}, stdin: strings.NewReader(asked)})
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // none
		return nil, nil
	}
	ignored := make(map[string]bool)
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		ignored[strings.TrimPrefix(path, here)] = true
	}
	return ignored, err
}

// belowLink reports whether a directory above a path is a symlink by now. known has the answers so far.
func (r *Repo) belowLink(name string, known map[string]bool) bool {
	dir := path.Dir(name)
	if dir == "." {
		return false
	}
	if is, asked := known[dir]; asked {
		return is
	}
	found, err := os.Lstat(filepath.Join(r.Top, filepath.FromSlash(dir)))
	known[dir] = err == nil && found.Mode()&os.ModeSymlink != 0 || r.belowLink(dir, known)
	return known[dir]
}

// TrustsModes reports whether git takes permission bits of files for changes.
func (r *Repo) TrustsModes(ctx context.Context) (bool, error) {
	out, err := r.output(ctx, call{args: []string{"config", "--bool", "core.fileMode"}})
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // not set
		return true, nil
	}
	return strings.TrimSpace(string(out)) != "false", err
}
