package scan

import (
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// maxRules is the number of bytes read from a .gitignore. Usual ones have a few KiB.
const maxRules = 16 << 20

// loadRules computes the rules in force in n. It runs when the first unknown name is judged, so an
// unchanged tree reads no rules.
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

// readGitignore reads the .gitignore of n through its handle and returns its text and blob id. As
// in git, a symlink is not followed and an unreadable file has no rules.
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

// visible reports whether an unknown path belongs to the capture: it is not ignored, or Include
// asks for it. Of a directory it reports whether a path below it may belong.
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

// included reports whether Include matches a file, or may match one below a directory.
func (sc *scanner) included(path string, dir bool) bool {
	if dir {
		return sc.Include.Leads(path)
	}
	return sc.Include.Len() > 0 && sc.Include.Nearest(path, false) == ignore.Ignore
}

// tooLargeToInclude reports whether a file is captured only because of Include, and exceeds its
// limit.
func (sc *scanner) tooLargeToInclude(n *node, path string, st *dir.Info, rec index.Record) bool {
	return sc.MaxIncluded > 0 && st.Stat.Size > sc.MaxIncluded && st.Mode.IsFile() && !protected(rec) && !sc.allowed(n, path, false)
}

// countsAsEmpty reports whether a directory without names is recorded as empty. A directory that is
// entered only because Include may match below it is not.
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
