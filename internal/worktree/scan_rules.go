package worktree

import (
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/object"
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
	f, err := n.handle.openFile(ignoreFile)
	if err != nil {
		return nil, id
	}
	defer f.Close()
	if st, err := f.stat(); err != nil || !st.mode.IsFile() {
		return nil, id
	}
	if text, err = io.ReadAll(io.LimitReader(f, maxRules)); err != nil {
		return nil, id
	}
	return text, object.Sum(object.Blob, text)
}

// visible reports whether an unknown path belongs into the capture: not ignored,
// or held, or asked for by Include or a hint.
func (sc *scanner) visible(n *node, path string, dir bool, size int64) bool {
	sc.loadRules(n)
	if !n.ignored && !n.rules.Ignored(sc.Prefix+path, dir) {
		return true
	}
	if sc.Held != nil && sc.Held(path, dir) {
		return true
	}
	if dir && sc.Hints.leads(path) || !dir && size <= maxIncluded && sc.Hints.names(path) {
		return true
	}
	if dir || sc.Include == nil || sc.Include.Match(path, false) != ignore.Ignore {
		return false
	}
	n.leaky = n.leaky || size > maxIncluded // it may shrink
	return size <= maxIncluded
}

func trimSlash(path string) string {
	if n := len(path); n > 0 && path[n-1] == '/' {
		return path[:n-1]
	}
	return path
}
