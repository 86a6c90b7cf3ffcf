package scan

import (
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// passOver records an ignored .gitignore if its directory takes rules from it: without the record
// the tree could not tell which paths these rules keep out of the capture. Other ignored files
// leave no record.
func (w *worker) passOver(n *node, name string, st dir.Info) {
	if name != ignoreFile || n.ignored || w.survey || !st.Mode.IsFile() {
		return
	}
	e := &index.Entry{Name: name, Mode: st.Mode, Perm: st.Perm, Skip: index.Rules, Stat: st.Stat}
	if !w.denied(n, name, false) {
		e.ID = w.ruleText(n)
	}
	n.block = index.Append(n.block, e)
}

// nameRules records the rules of a .gitignore that could not be captured.
func (w *worker) nameRules(n *node, e *index.Entry) {
	if e.Name != ignoreFile || e.Skip == index.Captured || w.survey || !e.Mode.IsFile() {
		return
	}
	if w.loadRules(n); !n.ignored {
		e.ID = w.ruleText(n)
	}
}

// ruleText reads the .gitignore of n and stores the text for the result.
func (w *worker) ruleText(n *node) object.ID {
	text, id := w.readGitignore(n)
	if id.IsZero() {
		return id
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ruleTexts == nil {
		w.ruleTexts = make(map[object.ID][]byte)
	}
	w.ruleTexts[id] = text
	return id
}

// compareRules records n as misjudged if the rules that were applied to its names differ from those
// of its record. A record with unknown rules needs no such mark.
func (w *worker) compareRules(n *node) {
	if n.readID == nil {
		return
	}
	var own object.ID
	if rec := findIgnoreFile(n.entries()); rec != nil && rec.Mode() != object.Dir && rec.Mode() != object.Symlink {
		if own = rec.ID(); own.IsZero() && rec.Skip() != index.Captured {
			return
		}
	}
	if own != *n.readID {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.misjudged = append(w.misjudged, n.path)
	}
}
