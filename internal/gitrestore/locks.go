package gitrestore

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
)

// A lock of git's that stands unchanged for so long belongs to a git that is dead: a living one keeps it
// for milliseconds. Git is told to wait as long for a lock of a ref.
const (
	lockPatience = time.Second
	lockPoll     = 20 * time.Millisecond
)

// lockTimeout is lockPatience as git's configuration has it, in milliseconds.
var lockTimeout = strconv.FormatInt(lockPatience.Milliseconds(), 10)

// clearLocks removes what a git that was killed in a transaction of the plan has left. A git that still
// lives gets the time to finish.
func (r *run) clearLocks() {
	left := make(map[string]git.Stamp)
	for _, path := range r.locks() {
		if at := git.StampOf(path); at != (git.Stamp{}) && r.mayBeOurs(path) {
			left[path] = at
		}
	}
	for end := time.Now().Add(lockPatience); len(left) > 0 && time.Now().Before(end); time.Sleep(lockPoll) {
		for path, at := range left {
			if git.StampOf(path) != at {
				delete(left, path)
			}
		}
	}
	for path := range left {
		os.Remove(path)
	}
}

// locks are the files that git may hold, or be writing, in the transactions of the plan.
func (r *run) locks() (paths []string) {
	for _, dir := range []string{r.now.CommonDir, r.now.GitDir} {
		for _, name := range []string{"HEAD.lock", "packed-refs.lock", "packed-refs.new"} {
			paths = append(paths, filepath.Join(dir, name))
		}
		paths = append(paths, tableLocks(filepath.Join(dir, tablesDir))...)
		for _, name := range append(r.moved(), stashRef) {
			paths = append(paths, filepath.Join(dir, filepath.FromSlash(name)+".lock"))
		}
	}
	return paths
}

// tablesDir is the directory of a reftable.
const tablesDir = "reftable"

// tableLocks are the locks of a reftable: that of its list of tables, and those of tables that git has
// been joining after a transaction.
func tableLocks(dir string) (paths []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // most repositories have none
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".lock") {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

// moved names the refs of the plan.
func (r *run) moved() (names []string) {
	for _, m := range r.Refs {
		names = append(names, m.Name)
	}
	return names
}

// mayBeOurs reports whether a lock of a ref holds the beginning of a value that the plan writes.
func (r *run) mayBeOurs(path string) bool {
	if filepath.Base(filepath.Dir(path)) == tablesDir || strings.HasPrefix(filepath.Base(path), "packed-refs.") {
		return true
	}
	held, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	values := []string{""}
	if r.Head != nil {
		values = append(values, r.Head.To)
	}
	for _, m := range r.Refs {
		values = append(values, m.To)
	}
	for _, s := range r.Stashes {
		values = append(values, s.ID)
	}
	for _, value := range values {
		if strings.HasPrefix(value+"\n", string(held)) {
			return true
		}
	}
	return false
}
