//go:build unix

package programmodel

import (
	"os"
)

// userGit lets the user of the project work with git. Failures are git's own business.
func (w *world) userGit() {
	if _, err := os.Lstat(w.root + "/.git"); err != nil {
		w.gitStep("", "init", "-q", "--template=", "-b", "main")
		return
	}
	switch w.rng.IntN(14) {
	case 0, 1, 2:
		w.gitStep("", "add", "-A")
		w.gitStep("", "commit", "-q", "-m", "some")
	case 3:
		w.gitStep("", "add", "--", pick(w.rng, w.names))
	case 4:
		w.gitStep("", "commit", "-q", "--allow-empty", "-m", "empty")
	case 5:
		w.gitStep("", "checkout", "-q", "-b", "other")
	case 6, 7:
		w.gitStep("", "checkout", "-q", "-f", pick(w.rng, []string{"main", "other", "HEAD~1"}))
	case 8:
		w.gitStep("", "stash", "-u")
	case 9:
		w.gitStep("", "stash", "pop")
	case 10:
		w.gitStep("", "reset", "-q", "--hard", pick(w.rng, []string{"HEAD", "HEAD~1"}))
	case 11:
		w.gitStep("", "rm", "-q", "-r", "--cached", "--", pick(w.rng, w.names))
	case 12:
		w.nested()
	case 13:
		if w.rng.IntN(3) == 0 {
			w.must(os.RemoveAll(w.root + "/.git"))
			w.say("remove .git")
			return
		}
		w.gitStep("", "clean", "-fdq")
	}
}

func (w *world) gitStep(dir string, args ...string) {
	out, err := w.git(dir, args...)
	w.say("git %q in %q: %v %s", args, dir, err, oneLine(out, 100))
}

// nested makes a repository of a directory, or a plain directory of a repository.
func (w *world) nested() {
	dirs := w.dirs()
	if len(dirs) == 0 {
		return
	}
	dir := pick(w.rng, dirs)
	if _, err := os.Lstat(w.at(dir + "/.git")); err == nil {
		w.must(os.RemoveAll(w.at(dir + "/.git")))
		w.say("remove %q", dir+"/.git")
		return
	}
	w.gitStep(dir, "init", "-q", "--template=")
	w.gitStep(dir, "add", "-A")
	w.gitStep(dir, "commit", "-q", "-m", "nested")
}
