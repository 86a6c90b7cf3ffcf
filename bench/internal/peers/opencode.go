package peers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// openCode is the sequence of git commands of OpenCode 1.18. In a project that is a
// git repository without commits there is nothing to borrow; in any other it borrows
// all objects by an alternates file and begins with a copy of the index, so that a
// first track is an unchanged one. What it borrows is lost once the project's own git
// drops it. Its limit for large files is imitated by the stat calls only, so that it
// captures what the others do.
type openCode struct {
	system.Processes
	git        string
	store      string
	source     string // the project's own .git
	repository bool   // another program made it
}

func newOpenCode(s Setting) *openCode {
	return &openCode{
		Processes: system.Processes{Dir: s.Root, Env: system.CleanEnv(s.Home)},
		git:       s.Git, store: filepath.Join(s.Store, "snapshot.git"), source: filepath.Join(s.Root, ".git"),
		repository: s.Repository,
	}
}

// The options before a command: all, those of the staging commands, and those of the
// restoring ones.
var (
	openCodeCore  = []string{"-c", "core.longpaths=true", "-c", "core.symlinks=true"}
	openCodeStage = append([]string{"-c", "core.autocrlf=false"}, openCodeCore...)
	openCodeQuote = append(openCodeStage[:len(openCodeStage):len(openCodeStage)], "-c", "core.quotepath=false")
)

func (o *openCode) in(gitDir, stdin string, options, args []string) (string, error) {
	argv := append([]string{o.git}, options...)
	argv = append(argv, "--git-dir", gitDir, "--work-tree", o.Dir)
	return o.Run(stdin, append(argv, args...)...)
}

func (o *openCode) shadow(options []string, args ...string) (string, error) {
	return o.in(o.store, "", options, args)
}

// Reset makes the project a repository, too, where it is none.
func (o *openCode) Reset() (err error) {
	if !o.repository {
		_, err = o.Run("", o.git, "init", "--quiet", o.Dir)
	}
	return errors.Join(err, os.RemoveAll(o.store))
}

func (o *openCode) Track() (string, error) {
	if err := o.init(); err != nil {
		return "", err
	}
	if err := o.add(); err != nil {
		return "", err
	}
	tree, err := o.shadow(nil, "write-tree")
	return strings.TrimSpace(tree), err
}

func (o *openCode) init() error {
	_, err := os.Stat(o.store)
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(o.store, 0o755); err != nil {
		return err
	}
	if _, err := o.RunWith([]string{"GIT_DIR=" + o.store, "GIT_WORK_TREE=" + o.Dir}, "", o.git, "init"); err != nil {
		return err
	}
	for _, pair := range [][2]string{
		{"core.autocrlf", "false"}, {"core.longpaths", "true"}, {"core.symlinks", "true"}, {"core.fsmonitor", "false"},
		{"feature.manyFiles", "true"}, {"index.version", "4"}, {"index.threads", "true"}, {"core.untrackedCache", "true"},
	} {
		if _, err := o.Run("", o.git, "--git-dir", o.store, "config", pair[0], pair[1]); err != nil {
			return err
		}
	}
	common, err := o.Run("", o.git, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return err
	}
	return o.borrow(strings.TrimSpace(common))
}

