package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

// Options says what to set up.
type Options struct {
	Places  Places
	Program []string // how to start cairn: an absolute path, and options that come before the command
	Remove  bool     // take cairn out again
}

// Plan is a list of changes that are not made yet.
type Plan struct {
	Changes []Change
	Notes   []string // for the user: what to restart, review, trust
}

// Change is the edit of one file. A nil Before means that the file does not exist, a
// nil After that it is removed.
type Change struct {
	Path          string // as configured
	Before, After []byte
	Backup        string // made before the edit, "" = none; a number follows where another copy has the name
	Dropped       string // backup that is no longer needed; "" = none

	file string // Path behind symlinks
	mode fs.FileMode

	first   bool // no entry of cairn is in Before: the copy of it takes the place of an older one
	runs    bool // the file gets a permission to run, whether or not its text changes
	keepDir bool // the directory of the file is the project itself
}

// backupSuffix ends the name of the copy of a file from before cairn's first edit.
const backupSuffix = ".before-cairn"

// ErrForeign: a file that setup would make exists and is not cairn's.
var ErrForeign = errors.New("not cairn's")

// New works out the changes for an agent. An empty plan is no error.
func New(name string, opt Options) (*Plan, error) {
	a, err := agentOf(name)
	if err != nil {
		return nil, err
	}
	if a.home(opt.Places) == "" {
		return nil, fmt.Errorf("where %s keeps its configuration is not known, because the home directory is not: set HOME, on Windows USERPROFILE", a.Title)
	}
	if !opt.Remove && ours(commandLine(opt.Program, a.Name), a.Name) == nil {
		return nil, fmt.Errorf("%s has no cairn in its name, by which setup knows its entries again: give the program such a name", opt.Program[0])
	}
	p := new(Plan)
	if path := a.settingsPath(opt.Places); path != "" {
		if err := p.addSettings(a, path, opt); err != nil {
			return nil, err
		}
	}
	if a.files != nil {
		for _, f := range a.files(opt.Program) {
			asMade := func(text string) bool { return a.asMade(f.path, text) }
			if err := p.addFile(filepath.Join(a.home(opt.Places), filepath.FromSlash(f.path)), f, opt, asMade); err != nil {
				return nil, err
			}
		}
	}
	for i := range p.Changes {
		p.Changes[i].keepDir = filepath.Dir(p.Changes[i].Path) == filepath.Clean(opt.Places.Project)
	}
	if opt.Remove {
		slices.SortStableFunc(p.Changes, func(a, b Change) int { return depth(b.Path) - depth(a.Path) }) // so that no empty directory stays
	}
	if len(p.Changes) > 0 && !opt.Remove {
		p.Notes = slices.Concat(a.notes, a.alsoForAll(opt.Places))
	} else if len(p.Changes) > 0 {
		p.Notes = []string{"restart " + a.Title + " if it is running"}
	}
	return p, nil
}

// alsoForAll is the note for a project where the agent is connected for all projects, too.
func (a *agent) alsoForAll(p Places) []string {
	project := p.Project
	if p.Project = ""; project == "" || a.Tools || !a.status(p).SetUp {
		return nil
	}
	return []string{fmt.Sprintf("cairn is set up for all projects, too, and the hooks may run twice for each event: one of the two is enough (cairn setup %s --project --remove)", a.Name)}
}

func depth(path string) int { return strings.Count(filepath.ToSlash(path), "/") }

func (p *Plan) addSettings(a *agent, path string, opt Options) error {
	c, err := read(path)
	if err != nil {
		return err
	}
	if !opt.Remove {
		if c.first = !a.connected(c.Before); c.first || !a.alone(c.Before) && !exists(path+backupSuffix) {
			c.Backup = path + backupSuffix
		}
		c.After, err = a.with(c.Before, opt.Program)
	} else if c.Before != nil {
		backup, berr := os.ReadFile(path + backupSuffix)
		if berr != nil && !errors.Is(berr, fs.ErrNotExist) {
			return fmt.Errorf("read %s: %w", path+backupSuffix, berr)
		}
		if c.After, err = a.without(c.Before, backup, berr == nil); err == nil && berr == nil && (bytes.Equal(c.After, backup) || a.alone(backup)) {
			c.Dropped = path + backupSuffix
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", path, err)
	}
	p.add(c)
	return nil
}

// addFile makes or removes a file that is cairn's as a whole. If the user has changed
// the file, a copy stays beside it: asMade reports whether a text is what setup writes.
func (p *Plan) addFile(path string, f file, opt Options, asMade func(text string) bool) error {
	c, err := read(path)
	if err != nil {
		return err
	}
	if c.Before != nil && !f.isOurs(string(c.Before)) {
		if opt.Remove {
			return nil
		}
		return fmt.Errorf("%s: %w: move it away or rename it, then try again", path, ErrForeign)
	}
	if !opt.Remove {
		c.After = []byte(stamped(f.text))
		c.runs = c.mode&f.mode != f.mode
		c.mode |= f.mode
	}
	if text, right := bare(string(c.Before)); c.Before != nil && !right && !asMade(text) {
		c.Backup = path + backupSuffix
	}
	p.add(c)
	return nil
}

func (p *Plan) add(c *Change) {
	if c.Before == nil && c.After == nil || c.Before != nil && c.After != nil && bytes.Equal(c.Before, c.After) && !c.runs {
		return
	}
	if c.Before == nil {
		c.Backup = ""
	}
	p.Changes = append(p.Changes, *c)
}

// maxSettings is the size of the largest settings file that is read, in bytes.
const maxSettings = 16 << 20

// read reads a file for a change, behind a symlink where it is one.
func read(path string) (*Change, error) {
	c := &Change{Path: path, file: path, mode: 0o600}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		c.file = real
	} else if info, lerr := os.Lstat(path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("%s is a symlink that leads nowhere", path)
	}
	info, err := os.Stat(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case info.Size() > maxSettings:
		return nil, fmt.Errorf("%s is too large for a settings file", path)
	}
	c.mode = info.Mode().Perm()
	if c.Before, err = os.ReadFile(c.file); err != nil {
		return nil, err
	}
	if c.Before == nil {
		c.Before = []byte{}
	}
	return c, nil
}

