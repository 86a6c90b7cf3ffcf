package state

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// ruleRecord is the ignore rules of a state whose files its tree does not hold: a
// .gitignore that is ignored itself, too large or unreadable. Without it the rules would
// leave no trace, and what they kept out of the capture would count as absent.
type ruleRecord struct {
	Texts   []ruleText `json:"texts,omitempty"`
	Unknown []PathText `json:"unknown,omitempty"` // directories, "" = the root: no rule below them is sure
}

// ruleText is a text of rules and the directories that have it.
type ruleText struct {
	Text RuleLines  `json:"text"`
	In   []PathText `json:"in"`
}

// RuleLines is the text of a file of ignore rules, without its comments and blank lines.
// Patterns may hold any bytes but NUL.
type RuleLines string

// MarshalText implements encoding.TextMarshaler.
func (l RuleLines) MarshalText() ([]byte, error) { return []byte(pathtext.Encode(string(l))), nil }

// UnmarshalText implements encoding.TextUnmarshaler. Earlier releases wrote the text as it
// was, a NUL included.
func (l *RuleLines) UnmarshalText(text []byte) error {
	plain, err := pathtext.Decode(string(text))
	if err != nil {
		plain = string(text)
	}
	*l = RuleLines(plain)
	return nil
}

// LinesOf reduces a file of ignore rules to its rules. A text with a NUL is not ok: JSON
// could not carry it without doubt.
func LinesOf(text []byte) (lines RuleLines, ok bool) {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		if trimmed := strings.TrimRight(line, "\r\n"); trimmed != "" && trimmed[0] != '#' {
			b.WriteString(line)
		}
	}
	return RuleLines(b.String()), bytes.IndexByte(text, 0) < 0
}

// What one checkpoint carries of such texts at most. Usual ones are a few bytes. A
// directory whose text has no room counts as one of unknown rules.
const (
	MaxRuleText  = 64 << 10
	maxRuleTexts = 256 << 10
)

// HasUncapturedRules reports whether a record is that of a .gitignore whose rules count
// although the tree does not hold it. Git follows no link there, and reads no special file.
func HasUncapturedRules(rec index.Record) bool {
	switch rec.Skip() {
	case index.Captured, index.Special, index.Sparse:
		return false
	}
	return string(rec.Name()) == index.IgnoreFile && rec.Mode() != object.Dir && rec.Mode() != object.Symlink
}

// RulesBeside is what is known of the texts of such files, by the ids of their records.
type RulesBeside struct {
	Texts     map[string]RuleLines
	Misjudged []string // see scan.Result
}

// Record makes the record of a state from the directories whose .gitignore is not captured
// and the ids of their texts.
func (b *RulesBeside) Record(dirs []DirOfRules) *ruleRecord {
	r := &ruleRecord{Unknown: pathtext.Texts(b.Misjudged)}
	size, at := 0, make(map[RuleLines]int)
	for _, d := range dirs {
		text, ok := b.Texts[d.ID.String()]
		i, known := at[text]
		switch {
		case !ok || len(text) > MaxRuleText || !known && size+len(text) > maxRuleTexts:
			r.Unknown = append(r.Unknown, PathText(d.Dir))
		case known:
			r.Texts[i].In = append(r.Texts[i].In, PathText(d.Dir))
		default:
			at[text], size = len(r.Texts), size+len(text)
			r.Texts = append(r.Texts, ruleText{text, []PathText{PathText(d.Dir)}})
		}
	}
	slices.Sort(r.Unknown)
	r.Unknown = slices.Compact(r.Unknown)
	return r
}

// DirOfRules is a directory and the id of the text of its .gitignore.
type DirOfRules struct {
	Dir string
	ID  object.ID
}

// Each visits the directories whose text is known.
func (r *ruleRecord) Each(visit func(dir string, text RuleLines)) {
	for _, t := range r.Texts {
		for _, dir := range t.In {
			visit(string(dir), t.Text)
		}
	}
}

// WithoutPaths is a copy without the texts of files that scope covers, which are returned.
// Their rules are unknown then.
func (r *ruleRecord) WithoutPaths(scope *PathScope) (out *ruleRecord, gone []string) {
	if r == nil {
		return nil, nil
	}
	out = &ruleRecord{Unknown: slices.Clone(r.Unknown)}
	covered := func(dir PathText) bool { return scope.Covers(index.Join(string(dir), index.IgnoreFile)) }
	for _, t := range r.Texts {
		for _, dir := range t.In {
			if covered(dir) {
				out.Unknown, gone = append(out.Unknown, dir), append(gone, index.Join(string(dir), index.IgnoreFile))
			}
		}
		if t.In = slices.DeleteFunc(slices.Clone(t.In), covered); len(t.In) > 0 {
			out.Texts = append(out.Texts, t)
		}
	}
	slices.Sort(out.Unknown)
	out.Unknown = slices.Compact(out.Unknown)
	return out, gone
}

// Dirs yields all directories that the record names.
func (r *ruleRecord) Dirs(yield func(dir string) bool) {
	if r == nil {
		return
	}
	for _, dir := range r.Unknown {
		if !yield(string(dir)) {
			return
		}
	}
	for _, t := range r.Texts {
		for _, dir := range t.In {
			if !yield(string(dir)) {
				return
			}
		}
	}
}

// AddParents takes over the rules above root. A root that its own repository
// ignores was chosen on purpose, so the rules that ignore it do not count.
func (c *IgnoreContext) AddParents(files *git.Files, top, root string) {
	rel, err := filepath.Rel(top, root)
	if err != nil || !filepath.IsLocal(rel) {
		return
	}
	parts := strings.Split(filepath.ToSlash(rel), "/")
	with := *c
	with.Prefix = PathText(strings.Join(parts, "/") + "/")
	dir := top
	for _, part := range parts {
		with.Parents = append(with.Parents, with.ReadRules(files, filepath.Join(dir, index.IgnoreFile)))
		dir = filepath.Join(dir, part)
	}
	if !with.Chain().Covers(strings.Join(parts, "/"), true) {
		*c = with
	}
}

// Chain compiles the context: the rules in force at the root.
func (c *IgnoreContext) Chain() *ignore.Chain {
	var fallbacks []*ignore.Patterns
	for _, text := range c.Sources {
		fallbacks = append(fallbacks, ignore.Parse([]byte(text), c.FoldCase))
	}
	chain := ignore.NewChain(fallbacks...)
	dir := ""
	parts := strings.Split(string(c.Prefix), "/")
	for i, text := range c.Parents {
		chain = chain.Enter(dir, ignore.Parse([]byte(text), c.FoldCase))
		dir = index.Join(dir, parts[i])
	}
	return chain
}

// maxRuleFile bounds what is read, and recorded with checkpoints, of one file of
// ignore rules.
const maxRuleFile = 1 << 20

// ReadRules reads a file of ignore rules. What is no regular file has no rules, as in git.
// Nor has one that cannot be read, but nothing is sure then.
func (c *IgnoreContext) ReadRules(files *git.Files, path string) RuleLines {
	if path == "" || filepath.Base(path) == index.IgnoreFile && isSymlink(path) {
		return ""
	}
	text, err := files.Read(path, maxRuleFile)
	if err != nil {
		c.Unknown = c.Unknown || !git.IsAbsent(err)
		return ""
	}
	lines, ok := LinesOf(text)
	c.Unknown = c.Unknown || !ok
	return lines
}

func isSymlink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
