package peers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// jujutsu is jj. Its store lies in the tree, as ".jj"; in a repository it keeps its objects in
// that of the repository. Every command of jj records the tree first, so each is one process.
type jujutsu struct {
	system.Processes
	program, store string
	repository     bool
	clock          time.Time // of the last command
}

// jujutsuSettings let jj record what the others record, and print plain text.
const jujutsuSettings = `user.name = "bench"
user.email = "bench@localhost"
ui.color = "never"
ui.paginate = "never"
snapshot.max-new-file-size = "64MiB"
`

func newJujutsu(s Setting) *jujutsu {
	j := &jujutsu{
		Processes: system.Processes{Dir: s.Root, Env: system.CleanEnv(s.Home)},
		program:   s.Jujutsu, store: s.Store, repository: s.Repository, clock: time.Now(),
	}
	j.Env = append(j.Env, "JJ_CONFIG="+j.settings())
	return j
}

func (j *jujutsu) settings() string {
	return filepath.Join(filepath.Dir(j.Dir), filepath.Base(j.Dir)+".toml")
}

// jj runs a command. Each has a second of its own: jj fails where a tree goes back to an earlier state
// within a second, because the new commit has the id of the old one.
func (j *jujutsu) jj(args ...string) (string, error) {
	j.clock = j.clock.Add(time.Second)
	return j.RunWith([]string{"JJ_TIMESTAMP=" + j.clock.Format(time.RFC3339)}, "", append([]string{j.program}, args...)...)
}

// Reset leaves the repository as it is: what jj has put there is no part of what a first track
// reads.
func (j *jujutsu) Reset() error {
	return errors.Join(os.WriteFile(j.settings(), []byte(jujutsuSettings), 0o644), os.RemoveAll(j.store))
}

// Track returns the id of the commit that holds the tree.
func (j *jujutsu) Track() (string, error) {
	if _, err := os.Stat(j.store); errors.Is(err, os.ErrNotExist) {
		args := []string{"git", "init", "--no-colocate"}
		if j.repository {
			args = []string{"git", "init", "--git-repo=."}
		}
		if _, err := j.jj(args...); err != nil {
			return "", err
		}
	}
	return j.jj("log", "-r", "@", "--no-graph", "-T", "commit_id")
}

func (j *jujutsu) Patch(tree string) ([]string, error) {
	out, err := j.jj("diff", "--from", tree, "--name-only")
	var files []string
	for name := range strings.Lines(out) {
		files = append(files, filepath.Join(j.Dir, filepath.FromSlash(strings.TrimSuffix(name, "\n"))))
	}
	return files, err
}

// DiffFull gets the changed lines, not both texts.
func (j *jujutsu) DiffFull(from, to string) (func() (int, error), error) {
	out, err := j.jj("diff", "--git", "--from", from, "--to", to)
	return func() (int, error) { return strings.Count("\n"+out, "\ndiff --git "), nil }, err
}

func (j *jujutsu) Restore(tree string) error {
	_, err := j.jj("restore", "--from", tree)
	return err
}

func (j *jujutsu) Revert(tree string, files []string) error {
	args := []string{"restore", "--from", tree, "--"}
	for _, file := range files {
		rel, err := filepath.Rel(j.Dir, file)
		if err != nil {
			return err
		}
		args = append(args, fmt.Sprintf("root-file:%q", filepath.ToSlash(rel)))
	}
	_, err := j.jj(args...)
	return err
}

// Undo implements undoer.
func (j *jujutsu) Undo() error {
	_, err := j.jj("undo")
	return err
}

// Redo implements undoer.
func (j *jujutsu) Redo() error {
	_, err := j.jj("redo")
	return err
}
