package gitstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
)

const (
	maxSmall   = 16 << 20 // bytes of a file of an operation in progress, of a configuration
	maxHook    = 1 << 20
	maxRefFile = 64 << 10  // bytes of the file of a loose ref
	maxPacked  = 256 << 20 // bytes of packed-refs
	maxIndex   = 1 << 30   // bytes of an index file
	maxRefs    = 1_000_000
	maxFiles   = 10_000 // files of operations in progress
	maxDepth   = 64     // directories below refs, or of an operation in progress
	maxTrees   = 10_000 // linked work trees
)

// progress lists the files and directories that operations in progress leave in the git directory.
var progress = []string{
	"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "MERGE_RR", "MERGE_AUTOSTASH", "SQUASH_MSG", "AUTO_MERGE",
	"CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "ORIG_HEAD",
	"BISECT_LOG", "BISECT_START", "BISECT_TERMS", "BISECT_NAMES", "BISECT_EXPECTED_REV", "BISECT_ANCESTORS_OK", "BISECT_FIRST_PARENT", "BISECT_RUN", "BISECT_HEAD",
	"rebase-merge", "rebase-apply", "sequencer",
}

// CommonPrefix begins the names of files of the common directory in a record.
const CommonPrefix = "common/"

// shared lists the files of the common directory without which a repository cannot be built again.
var shared = []string{"config", "config.worktree", "shallow", "description", "info/exclude", "info/attributes", "info/sparse-checkout"}

// Reader reads a repository.
type Reader struct {
	Repo *git.Repo

	// Git reads refs in a format other than files. Nil means that they cannot be read.
	Git *git.Binary

	// Index returns the contents of the index file, if the caller has read it and it has not changed since, else
	// nil. The function may be nil.
	Index func() []byte

	began  time.Time
	record *Record
	stamper
	own, common *os.Root // git directory and common directory
	files       int
}

// Read returns the state of the repository and the stamps that tell whether it has changed since.
// The error means that the git directory cannot be opened.
func (r *Reader) Read(ctx context.Context) (*Record, Stamps, error) {
	r.began = time.Now()
	r.seeDirs(r.Repo.GitDir, r.Repo.CommonDir, filepath.Join(r.Repo.CommonDir, "info"), filepath.Join(r.Repo.CommonDir, "logs", "refs"))
	r.record = &Record{
		GitDir: r.Repo.GitDir, CommonDir: r.Repo.CommonDir, SHA256: r.Repo.SHA256,
		Refs: make(map[string]string), Files: make(map[string][]byte),
	}
	var err error
	if r.own, err = os.OpenRoot(r.Repo.GitDir); err != nil {
		return nil, Stamps{}, fmt.Errorf("read git directory: %w", err)
	}
	defer r.own.Close()
	if r.common, err = os.OpenRoot(r.Repo.CommonDir); err != nil {
		return nil, Stamps{}, fmt.Errorf("read git directory: %w", err)
	}
	defer r.common.Close()
	for _, step := range []func(context.Context){r.readHead, r.readRefs, r.readStash, r.readIndex, r.readProgress, r.readShared, r.readWorktrees} {
		if err := ctx.Err(); err != nil {
			return nil, Stamps{}, err
		}
		step(ctx)
	}
	slices.Sort(r.record.Notes)
	r.record.Notes = slices.Compact(r.record.Notes)
	return r.record, r.result(r.began), nil
}

func (r *Reader) note(format string, args ...any) {
	if len(r.record.Notes) < 100 {
		r.record.Notes = append(r.record.Notes, fmt.Sprintf(format, args...))
	}
}

func (r *Reader) readHead(context.Context) {
	head, ok := r.headOf(r.own, r.Repo.GitDir, "HEAD")
	if !ok && !r.hasTables() {
		r.note("HEAD cannot be read")
	}
	r.record.Head = head
}

// headOf reads a HEAD: a line, or a symbolic link to a ref.
func (r *Reader) headOf(root *os.Root, dir, name string) (string, bool) {
	r.see(filepath.Join(dir, name))
	if target, err := root.Readlink(name); err == nil {
		return symbolic(target)
	}
	data, err := readFile(root, name, maxRefFile)
	if err != nil {
		return "", false
	}
	return refValue(string(data), r.Repo.SHA256)
}

func (r *Reader) readStash(context.Context) {
	if r.hasTables() {
		return
	}
	r.see(filepath.Join(r.Repo.CommonDir, "logs", "refs", "stash"))
	data, err := readFile(r.common, "logs/refs/stash", maxSmall)
	if err == nil {
		r.record.Stash = data
	} else if !git.IsAbsent(err) || r.record.Refs["refs/stash"] != "" {
		r.note("the list of stashes cannot be read")
	}
}

