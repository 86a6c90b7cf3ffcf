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

// ruleSource is what decides, at the root, whether a path belongs into a capture:
// ignore rules that are no files of the tree, and what is held in spite of them.
type ruleSource struct {
	context state.IgnoreContext
	chain   *ignore.Chain
	include *ignore.Patterns
	user    *userIndex
	earlier object.ID // tree of an earlier capture that the stat cache does not know all of; zero = none
	held    func(path string, dir bool) bool
	before  auxiliary // of the last capture
	aux     auxiliary // to be kept with this one
}

// loadRules reads the rules that are in force now.
func (r *Capturer) loadRules(x *index.Index) (*ruleSource, error) {
	repo := r.Repository()
	context := r.ignoreContext(repo)
	s := &ruleSource{context: context, chain: context.Chain(), before: r.auxiliaryOf(x)}
	s.aux.RuleTexts = s.before.RuleTexts
	if len(r.Opt.Include) > 0 {
		s.include = ignore.Parse([]byte(strings.Join(r.Opt.Include, "\n")+"\n"), context.FoldCase)
	}
	s.loadUserIndex(r, repo)
	s.aux.Never = r.NeverID()
	earlier, err := s.heldEarlier(r, x)
	if err != nil {
		return nil, err
	}
	s.held = func(path string, dir bool) bool {
		return earlier != nil && earlier(path, dir) || s.user != nil && s.user.holds(path, dir)
	}
	return s, nil
}

// ignoreContext reads info/exclude, core.excludesFile and, for a root below the top
// of its repository, the .gitignore files above it.
func (r *Capturer) ignoreContext(repo *git.Repo) state.IgnoreContext {
	u := git.UserConfig{Home: r.Opt.Home, ConfigHome: r.Opt.ConfigHome, System: r.Opt.SystemGitConfig, Files: r.Watch.files()}
	settings, err := r.ignoreSettings(repo, u)
	if err != nil {
		r.Log.Warn("git configuration read in part", "error", err)
	}
	c := state.IgnoreContext{FoldCase: settings.IgnoreCase}
	for _, path := range []string{settings.InfoExclude, settings.ExcludesFile} {
		if text := c.ReadRules(u.Files, path); text != "" {
			c.Sources = append(c.Sources, text)
		}
	}
	if repo != nil && repo.Top != r.Root {
		c.AddParents(u.Files, repo.Top, r.Root)
	}
	return c
}

func (r *Capturer) ignoreSettings(repo *git.Repo, u git.UserConfig) (git.IgnoreSettings, error) {
	if repo == nil {
		return git.UserIgnoreSettings(u, r.Root)
	}
	return repo.IgnoreSettings(u)
}

// heldEarlier answers for what earlier captures hold. As long as the stat cache is
// that of the last complete capture it knows itself, and nil is returned; otherwise
// the tree of that capture is asked.
func (s *ruleSource) heldEarlier(r *Capturer, x *index.Index) (func(path string, dir bool) bool, error) {
	if r.DB == nil {
		return nil, nil
	}
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

// conditions names all that decides a capture but for the directories, the user's index
// and earlier captures: what a later boot or other rules find is not what these did.
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

// ground is what the last capture stands on, if the user's index and earlier captures
// hold nothing that they did not hold then.
func (s *ruleSource) ground() string {
	if !s.earlier.IsZero() || s.user != nil && s.user.full != nil {
		return ""
	}
	return s.before.Ground
}

// auxiliary is what the stat cache keeps for this package.
type auxiliary struct {
	UserIndex *git.Signature   `json:"userIndex,omitempty"` // nil = to be read again
	Held      []state.PathText `json:"held,omitempty"`      // tracked by the user, but not in the last capture
	Sparse    []state.PathText `json:"sparse,omitempty"`    // absent by a sparse checkout
	Dropped   []state.PathText `json:"dropped,omitempty"`   // captured once, but not in the last capture; the user may track them

	// NoneSkipped says that the user's index marks nothing as left out.
	NoneSkipped bool `json:"noneSkipped,omitempty"`

	Metadata string `json:"metadata,omitempty"` // checksum of the metadata of this state, if it was worked out

	// RuleTexts are those of the .gitignore files that are not captured, by the ids of
	// their records.
	RuleTexts map[string]state.RuleLines `json:"ruleTexts,omitempty"`

	// Misjudged says that the metadata of this state tell of rules that were not sure then.
	Misjudged bool `json:"misjudged,omitempty"`

	Never  string `json:"never,omitempty"`  // which deny list was applied to all of it
	Ground string `json:"ground,omitempty"` // see scan.Result

	Files int `json:"files,omitempty"` // captured, if so many that somebody must have meant it

	Counted *counted `json:"counted,omitempty"` // by the capture after an operation

	// Incomplete says that since the last complete capture there was one that did not
	// look at everything.
	Incomplete bool `json:"incomplete,omitempty"`
}

// counted is in how many paths two trees differ.
type counted struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Paths int    `json:"paths"`
}

// incomplete marks what a partial capture leaves behind. Only a complete one has
// applied the deny list to everything, and has found all that the user tracks.
func (s *ruleSource) incomplete(dropped bool) {
	s.aux = auxiliary{Incomplete: true, Never: s.before.Never, Files: s.before.Files, RuleTexts: s.aux.RuleTexts}
	if s.user != nil && s.user.full == nil && !dropped {
		s.aux.keep(s.user.kept)
	}
}

// noteTexts takes over the texts that a scan has read. One that has looked at everything
// has read all that count.
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

// leavesIncomplete reports whether a capture is one of a part, or the first complete one
// after such: the stat cache has to say so at once.
func (s *ruleSource) leavesIncomplete() bool { return s.before.Incomplete || s.aux.Incomplete }

// noteSize remembers that a very large capture was made.
func (s *ruleSource) noteSize(files int) {
	if files > manyFiles {
		s.aux.Files = files
	}
}

// manyFiles is far above usual captures, whose size is not worth a write.
const manyFiles = 100_000

// heldRef keeps the tree alive, as long as captures are incomplete, that says what was
// captured before them.
func (s *ruleSource) heldRef() []odb.RefUpdate {
	if s.aux.Incomplete && !s.earlier.IsZero() {
		return []odb.RefUpdate{{Name: history.RefHeld, ID: s.earlier}}
	}
	return nil
}

// dropHeld lets that tree go when a complete capture is in place.
func (r *Capturer) dropHeld(s *ruleSource) error {
	if s.aux.Incomplete || !s.before.Incomplete {
		return nil
	}
	if err := r.DB.DeleteRef(history.RefHeld); err != nil && !errors.Is(err, odb.ErrNotFound) {
		return err
	}
	return nil
}

// auxiliaryOf decodes what a stat cache keeps for this package. From one capture to the
// next that is mostly the same, and is not changed by any.
func (r *Capturer) auxiliaryOf(x *index.Index) auxiliary {
	if last := r.lastAux.Load(); last != nil && string(x.Aux) == last.text {
		return last.auxiliary
	}
	a := decodeAux(x.Aux)
	r.lastAux.Store(&decodedAux{string(x.Aux), a})
	return a
}

type decodedAux struct {
	text string
	auxiliary
}

// decodeAux treats what it cannot read as empty: it is only a cache.
func decodeAux(data []byte) (a auxiliary) {
	if len(data) > 0 && json.Unmarshal(data, &a) != nil {
		return auxiliary{}
	}
	return a
}
