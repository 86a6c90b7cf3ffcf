package peers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// spec is the specification's sequence of git commands, word for word: the program
// that cairn replaces.
type spec struct {
	system.Processes
	git   string
	store string
}

func newSpec(s Setting) *spec {
	return &spec{
		Processes: system.Processes{Dir: s.Root, Env: system.CleanEnv(s.Home)},
		git:       s.Git, store: filepath.Join(s.Store, "snapshot.git"),
	}
}

// plain, with the store and the work tree before the command.
func (s *spec) plain(args ...string) (string, error) {
	return s.Run("", append([]string{s.git, "--git-dir", s.store, "--work-tree", s.Dir}, args...)...)
}

// exact is plain with the settings that the specification gives the diff commands.
func (s *spec) exact(args ...string) (string, error) {
	return s.Run("", append([]string{
		s.git, "-c", "core.autocrlf=false", "-c", "core.quotepath=false",
		"--git-dir", s.store, "--work-tree", s.Dir,
	}, args...)...)
}

func (s *spec) Reset() error { return os.RemoveAll(s.store) }

func (s *spec) Track() (string, error) {
	if err := s.init(); err != nil {
		return "", err
	}
	if _, err := s.plain("add", "."); err != nil {
		return "", err
	}
	tree, err := s.plain("write-tree")
	return strings.TrimSpace(tree), err
}

// init makes the store, inside the first track as the specification has it.
func (s *spec) init() error {
	_, err := os.Stat(s.store)
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(s.store, 0o755); err != nil {
		return err
	}
	where := []string{"GIT_DIR=" + s.store, "GIT_WORK_TREE=" + s.Dir}
	if _, err := s.RunWith(where, "", s.git, "init"); err != nil {
		return err
	}
	return s.configure([2]string{"core.autocrlf", "false"})
}

func (s *spec) configure(pairs ...[2]string) error {
	for _, pair := range pairs {
		if _, err := s.Run("", s.git, "--git-dir", s.store, "config", pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

func (s *spec) Patch(tree string) ([]string, error) {
	if _, err := s.plain("add", "."); err != nil {
		return nil, err
	}
	names, err := s.exact("diff", "--no-ext-diff", "--name-only", tree, "--", ".")
	var files []string
	for name := range strings.Lines(names) {
		if name = strings.TrimSpace(name); name != "" {
			files = append(files, filepath.Join(s.Dir, filepath.FromSlash(name)))
		}
	}
	return files, err
}

// DiffFull starts two processes for every file, as the specification has it.
func (s *spec) DiffFull(from, to string) (func() (int, error), error) {
	statuses, err := s.exact("diff", "--name-status", "--no-renames", from, to)
	if err != nil {
		return nil, err
	}
	if _, err := s.exact("diff", "--numstat", from, to); err != nil {
		return nil, err
	}
	files := 0
	for line := range strings.Lines(statuses) {
		status, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			return nil, fmt.Errorf("git diff --name-status printed %q", line)
		}
		if err := s.show(status, from, to, name); err != nil {
			return nil, err
		}
		files++
	}
	return func() (int, error) { return files, nil }, nil
}

// show reads both sides. A side that lacks the file fails, which counts as empty.
func (s *spec) show(status, from, to, name string) error {
	if _, err := s.exact("show", from+":"+name); err != nil && (status != "A" || !system.ExitedWith(err)) {
		return err
	}
	if _, err := s.exact("show", to+":"+name); err != nil && (status != "D" || !system.ExitedWith(err)) {
		return err
	}
	return nil
}

func (s *spec) Restore(tree string) error {
	if _, err := s.plain("read-tree", tree); err != nil {
		return err
	}
	_, err := s.plain("checkout-index", "-a", "-f")
	return err
}

// Revert starts a process for every file. A file that the tree lacks is deleted.
func (s *spec) Revert(tree string, files []string) error {
	for _, file := range files {
		_, err := s.plain("checkout", tree, "--", file)
		if err == nil {
			continue
		}
		rel, relErr := filepath.Rel(s.Dir, file)
		if relErr != nil || !system.ExitedWith(err) {
			return errors.Join(err, relErr)
		}
		if listed, lsErr := s.plain("ls-tree", tree, "--", filepath.ToSlash(rel)); lsErr != nil || listed != "" {
			return errors.Join(err, lsErr)
		}
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}