func (r *Reader) readIndex(context.Context) {
	r.see(r.Repo.IndexPath())
	if data := r.knownIndex(); data != nil {
		r.record.Files["index"] = data
	} else {
		r.addFile(r.own, "index", "index", maxIndex)
	}
	names, err := list(r.own, ".")
	if err != nil {
		return
	}
	for _, name := range names {
		if strings.HasPrefix(name, "sharedindex.") {
			r.see(filepath.Join(r.Repo.GitDir, name))
			r.addFile(r.own, name, name, maxIndex)
		}
	}
}

func (r *Reader) knownIndex() []byte {
	if r.Index == nil {
		return nil
	}
	return r.Index()
}

func (r *Reader) readProgress(context.Context) {
	for _, name := range progress {
		r.see(filepath.Join(r.Repo.GitDir, name))
		r.addTree(r.own, r.Repo.GitDir, name, 0)
	}
}

// addTree records a file, or a directory with all files in it.
func (r *Reader) addTree(root *os.Root, dir, name string, depth int) {
	info, err := root.Lstat(name)
	if err != nil {
		return
	}
	if !info.IsDir() {
		r.addFile(root, name, name, maxSmall)
		return
	}
	names, err := list(root, name)
	if err != nil || depth > maxDepth {
		r.note("%q cannot be read", name)
		return
	}
	for _, below := range names {
		below = name + "/" + below
		r.see(filepath.Join(dir, filepath.FromSlash(below)))
		r.addTree(root, dir, below, depth+1)
	}
}

// addFile records the contents of a file, if there is one.
func (r *Reader) addFile(root *os.Root, name, part string, limit int64) {
	data, err := readFile(root, name, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		r.note("%q cannot be read", part)
	case r.files == maxFiles || !storable(part):
		r.note("%q is left out", part)
	default:
		r.files++
		r.record.Files[part] = data
	}
}

// storable reports whether a path can be one of a git tree.
func storable(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "\\:") || strings.HasSuffix(name, ".pieces") || strings.HasPrefix(strings.ToLower(name), ".git") || strings.HasPrefix(strings.ToLower(name), "git~") {
			return false
		}
	}
	return true
}

func (r *Reader) readShared(context.Context) {
	for _, name := range shared {
		r.see(filepath.Join(r.Repo.CommonDir, filepath.FromSlash(name)))
		r.addFile(r.common, name, CommonPrefix+name, maxSmall)
	}
	r.readHooks()
}

// readHooks reads the hooks, without the examples that git writes.
func (r *Reader) readHooks() {
	r.see(filepath.Join(r.Repo.CommonDir, "hooks"))
	names, err := list(r.common, "hooks")
	if err != nil {
		return
	}
	for _, name := range names {
		path := "hooks/" + name
		if strings.HasSuffix(name, ".sample") {
			continue
		}
		info, err := r.common.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		r.see(filepath.Join(r.Repo.CommonDir, "hooks", name))
		if r.addFile(r.common, path, CommonPrefix+path, maxHook); info.Mode()&0o100 != 0 && r.record.Files[CommonPrefix+path] != nil {
			r.record.Executable = append(r.record.Executable, CommonPrefix+path)
		}
	}
}

// readWorktrees reads the HEADs of the other work trees.
func (r *Reader) readWorktrees(context.Context) {
	if r.Repo.GitDir != r.Repo.CommonDir {
		if head, ok := r.headOf(r.common, r.Repo.CommonDir, "HEAD"); ok {
			r.record.Worktrees = append(r.record.Worktrees, Worktree{Head: head})
		}
	}
	dir := filepath.Join(r.Repo.CommonDir, "worktrees")
	r.see(dir)
	names, err := list(r.common, "worktrees")
	if err != nil {
		if !git.IsAbsent(err) {
			r.note("the linked work trees cannot be read")
		}
		return
	}
	for _, name := range names[:min(len(names), maxTrees)] {
		if filepath.Join(dir, name) == r.Repo.GitDir {
			continue
		}
		head, ok := r.headOf(r.common, r.Repo.CommonDir, "worktrees/"+name+"/HEAD")
		if !ok {
			continue
		}
		place, _ := readFile(r.common, "worktrees/"+name+"/gitdir", maxRefFile)
		r.record.Worktrees = append(r.record.Worktrees, Worktree{Name: name, Head: head, Place: strings.TrimRight(string(place), "\r\n")})
	}
}

// errSpecial is the error for a path that is neither a regular file nor absent.
var errSpecial = errors.New("not a regular file")

// readFile returns the contents of a regular file of at most limit bytes. It follows no link and
// waits for no writer of a FIFO.
func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", name, errSpecial)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errSpecial)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, limit)
	}
	return readAll(f, info.Size(), limit)
}

// readAll reads a file of a known size into a buffer of that size. A file that grows meanwhile is read
// up to limit.
func readAll(f io.Reader, size, limit int64) ([]byte, error) {
	data := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := data.ReadFrom(io.LimitReader(f, limit))
	return data.Bytes(), err
}

// list returns the names in a directory, sorted. It does not follow a link in its place.
func list(root *os.Root, name string) ([]string, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: not a directory", name)
	}
	d, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}
