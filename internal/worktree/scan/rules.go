package scan

import (
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// maxRules is how much of a .gitignore is read. Real ones are a few KiB.
const maxRules = 16 << 20

// loadRules finds the rules in force inside n. It runs only when somebody asks about
// a name that is not known yet, so an unchanged tree costs no rule at all.
func (sc *scanner) loadRules(n *node) {
	n.rulesOnce.Do(func() {
		n.judged = true
		if n.parent == nil {
			n.rules = sc.Rules
		} else {
			sc.loadRules(n.parent)
			n.rules = n.parent.rules
			n.ignored = n.parent.ignored || n.rules.Ignored(sc.Prefix+n.path, true)
		}
		if n.ignored {
			return // git does not look for rules below an ignored directory
		}
		if n.gitignore {
			text, id := sc.readGitignore(n)
			n.rules, n.readID = n.rules.Enter(trimSlash(sc.Prefix+n.path), ignore.Parse(text, sc.FoldCase)), &id
		}
	})
}

// readGitignore reads the .gitignore of n through its handle, and names what it has
// read as a blob. As in git, a symlink is not followed, and a file that cannot be read
// has no rules.
func (sc *scanner) readGitignore(n *node) (text []byte, id object.ID) {
	f, err := n.handle.OpenFile(ignoreFile)
	if err != nil {
		return nil, id
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode.IsFile() {
		return nil, id
	}
	if text, err = io.ReadAll(io.LimitReader(f, maxRules)); err != nil {
		return nil, id
	}
	return text, object.Sum(object.Blob, text)
}

// visible reports whether an unknown path belongs into the capture: not ignored, or asked
// for. A directory is asked for if something below it may be.
func (sc *scanner) visible(n *node, path string, dir bool) bool {
	return sc.allowed(n, path, dir) || sc.included(path, dir)
}

// allowed reports whether an unknown path is not ignored, or held, or hinted.
func (sc *scanner) allowed(n *node, path string, dir bool) bool {
	sc.loadRules(n)
	switch {
	case !n.ignored && !n.rules.Ignored(sc.Prefix+path, dir):
		return true
	case sc.Held != nil && sc.Held(path, dir):
		return true
	case dir:
		return sc.Hints.leads(path)
	}
	return sc.Hints.names(path)
}

// included reports whether Include asks for a file, or may ask for one below a directory.
func (sc *scanner) included(path string, dir bool) bool {
	if dir {
		return sc.Include.Leads(path)
	}
	return sc.Include.Len() > 0 && sc.Include.Nearest(path, false) == ignore.Ignore
}

// tooLargeToInclude reports whether a file is there for Include only, and above its limit.
func (sc *scanner) tooLargeToInclude(n *node, path string, st *dir.Info, rec index.Record) bool {
	return sc.MaxIncluded > 0 && st.Stat.Size > sc.MaxIncluded && st.Mode.IsFile() && !held(rec) && !sc.allowed(n, path, false)
}

// countsAsEmpty reports whether a directory without names is to be recorded as empty. One
// that is entered only because Include may ask for something below it is not.
func (sc *scanner) countsAsEmpty(n *node) bool {
	if n.wasEmpty || sc.Include.Len() == 0 {
		return true
	}
	sc.loadRules(n)
	return !n.ignored
}

func trimSlash(path string) string {
	if n := len(path); n > 0 && path[n-1] == '/' {
		return path[:n-1]
	}
	return path
}
