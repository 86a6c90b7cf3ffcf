package usergit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Attributes is the name of the files that say what git makes of others.
const Attributes = ".gitattributes"

// scratchConfig switches off what concerns the user's index alone.
var scratchConfig = []string{"-c", "core.splitIndex=false", "-c", "core.fsmonitor=false", "-c", "core.sparseCheckout=false", "-c", "index.sparse=false"}

// Seed names the entries that git compares with: a file with carriage returns there keeps them.
func (s *Scratch) Seed(ctx context.Context, entries map[string]Entry) error {
	seed := s.seed()
	if err := os.RemoveAll(seed); err != nil {
		return err
	}
	return s.setEntries(ctx, seed, entries, scratchConfig...)
}

func (s *Scratch) seed() string { return filepath.Join(s.dir, "seed-index") }

// Clean returns the ids of the blobs that git add would make of files: git adds them in a work tree
// of their own, with the attributes of the real one.
func (s *Scratch) Clean(ctx context.Context, files map[string]func() (io.ReadCloser, error)) (map[string]string, error) {
	s.layers++
	tree := filepath.Join(s.dir, fmt.Sprintf("tree%d", s.layers))
	defer os.RemoveAll(tree)
	index := filepath.Join(s.dir, fmt.Sprintf("index%d", s.layers))
	seed, err := readIndex(s.seed())
	if err == nil {
		err = seed.copyTo(index)
	}
	if err != nil {
		return nil, err
	}
	var paths strings.Builder
	for name, open := range files {
		if err := s.place(tree, name, open); err != nil {
			return nil, err
		}
		paths.WriteString(name + "\x00")
	}
	at := s.env(indexFile+index, "GIT_DIR="+s.repo.GitDir, "GIT_WORK_TREE="+tree)
	run := func(stdin string, args ...string) ([]byte, error) {
		args = slices.Concat([]string{"-C", tree}, scratchConfig, args)
		return s.repo.output(ctx, call{args: args, env: at, stdin: strings.NewReader(stdin)})
	}
	if _, err := run(paths.String(), "update-index", "--add", "--replace", "-z", "--stdin"); err != nil {
		return nil, err
	}
	out, err := run("", "ls-files", "-s", "-z")
	if err != nil {
		return nil, err
	}
	list, ids := entries(out, 1), make(map[string]string)
	for name := range files {
		if ids[name] = list[name].ID; ids[name] == "" {
			return nil, fmt.Errorf("git update-index made no blob of %s", name)
		}
	}
	return ids, nil
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
	to := filepath.Join(tree, dir, Attributes)
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	from := filepath.Join(s.repo.Top, dir, Attributes)
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
