package capture

import (
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// LeavesOut reports whether captures leave a directory out, whatever comes to be in it: the rules of
// now ignore it, no pattern of include leads into it, and neither the user's index nor an earlier
// capture holds it. path counts from the root and has '/' as separator. Rules that cannot be read
// ignore nothing.
func (r *Capturer) LeavesOut(l *history.Locked, path string) (bool, error) {
	x := r.LastIndex(l)
	rules, err := r.loadRules(x, decodeAux(x.Aux))
	if err != nil {
		return false, err
	}
	if x.Dirs[path] != nil || rules.held(path, true) || rules.include != nil && rules.include.Leads(path) {
		return false, nil
	}
	return rules.ignoresDir(r.Root, path), nil
}

// ignoresDir asks the rule files on the disk, from the root down to the directory.
func (s *ruleSource) ignoresDir(root, path string) bool {
	chain, prefix := s.chain, string(s.context.Prefix)
	for at := ""; ; {
		if at != "" && chain.Ignored(prefix+at, true) {
			return true
		}
		if at == path {
			return false
		}
		text := s.context.ReadRules(filepath.Join(root, filepath.FromSlash(at), index.IgnoreFile))
		chain = chain.Enter(strings.TrimSuffix(prefix+at, "/"), ignore.Parse([]byte(text), s.context.FoldCase))
		next, _, _ := strings.Cut(strings.TrimPrefix(path[len(at):], "/"), "/")
		at = index.Join(at, next)
	}
}
