package hooks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// No capture holds what a tool writes outside the root, nor ignored files that no edit tool
// names. An undo leaves such changes and lists those that are known: paths that a tool or
// the words of a shell command name are looked at before the step and after it. Changes of
// a command to paths that its words do not name are not known.

// maxSeen bounds how many paths of a step are looked at.
const maxSeen = 1000

// sight describes the file at a path; Mode is empty if there is none.
type sight struct {
	Path pathtext.Text `json:"path"` // from the root, absolute outside it
	Mode string        `json:"mode,omitempty"`
	Size int64         `json:"size,omitempty"`
	Time int64         `json:"time,omitempty"`
}

// sightOf describes the file at a path. Of a directory only its presence counts: its
// times change with every name in it. The same goes for devices.
func sightOf(root, path string) (sight, bool) {
	s := sight{Path: pathtext.Text(path)}
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, filepath.FromSlash(path))
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, true
	case err != nil:
		return s, false
	}
	s.Mode = info.Mode().Type().String()
	if info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0 {
		s.Mode, s.Size, s.Time = info.Mode().String(), info.Size(), info.ModTime().UnixNano()
	}
	return s, true
}

// see notes the files at the paths that the event's tool names, before the tool runs.
func (h *hook) see(w *work) {
	var dirs []string
	for _, path := range h.paths {
		h.seeAt(w, path)
	}
	for _, m := range mentions(h.dir, h.home, h.shell) {
		if place := h.seeAt(w, m.path); m.remove && place != "" && !filepath.IsAbs(place) {
			dirs = append(dirs, place)
		}
	}
	h.seeBelow(w, dirs)
}

// targets lists the paths that the event's tool is going to change, as far as it names them: those of an edit
// tool, and those outside the root that a command of the shell writes to.
func (h *hook) targets() []string {
	paths := slices.Clip(h.paths)
	for _, m := range mentions(h.dir, h.home, h.shell) {
		if place := h.placeOf(m.path); m.writes && filepath.IsAbs(place) && !slices.Contains(paths, place) && len(paths) < maxSeen {
			paths = append(paths, place)
		}
	}
	return paths
}

// seeAt returns the path as it is noted, "" for one that does not count.
func (h *hook) seeAt(w *work, path string) string {
	place := h.placeOf(path)
	if place == "" || len(w.Seen) >= maxSeen || slices.ContainsFunc(w.Seen, func(s sight) bool { return string(s.Path) == place }) {
		return place
	}
	if s, ok := sightOf(h.root, place); ok {
		w.Seen = append(w.Seen, s)
	}
	return place
}

// seeBelow notes the files in directories that a command is about to remove, the upper
// levels first.
func (h *hook) seeBelow(w *work, dirs []string) {
	known := make(map[string]bool)
	for _, s := range w.Seen {
		known[string(s.Path)] = true
	}
	for len(dirs) > 0 && len(w.Seen) < maxSeen {
		dir := dirs[0]
		dirs = dirs[1:]
		list, err := os.ReadDir(filepath.Join(h.root, filepath.FromSlash(dir)))
		if err != nil {
			continue // a file, or nothing
		}
		for _, entry := range list[:min(len(list), maxSeen-len(w.Seen))] {
			path := dir + "/" + entry.Name()
			if entry.IsDir() {
				dirs = append(dirs, path)
			}
			if s, ok := sightOf(h.root, path); ok && !known[path] {
				w.Seen = append(w.Seen, s)
			}
		}
	}
}

// unseen are directories of the system that hold no real files.
var unseen = []string{"/proc/", "/sys/"}

// placeOf names a path from the root with '/', or absolute outside the root. It is "" for
// the root, a directory above it, and a path in a .git directory.
func (h *hook) placeOf(path string) string {
	if h.root == "" {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(h.root, path)
	}
	path = resolveDir(filepath.Clean(path))
	rel, err := filepath.Rel(h.root, path)
	if err == nil && filepath.IsLocal(rel) {
		rel = filepath.ToSlash(rel)
		if rel == "." || slices.Contains(strings.Split(rel, "/"), ".git") {
			return ""
		}
		return rel
	}
	above, err := filepath.Rel(path, h.root)
	if err == nil && filepath.IsLocal(above) || slices.ContainsFunc(unseen, func(dir string) bool { return strings.HasPrefix(path, dir) }) {
		return ""
	}
	return path
}

// resolveDir resolves the symbolic links of the directories above a path that exist.
func resolveDir(path string) string {
	rest := filepath.Base(path)
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return path
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// stays compares the noted paths, and the paths outside the root that a tool named only
// when it returned, with the disk.
func (h *hook) stays(w *work, named []string) []session.Part {
	var list []session.UncapturedChange
	known := make(map[string]bool)
	for _, was := range w.Seen {
		known[string(was.Path)] = true
		if is, ok := sightOf(h.root, string(was.Path)); ok && is != was {
			list = append(list, session.UncapturedChange{Path: was.Path, Made: was.Mode == ""})
		}
	}
	for _, path := range named {
		if place := h.placeOf(path); filepath.IsAbs(place) && !known[place] {
			known[place] = true
			list = append(list, session.UncapturedChange{Path: pathtext.Text(place)})
		}
	}
	if len(known) == 0 {
		return nil
	}
	part, err := session.UncapturedPart(w.Step+"/stays", list)
	if err != nil {
		return nil
	}
	return []session.Part{part}
}

// seeAgain notes the present files at the paths of the step before, because a command
// that it left running may change them.
func (h *hook) seeAgain(w *work, before []sight) {
	for _, s := range before {
		if s, ok := sightOf(h.root, string(s.Path)); ok {
			w.Seen = append(w.Seen, s)
		}
	}
}

// notTakenBack lists the changes that an undo leaves, one line for each reason.
func notTakenBack(list []cairn.PathReason) (lines []string) {
	var reasons []string
	byReason := make(map[string][]string)
	for _, p := range list {
		if byReason[p.Reason] == nil {
			reasons = append(reasons, p.Reason)
		}
		byReason[p.Reason] = append(byReason[p.Reason], string(p.Path))
	}
	slices.Sort(reasons)
	for _, reason := range reasons {
		lines = append(lines, wording.LeftLine(reason, byReason[reason], pathtext.Quote))
	}
	return lines
}
