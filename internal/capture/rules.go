package capture

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/process"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/scan"
)

// ruleSource decides at the root whether a path belongs to a capture: by the ignore rules that are
// not files of the tree, and by the paths that are captured in spite of rules.
type ruleSource struct {
	context state.IgnoreContext
	chain   *ignore.Chain
	include *ignore.Patterns
	user    *userIndex
	earlier object.ID // tree of an earlier capture with paths that the stat cache lacks; zero = none
	held    func(path string, dir bool) bool
	before  auxiliary // of the last capture
	aux     auxiliary // for the stat cache of this capture
}

// rulesNow reads the rules in force that are not files of the tree. before is of the last capture.
func (r *Capturer) rulesNow(before auxiliary) *ruleSource {
	repo := r.Repository()
	s := &ruleSource{context: r.ignoreContext(repo), before: before}
	s.loadUserIndex(r, repo)
	s.aux.Never = r.NeverID()
	return s
}

// loadRules reads the rules in force.
func (r *Capturer) loadRules(x *index.Index, before auxiliary) (*ruleSource, error) {
	s := r.rulesNow(before)
	s.chain, s.aux.RuleTexts = s.context.Chain(), before.RuleTexts
	if len(r.Opt.Include) > 0 {
		s.include = ignore.Parse([]byte(strings.Join(r.Opt.Include, "\n")+"\n"), s.context.FoldCase)
	}
	earlier, err := s.heldEarlier(r, x)
	if err != nil {
		return nil, err
	}
	s.held = func(path string, dir bool) bool {
		return earlier != nil && earlier(path, dir) || s.user != nil && s.user.holds(path, dir)
	}
	return s, nil
}

// hold adds files to what is captured in spite of ignore rules, and the directories above them.
func (s *ruleSource) hold(files map[string]bool) {
	if len(files) == 0 {
		return
	}
	dirs, earlier := state.DirsAbove(maps.Keys(files)), s.held
	s.held = func(path string, dir bool) bool {
		return !dir && files[path] || dir && dirs[path] || earlier(path, dir)
	}
}

// ignoreContext reads info/exclude, core.excludesFile and, for a root below the top
// of its repository, the .gitignore files above it.
//
// A fork outside of every repository goes on with the rules of the directory that it came from.
func (r *Capturer) ignoreContext(repo *git.Repo) state.IgnoreContext {
	if f := r.Forked(); f != nil && repo == nil {
		return f.Ignore
	}
	u := git.UserConfig{Home: r.Opt.Home, ConfigHome: r.Opt.ConfigHome, System: r.Opt.SystemGitConfig}
	settings, err := r.ignoreSettings(repo, u)
	if err != nil {
		r.Log.Warn("git configuration read in part", "error", err)
	}
	c := state.IgnoreContext{FoldCase: settings.IgnoreCase}
	for _, path := range []string{settings.InfoExclude, settings.ExcludesFile} {
		if text := c.ReadRules(path); text != "" {
			c.Sources = append(c.Sources, text)
		}
	}
	if repo != nil && repo.Top != r.Root {
		c.AddParents(repo.Top, r.Root)
	}
	return c
}

func (r *Capturer) ignoreSettings(repo *git.Repo, u git.UserConfig) (git.IgnoreSettings, error) {
	if repo == nil {
		return git.UserIgnoreSettings(u, r.Root)
	}
	return repo.IgnoreSettings(u)
}

