package usergit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Scratch is a directory in which a commit is prepared.
type Scratch struct {
	repo   *Repo
	dir    string
	layers int
}

// NewScratch makes a Scratch. Close removes it.
func (r *Repo) NewScratch() (*Scratch, error) {
	dir, err := os.MkdirTemp("", "cairn-commit-")
	if err != nil {
		return nil, err
	}
	s := &Scratch{repo: r, dir: dir}
	info := filepath.Join(dir, "objects", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := os.WriteFile(filepath.Join(info, "alternates"), []byte(r.objects+"\n"), 0o600); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// indexFile begins the variable that names an index in the place of the user's.
const indexFile = "GIT_INDEX_FILE="

// Close removes the directory.
func (s *Scratch) Close() error { return os.RemoveAll(s.dir) }

func (s *Scratch) env(more ...string) []string {
	return append(more, "GIT_OBJECT_DIRECTORY="+filepath.Join(s.dir, "objects"))
}

// Add writes a blob as it is.
func (s *Scratch) Add(ctx context.Context, content []byte) (string, error) {
	out, err := s.repo.output(ctx, call{args: []string{"hash-object", "-w", "--no-filters", "--stdin"}, env: s.env(), stdin: bytes.NewReader(content)})
	return strings.TrimSpace(string(out)), err
}

// Blob returns the contents of a blob.
func (s *Scratch) Blob(ctx context.Context, id string) ([]byte, error) {
	return s.repo.output(ctx, call{args: []string{"cat-file", "blob", id}, env: s.env()})
}

// Clean returns the ids of the blobs that git add would make of files: git adds them in a work tree
// of their own, with the attributes of the real one.
func (s *Scratch) Clean(ctx context.Context, files map[string]func() (io.ReadCloser, error)) (map[string]string, error) {
	s.layers++
	tree := filepath.Join(s.dir, fmt.Sprintf("tree%d", s.layers))
	index := indexFile + filepath.Join(s.dir, fmt.Sprintf("index%d", s.layers))
	from := "--empty"
	if head := s.repo.Head(ctx); head.Commit != "" {
		from = head.Commit
	}
	if _, err := s.repo.output(ctx, call{args: []string{"-c", "core.splitIndex=false", "-c", "index.sparse=false", "read-tree", from}, env: s.env(index)}); err != nil {
		return nil, err
	}
	var paths strings.Builder
	for name, open := range files {
		if err := s.place(tree, name, open); err != nil {
			return nil, err
		}
		paths.WriteString(name + "\x00")
	}
	at := s.env(index, "GIT_DIR="+s.repo.GitDir, "GIT_WORK_TREE="+tree)
	args := []string{"-C", tree, "-c", "core.splitIndex=false", "-c", "core.fsmonitor=false", "-c", "index.sparse=false", "update-index", "--add", "--replace", "-z", "--stdin"}
	if _, err := s.repo.output(ctx, call{args: args, env: at, stdin: strings.NewReader(paths.String())}); err != nil {
		return nil, err
	}
	list, err := s.repo.list(ctx, s.env(index))
	ids := make(map[string]string)
	for name := range files {
		ids[name] = list[name].ID
	}
	return ids, err
}

// place writes a file into a work tree, with the attributes files of the directories above.
func (s *Scratch) place(tree, name string, open func() (io.ReadCloser, error)) error {
	at := filepath.Join(tree, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if err := s.copyAttributes(tree, filepath.FromSlash(dir)); err != nil {
			return err
		}
		if dir == "." {
			break
		}
	}
	content, err := open()
	if err != nil {
		return err
	}
	defer content.Close()
	f, err := os.Create(at)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

func (s *Scratch) copyAttributes(tree, dir string) error {
	to := filepath.Join(tree, dir, ".gitattributes")
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	from := filepath.Join(s.repo.Top, dir, ".gitattributes")
	if info, err := os.Lstat(from); err != nil || !info.Mode().IsRegular() {
		return nil // git does not follow a link there
	}
	text, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// publish copies the blobs of a commit into the repository.
func (s *Scratch) publish(ctx context.Context, w *Wanted) error {
	var ids strings.Builder
	for _, list := range []map[string]Entry{w.Entries, w.Staged} {
		for _, e := range list {
			if e.ID != "" {
				ids.WriteString(e.ID + "\n")
			}
		}
	}
	if ids.Len() == 0 {
		return nil
	}
	pack, err := s.repo.output(ctx, call{args: []string{"pack-objects", "-q", "--stdout"}, env: s.env(), stdin: strings.NewReader(ids.String())})
	if err != nil {
		return err
	}
	_, err = s.repo.output(ctx, call{args: []string{"unpack-objects", "-q"}, stdin: bytes.NewReader(pack)})
	return err
}
