package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// play is a scenario that is being played.
type play struct {
	driver  Driver
	dir     string // the project
	outside string // a directory beside it
	lost    []string
	err     error
	note    string // about a scenario that was played in part

	needsRedo bool
}

// listing describes every path of a directory but those of repositories.
type listing map[string]string

// begin makes the directory: files, then a commit of them unless the scenario wants no repository,
// then the changes that are not committed.
func (p *play) begin(s *Scenario) {
	p.needsRedo = s.NeedsRedo
	for _, dir := range []string{p.dir, p.outside} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			p.fail(err)
		}
	}
	for path, text := range s.Files {
		p.write(path, text)
	}
	if !s.NoGit {
		p.user("git init -q -b main . && git add -A && git commit -qm begin")
	}
	if s.Before != "" {
		p.user(s.Before)
	}
	if err := p.driver.Start(p.dir); err != nil {
		p.fail(fmt.Errorf("start: %w", err))
	}
}

// fail ends the scenario: the driver cannot go on.
func (p *play) fail(err error) {
	p.err = err
	panic(errOver)
}

// loses notes that work is lost.
func (p *play) loses(format string, args ...any) {
	p.lost = append(p.lost, fmt.Sprintf(format, args...))
}

func (p *play) path(path string) string { return filepath.Join(p.dir, filepath.FromSlash(path)) }

// write writes a file as the user does.
func (p *play) write(path, text string) {
	err := os.MkdirAll(filepath.Dir(p.path(path)), 0o755)
	if err == nil {
		err = os.WriteFile(p.path(path), []byte(text), 0o644)
	}
	if err != nil {
		p.fail(err)
	}
}

// user runs a command of the user's.
func (p *play) user(command string) string {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = p.dir
	cmd.Env = []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + p.outside, "OUTSIDE=" + p.outside, "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=user", "GIT_AUTHOR_EMAIL=user@example.com", "GIT_COMMITTER_NAME=user", "GIT_COMMITTER_EMAIL=user@example.com",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.fail(fmt.Errorf("%s: %w: %s", command, err, out))
	}
	return string(out)
}

// turn plays a turn that has to change something.
func (p *play) turn(ops ...Op) { p.turnOf("one", ops...) }

func (p *play) turnOf(session string, ops ...Op) {
	before := p.state()
	if err := p.driver.Turn(session, ops); err != nil {
		p.fail(fmt.Errorf("turn: %w", err))
	}
	if len(ops) > 0 && difference(before, p.state()) == "" {
		p.fail(fmt.Errorf("%w: turn: the agent changed nothing", ErrUnsupported))
	}
}

func (p *play) undo() { p.undoOf("one") }

// undoOf goes on after an error of the driver: a refused undo is judged by the files.
func (p *play) undoOf(session string) { p.after(p.driver.Undo(session), "undo") }

// killUndo kills an undo in the middle.
func (p *play) killUndo(after time.Duration) {
	err := ErrUnsupported
	if k, ok := p.driver.(Killer); ok {
		err = k.KillUndo("one", after)
	}
	p.after(err, "an undo that is killed")
}

// redo ends a scenario early for an agent that has none: the undo has been judged by then.
func (p *play) redo() {
	err := p.driver.Redo("one")
	if errors.Is(err, ErrUnsupported) && !p.needsRedo {
		p.note = "there is no redo"
		panic(errOver)
	}
	p.after(err, "redo")
}

func (p *play) after(err error, what string) {
	if errors.Is(err, ErrUnsupported) {
		p.fail(fmt.Errorf("%w: %s", ErrUnsupported, what))
	}
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("%s: %w", what, err)
	}
}

// is wants the directory to be in a state.
func (p *play) is(what string, want listing) {
	if diff := difference(want, p.state()); diff != "" {
		p.loses("%s: %s", what, diff)
	}
}

// has wants a file to contain a text.
func (p *play) has(what, path, text string) {
	data, err := os.ReadFile(p.path(path))
	switch {
	case err != nil:
		p.loses("%s: %s is gone", what, path)
	case !strings.Contains(string(data), text):
		p.loses("%s: %s lacks %q", what, path, text)
	}
}

// state lists the project.
func (p *play) state() listing {
	all, err := list(p.dir)
	if err != nil {
		p.fail(err)
	}
	return all
}

func list(dir string) (listing, error) {
	all := make(listing)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		all[filepath.ToSlash(name)], err = describe(path, d)
		return err
	})
	return all, err
}

func describe(path string, d fs.DirEntry) (string, error) {
	info, err := d.Info()
	if err != nil {
		return "", err
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return fmt.Sprintf("directory %o", mode.Perm()), nil
	case mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return "link to " + target, err
	case !mode.IsRegular():
		return mode.Type().String(), nil
	}
	data, err := os.ReadFile(path)
	sum := sha256.Sum256(data)
	return fmt.Sprintf("file %o, %d bytes %s", info.Mode().Perm(), len(data), hex.EncodeToString(sum[:4])), err
}

// difference describes how two states differ, "" for not at all.
func difference(want, got listing) string {
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(want)) {
		switch now, there := got[path]; {
		case !there:
			lines = append(lines, fmt.Sprintf("%q is gone", path))
		case now != want[path]:
			lines = append(lines, fmt.Sprintf("%q is a %s, not a %s", path, now, want[path]))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if _, there := want[path]; !there {
			lines = append(lines, fmt.Sprintf("%q is left", path))
		}
	}
	if n := len(lines); n > 4 {
		lines = append(lines[:4], fmt.Sprintf("and %d more", n-4))
	}
	return strings.Join(lines, ", ")
}

// times lists the times of the last change.
func (p *play) times() map[string]time.Time {
	times := make(map[string]time.Time)
	for path := range p.state() {
		if info, err := os.Lstat(p.path(path)); err == nil && info.Mode().IsRegular() {
			times[path] = info.ModTime()
		}
	}
	return times
}