// devNull stands in diffs for a file that is not there, on every system.
const devNull = "/dev/null"

// Diff writes the changes as a unified diff.
func (p *Plan) Diff(w io.Writer) error {
	for i := range p.Changes {
		c := &p.Changes[i]
		from, to := c.Path, c.Path
		if c.Before == nil {
			from = devNull
		}
		if c.After == nil {
			to = devNull
		}
		if _, err := fmt.Fprintf(w, "--- %s\n+++ %s\n", from, to); err != nil {
			return err
		}
		if _, err := linediff.WriteUnified(w, c.Before, c.After, linediff.Options{}); err != nil {
			return err
		}
	}
	return nil
}

// Apply carries the plan out. Where one of the files may not be written nothing is done. A file that is no
// longer as New has read it is left alone, and ends it.
func (p *Plan) Apply() error {
	for i := range p.Changes {
		if err := p.Changes[i].writable(); err != nil {
			return fmt.Errorf("%s is read-only: %w (make it writable, or let what manages it make the change; --dry-run shows it)", p.Changes[i].Path, err)
		}
	}
	for i := range p.Changes {
		if err := p.Changes[i].apply(); err != nil {
			return err
		}
	}
	return nil
}

// writable returns an error for a file that the user may not write. Replacing it would go round its permissions, and
// make the user the owner of another's file.
func (c *Change) writable() error {
	info, err := os.Stat(c.file)
	if err != nil {
		return nil // apply makes a missing file, and tells any other error
	}
	if info.Mode()&0o200 == 0 {
		return fs.ErrPermission // also for the superuser, who may write any file
	}
	f, err := os.OpenFile(c.file, os.O_WRONLY, 0)
	if err != nil {
		return errors.Unwrap(err) // the path is in the message already
	}
	return f.Close()
}

func (c *Change) apply() error {
	now, err := os.ReadFile(c.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, c.Before) || (err == nil) != (c.Before != nil) {
		return fmt.Errorf("%s was changed meanwhile: nothing was done to it, try again", c.Path)
	}
	_ = atomicfile.Sweep(filepath.Dir(c.file), atomicfile.Prefix) // what a setup that was killed has left
	if c.Backup != "" {
		if err := c.backUp(); err != nil {
			return fmt.Errorf("keep what %s is now: %w", c.Path, err)
		}
	}
	if c.After == nil {
		if err := c.removeFile(); err != nil {
			return err
		}
	} else {
		if err := makeDir(filepath.Dir(c.file)); err != nil {
			return err
		}
		if err := atomicfile.Write(c.file, c.mode, true, func(w io.Writer) error { _, err := w.Write(c.After); return err }); err != nil {
			return err
		}
	}
	if c.Dropped != "" {
		return os.Remove(c.Dropped)
	}
	return nil
}

// makeDir makes a directory and those above it. A symlink that leads nowhere is named: the system says only that
// there is a file.
func makeDir(dir string) error {
	err := os.MkdirAll(dir, 0o755)
	var at *fs.PathError
	if !errors.Is(err, fs.ErrExist) || !errors.As(err, &at) {
		return err
	}
	if to, notLink := os.Readlink(at.Path); notLink == nil {
		return fmt.Errorf("%s is a symbolic link to %s, which is not there: make that directory, or remove the link", at.Path, to)
	}
	return err
}

// removeFile removes the file, a symlink that leads to it, and its directory if nothing else is in it. A directory that is
// a symlink stays: it would lead nowhere, and the next setup could make no file in it.
func (c *Change) removeFile() error {
	if err := os.Remove(c.file); err != nil {
		return err
	}
	if err := atomicfile.RemoveIfThere(c.Path); err != nil {
		return err
	}
	dir := filepath.Dir(c.Path)
	if info, err := os.Lstat(dir); err == nil && info.IsDir() && !c.keepDir {
		os.Remove(dir)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// backUp copies the file. No other copy is overwritten, but for one from before an earlier first edit.
func (c *Change) backUp() error {
	path := c.Backup
	for n := 2; !c.first; n++ {
		was, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil || bytes.Equal(was, c.Before) {
			return err
		}
		path = fmt.Sprintf("%s-%d", c.Backup, n)
	}
	return atomicfile.Write(path, c.mode, true, func(w io.Writer) error { _, err := w.Write(c.Before); return err })
}