// heldEarlier returns a function that reports whether an earlier capture holds a path. It returns
// nil while the stat cache is that of the last complete capture, because the cache answers then.
// Otherwise the function reads the tree of that capture.
func (s *ruleSource) heldEarlier(r *Capturer, x *index.Index) (func(path string, dir bool) bool, error) {
	ref := history.RefDisk
	if s.before.Incomplete || x.Root() == nil {
		if _, err := r.DB.Ref(history.RefHeld); err == nil {
			ref = history.RefHeld
		}
	}
	tree, err := r.DB.Ref(ref)
	switch {
	case errors.Is(err, odb.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case ref == history.RefDisk && x.Root() != nil && x.Root().Tree == tree:
		return nil, nil
	}
	s.earlier = tree
	return func(path string, dir bool) bool {
		e, err := r.TreeEntry(tree, path)
		return err == nil && (e.Mode == object.Dir) == dir
	}, nil
}

// conditions returns a hash of every input of a capture other than the directories, the user's
// index and earlier captures. Seals that were made under other conditions, or in another boot, do
// not count.
func (s *ruleSource) conditions(r *Capturer, exclude []string) string {
	boot := process.BootID()
	if boot == "" {
		return ""
	}
	text, err := json.Marshal([]any{boot, s.context, r.Opt.Include, r.maxIncludeSize(), r.maxFileSize(), s.aux.Never, exclude})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// ground returns the conditions under which the stat cache's seals were made. It is "" if the
// user's index or an earlier capture may hold paths that it did not hold then.
func (s *ruleSource) ground() string {
	if !s.earlier.IsZero() || s.user != nil && s.user.full != nil {
		return ""
	}
	return s.before.Ground
}

// auxiliary is the part of the stat cache that belongs to this package.
type auxiliary struct {
	UserIndex *git.Signature `json:"userIndex,omitempty"` // nil = the user's index must be read again
	Held      []state.Path   `json:"held,omitempty"`      // tracked by the user, but not in the last capture
	Sparse    []state.Path   `json:"sparse,omitempty"`    // absent because of a sparse checkout
	Dropped   []state.Path   `json:"dropped,omitempty"`   // captured once, but not in the last capture; the user's index may have them

	// Submodules are all that the user's index has, captured or not.
	Submodules []state.Path `json:"submodules,omitempty"`

	// NoneSkipped reports that no entry of the user's index is left out by a sparse checkout.
	NoneSkipped bool `json:"noneSkipped,omitempty"`

	// RuleTexts are the texts of uncaptured .gitignore files, by the ids of their records.
	RuleTexts map[string]state.RuleLines `json:"ruleTexts,omitempty"`

	Never  string `json:"never,omitempty"`  // id of the deny list that was applied to every path
	Ground string `json:"ground,omitempty"` // see scan.Result

	Files int `json:"files,omitempty"` // number of captured files, if it is so large that the user must have forced it

	Counted *counted `json:"counted,omitempty"` // set by the capture after an operation

	Secrets []foundSecret `json:"secrets,omitempty"` // by path and line

	// Incomplete reports a partial capture since the last complete one.
	Incomplete bool `json:"incomplete,omitempty"`
}

// counted is the number of paths in which two trees differ.
type counted struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Paths int    `json:"paths"`
}

// incomplete sets the aux of a partial capture. Only a complete one has applied the deny list to
// every path and found every path that the user tracks.
func (s *ruleSource) incomplete(dropped bool) {
	s.aux = auxiliary{Incomplete: true, Never: s.before.Never, Files: s.before.Files, RuleTexts: s.aux.RuleTexts}
	if s.user != nil && s.user.full == nil && !dropped {
		s.aux.copyUserIndex(s.user.kept)
	}
}

// noteTexts adds the rule texts that a scan has read. A whole scan has read all of them, so the
// earlier ones are dropped.
func (s *ruleSource) noteTexts(res *scan.Result, whole bool) {
	if whole && len(res.RuleTexts) == 0 {
		s.aux.RuleTexts = nil
	}
	if len(res.RuleTexts) == 0 {
		return
	}
	texts := make(map[string]state.RuleLines, len(res.RuleTexts))
	if !whole {
		maps.Copy(texts, s.aux.RuleTexts)
	}
	for id, text := range res.RuleTexts {
		if lines, ok := state.LinesOf(text); ok && len(lines) <= state.MaxRuleText {
			texts[id.String()] = lines
		}
	}
	s.aux.RuleTexts = texts
}

// leavesIncomplete reports whether this capture is partial, or the first complete one after a
// partial one. The stat cache must then be saved at once.
func (s *ruleSource) leavesIncomplete() bool { return s.before.Incomplete || s.aux.Incomplete }

// noteSize records the number of files of a very large capture.
func (s *ruleSource) noteSize(files int) {
	if files > manyFiles {
		s.aux.Files = files
	}
}

// manyFiles is far above the size of usual captures, whose number of files is not worth a write.
const manyFiles = 100_000

// heldRef keeps the tree of the last complete capture alive while captures are incomplete.
func (s *ruleSource) heldRef() []odb.RefUpdate {
	if s.aux.Incomplete && !s.earlier.IsZero() {
		return []odb.RefUpdate{{Name: history.RefHeld, ID: s.earlier}}
	}
	return nil
}

// dropHeld deletes that ref when a complete capture is in place.
func (r *Capturer) dropHeld(s *ruleSource) error {
	if s.aux.Incomplete || !s.before.Incomplete {
		return nil
	}
	if err := r.DB.DropRef(history.RefHeld); err != nil {
		return err
	}
	return nil
}

// encode is the inverse of decodeAux. What it cannot encode is not stored: it is only a cache.
func (a auxiliary) encode() []byte {
	data, err := json.Marshal(a)
	if err != nil {
		return nil
	}
	return data
}

// decodeAux returns an empty auxiliary for data that it cannot read: it is only a cache.
func decodeAux(data []byte) (a auxiliary) {
	if len(data) > 0 && json.Unmarshal(data, &a) != nil {
		return auxiliary{}
	}
	return a
}