// borrow makes the project's objects the store's, too, those that the project borrows
// included, and copies its index as far as there is one.
func (o *openCode) borrow(common string) error {
	alternates := []string{filepath.Join(common, "objects")}
	more, err := os.ReadFile(filepath.Join(common, "objects", "info", "alternates"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for line := range strings.Lines(string(more)) {
		if line = strings.TrimSpace(line); line != "" {
			alternates = append(alternates, line)
		}
	}
	text := strings.Join(alternates, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(o.store, "objects", "info", "alternates"), []byte(text), 0o644); err != nil {
		return err
	}
	index, err := os.ReadFile(filepath.Join(common, "index"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.store, "index"), index, 0o644)
}

// add stages what differs, as track, patch and diff begin.
func (o *openCode) add() error {
	if err := o.exclude(); err != nil {
		return err
	}
	candidates, err := o.candidates()
	if err != nil || len(candidates) == 0 {
		return err
	}
	if candidates, err = o.withoutIgnored(candidates); err != nil {
		return err
	}
	var pathspecs strings.Builder
	for _, path := range candidates {
		if _, err := os.Lstat(filepath.Join(o.Dir, path)); err == nil || errors.Is(err, os.ErrNotExist) {
			pathspecs.WriteString(":(top,literal)" + path + "\x00")
		}
	}
	if err := o.exclude(); err != nil {
		return err
	}
	_, err = o.in(o.store, pathspecs.String(), openCodeStage,
		[]string{"add", "--all", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul"})
	return err
}

// exclude copies the project's info/exclude.
func (o *openCode) exclude() error {
	file, err := o.Run("", o.git, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(strings.TrimSpace(file))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	info := filepath.Join(o.store, "info")
	return errors.Join(os.MkdirAll(info, 0o755), os.WriteFile(filepath.Join(info, "exclude"), text, 0o644))
}

// candidates asks two processes at the same time.
func (o *openCode) candidates() ([]string, error) {
	var changed, others string
	var changedErr error
	done := make(chan struct{})
	go func() {
		defer close(done)
		changed, changedErr = o.shadow(openCodeQuote, "diff-files", "--name-only", "-z", "--", ".")
	}()
	others, err := o.shadow(openCodeQuote, "ls-files", "--full-name", "--others", "--exclude-standard", "-z", "--", ".")
	<-done
	return append(NulSeparated(changed), NulSeparated(others)...), errors.Join(err, changedErr)
}

func (o *openCode) withoutIgnored(paths []string) ([]string, error) {
	out, err := o.in(o.source, strings.Join(paths, "\x00")+"\x00", openCodeQuote,
		[]string{"check-ignore", "--no-index", "--stdin", "-z"})
	if err != nil && (!system.ExitedWith(err) || out != "") { // status 1: none is ignored
		return nil, err
	}
	ignored := make(map[string]bool)
	for _, path := range NulSeparated(out) {
		ignored[path] = true
	}
	var kept []string
	for _, path := range paths {
		if !ignored[path] {
			kept = append(kept, path)
		}
	}
	return kept, nil
}

func (o *openCode) Patch(tree string) ([]string, error) {
	if err := o.add(); err != nil {
		return nil, err
	}
	out, err := o.shadow(openCodeQuote, "diff", "--cached", "--no-ext-diff", "--name-only", tree, "--", ".")
	if err != nil || out == "" {
		return nil, err
	}
	names, err := o.withoutIgnored(strings.Split(strings.TrimSpace(out), "\n"))
	for i, name := range names {
		names[i] = filepath.Join(o.Dir, filepath.FromSlash(name))
	}
	return names, err
}

// openCodeBatch is how many files one cat-file or checkout gets.
const openCodeBatch = 100

func (o *openCode) DiffFull(from, to string) (func() (int, error), error) {
	statuses, err := o.shadow(openCodeQuote, "diff", "--no-ext-diff", "--name-status", "--no-renames", from, to, "--", ".")
	if err != nil {
		return nil, err
	}
	if _, err := o.shadow(openCodeQuote, "diff", "--no-ext-diff", "--no-renames", "--numstat", from, to, "--", "."); err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(statuses) {
		_, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		names = append(names, name)
	}
	if names, err = o.withoutIgnored(names); err != nil {
		return nil, err
	}
	for begin := 0; begin < len(names); begin += openCodeBatch {
		var wanted strings.Builder
		for _, name := range names[begin:min(begin+openCodeBatch, len(names))] {
			wanted.WriteString(from + ":" + name + "\n" + to + ":" + name + "\n")
		}
		if _, err := o.in(o.store, wanted.String(), openCodeStage, []string{"cat-file", "--batch"}); err != nil {
			return nil, err
		}
	}
	return func() (int, error) { return len(names), nil }, nil
}

func (o *openCode) Restore(tree string) error {
	if _, err := o.shadow(openCodeCore, "read-tree", tree); err != nil {
		return err
	}
	_, err := o.shadow(openCodeCore, "checkout-index", "-a", "-f")
	return err
}

func (o *openCode) Revert(tree string, files []string) error {
	for begin := 0; begin < len(files); begin += openCodeBatch {
		batch := files[begin:min(begin+openCodeBatch, len(files))]
		list := []string{"ls-tree", "--name-only", tree, "--"}
		for _, file := range batch {
			rel, err := filepath.Rel(o.Dir, file)
			if err != nil {
				return err
			}
			list = append(list, filepath.ToSlash(rel))
		}
		listed, err := o.shadow(openCodeQuote, list...)
		if err != nil {
			return err
		}
		if err := o.bringBack(tree, batch, listed); err != nil {
			return err
		}
	}
	return nil
}

// bringBack checks out the files that the tree has, and removes the others.
func (o *openCode) bringBack(tree string, batch []string, listed string) error {
	known := make(map[string]bool)
	for name := range strings.Lines(listed) {
		known[filepath.Join(o.Dir, strings.TrimSuffix(name, "\n"))] = true
	}
	args := []string{"checkout", tree, "--"}
	for _, file := range batch {
		if known[file] {
			args = append(args, file)
		} else if err := os.RemoveAll(file); err != nil {
			return err
		}
	}
	if len(args) == 3 {
		return nil
	}
	_, err := o.shadow(openCodeCore, args...)
	return err
}

// NulSeparated splits a list as the -z options print it.
func NulSeparated(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == 0 })
}
