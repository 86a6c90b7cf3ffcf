package worktree

import (
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
)

// maxRules is how much of a .gitignore is read. Real ones are a few KiB.
const maxRules = 16 << 20

// loadRules finds the rules in force inside n. It runs only when somebody asks about
// a name that is not known yet, so an unchanged tree costs no rule at all.
func (sc *scanner) loadRules(n *node) {
	n.rulesOnce.Do(func() {
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
			n.rules = n.rules.Enter(trimSlash(sc.Prefix+n.path), sc.readGitignore(n))
		}
	})
}

// readGitignore reads the .gitignore of n through its handle. As in git, a symlink
// is not followed, and a file that cannot be read has no rules.
func (sc *scanner) readGitignore(n *node) *ignore.Patterns {
	f, err := n.handle.openFile(".gitignore")
	if err != nil {
		return nil
	}
	defer f.Close()
	if st, err := f.stat(); err != nil || !st.mode.IsFile() {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, maxRules))
	if err != nil {
		return nil
	}
	return ignore.Parse(text, sc.FoldCase)
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
	return !dir && size <= maxIncluded && sc.Include != nil && sc.Include.Match(path, false) == ignore.Ignore
}

func trimSlash(path string) string {
	if n := len(path); n > 0 && path[n-1] == '/' {
		return path[:n-1]
	}
	return path
}
