//go:build unix

package programmodel

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// point is a checkpoint and what the model knows of the disk at that time.
type point struct {
	id   string
	disk view
	held view // what the checkpoint answers for, directories included
}

// pathReason is a path that an answer lists.
type pathReason struct {
	Path   pathtext.Text `json:"path"`
	Reason string        `json:"reason"`
}

func listedPaths(list ...[]pathReason) []string {
	var all []string
	for _, l := range list {
		for _, r := range l {
			all = append(all, string(r.Path))
		}
	}
	return all
}

// track takes a checkpoint and holds it against the disk.
func (w *world) track() {
	args := []string{"track"}
	if w.rng.IntN(3) == 0 {
		args = append(args, "-m", fmt.Sprint("step ", w.step))
	}
	if w.rng.IntN(10) == 0 {
		args = append(args, "--verify")
	}
	w.trackWith(args...)
}

func (w *world) trackWith(args ...string) *point {
	v, git := w.look()
	ignored := w.ignored(v)
	a := w.cairn(args...)
	w.untouched(v, git, "track")
	if a.code != 0 && a.code != 3 {
		w.fail("track fails", "%v: %s", a.code, a.stderr)
	}
	var said struct {
		Checkpoint string       `json:"checkpoint"`
		Skipped    []pathReason `json:"skipped"`
	}
	w.decode(a, &said)
	p := &point{id: said.Checkpoint, disk: v}
	p.held = w.heldBy(p, ignored)
	w.mustHold(p, ignored, listedPaths(said.Skipped))
	w.points = append(w.points, p)
	return p
}

// untouched fails if the disk is not as it was.
func (w *world) untouched(v view, git map[string]string, what string) {
	now, nowGit := w.look()
	if d := diff(v, now); d != "" {
		w.fail("touches the disk", "%s changes\n%s", what, d)
	}
	w.sameGit(git, nowGit, what)
}

// sameGit fails if anything of the user's repositories was touched.
func (w *world) sameGit(was, now map[string]string, what string) {
	for p, e := range was {
		if now[p] != e {
			w.fail("touches git", "%s: %q was %s, is %s", what, p, e, now[p])
		}
	}
	for p, e := range now {
		if _, ok := was[p]; !ok {
			w.fail("touches git", "%s made %q: %s", what, p, e)
		}
	}
}

// listing is what a checkpoint says that it holds, by path: mode, bits and id.
func (w *world) listing(id string) map[string]string {
	a := w.cairn("ls", id)
	if a.code != 0 {
		w.fail("ls fails", "%s: %s", id, a.stderr)
	}
	var list []struct {
		Path           pathtext.Text `json:"path"`
		Mode, Perm, ID string
	}
	w.decode(a, &list)
	all := make(map[string]string, len(list))
	for _, e := range list {
		all[string(e.Path)] = e.Mode + " " + e.Perm + " " + e.ID
	}
	return all
}

// heldBy finds what a checkpoint answers for: the files that it lists, the directories
// above them, and those that are neither ignored nor closed.
func (w *world) heldBy(p *point, ignored map[string]bool) view {
	held := make(view)
	for path, says := range w.listing(p.id) {
		e := p.disk[path]
		if want := lsLine(e); says != want {
			w.fail("stale", "checkpoint %s has %s for %q, the disk has %s: %v", p.id, says, path, want, e)
		}
		held[path] = e
		for at := dirOf(path); at != ""; at = dirOf(at) {
			held[at] = p.disk[at]
		}
	}
	for path, e := range p.disk {
		if e.kind == 'd' && !ignored[path] && !w.closedTo(p.disk, path) {
			held[path] = e
		}
	}
	return held
}

// lsLine is the line of cairn ls for an entry.
func lsLine(e entry) string {
	switch {
	case e.kind == 'l':
		return "120000 0 " + e.blob()
	case e.kind == 'f' && e.perm&0o100 != 0:
		return "100755 " + strconv.FormatInt(int64(e.perm), 8) + " " + e.blob()
	case e.kind == 'f':
		return "100644 " + strconv.FormatInt(int64(e.perm), 8) + " " + e.blob()
	}
	return "nothing"
}

// mustHold fails if a path is neither held nor ignored nor listed as skipped.
func (w *world) mustHold(p *point, ignored map[string]bool, skipped []string) {
	for path, e := range p.disk {
		if e.kind == 'd' || ignored[path] || explained(path, skipped) {
			continue
		}
		if _, ok := p.held[path]; !ok {
			w.fail("left out", "checkpoint %s does not have %q, and nothing says so: %v", p.id, path, e)
		}
	}
}

// explained reports whether a path, one above or one below it is listed.
func explained(path string, listed []string) bool {
	for _, l := range listed {
		if l == path || isBelow(path, l) || isBelow(l, path) {
			return true
		}
	}
	return false
}

// checkStore asks git whether the store is sound, and a checkpoint for all that it held.
func (w *world) checkStore() {
	if len(w.points) > 0 {
		w.mustStillHold(pick(w.rng, w.points))
	}
	stores, err := filepath.Glob(w.data + "/snapshot/*")
	w.must(err)
	for _, store := range stores {
		out, err := w.git("", "--git-dir="+store, "-c", "safe.directory=*", "fsck", "--strict", "--full", "--no-dangling", "--no-progress")
		for line := range strings.Lines(out) {
			// A link or directory that is named as a file of git's is the project's affair.
			if !strings.HasPrefix(line, "notice: ") && !strings.Contains(line, "gitattributes") && !strings.Contains(line, "gitignoreSymlink") {
				w.fail("fsck", "%s%v", out, err)
			}
		}
	}
}

// mustStillHold fails if a checkpoint does not hold what it held.
func (w *world) mustStillHold(p *point) {
	list := w.listing(p.id)
	for path, e := range p.held {
		if e.kind != 'd' && list[path] != lsLine(e) {
			w.fail("lost", "checkpoint %s had %q as %s, and now %s", p.id, path, lsLine(e), list[path])
		}
	}
}
