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

// ruleRecord holds the rules of .gitignore files that the state's tree does not hold: files that
// are themselves ignored, too large or unreadable. Without the record these rules would leave no
// trace, and the paths that they kept out of the capture would count as absent.
type ruleRecord struct {
	Texts   []ruleText `json:"texts,omitempty"`
	Unknown []Path     `json:"unknown,omitempty"` // directories, "" = the root: no rule below them is certain
}

// ruleText is a text of rules and the directories whose .gitignore has that text.
type ruleText struct {
	Text RuleLines `json:"text"`
	In   []Path    `json:"in"`
}

// RuleLines is the text of a rule file without its comments and blank lines. Patterns may hold any
// bytes but NUL.
type RuleLines string

// MarshalText implements encoding.TextMarshaler.
func (l RuleLines) MarshalText() ([]byte, error) { return []byte(pathtext.Encode(string(l))), nil }

// UnmarshalText implements encoding.TextUnmarshaler. Earlier releases wrote the text without
// encoding, including a NUL.
func (l *RuleLines) UnmarshalText(text []byte) error {
	plain, err := pathtext.Decode(string(text))
	if err != nil {
		plain = string(text)
	}
	*l = RuleLines(plain)
	return nil
}

// LinesOf reduces a rule file to its rules. ok is false for a text with a NUL, because NUL is the
// escape character of the JSON form.
func LinesOf(text []byte) (lines RuleLines, ok bool) {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		if trimmed := strings.TrimRight(line, "\r\n"); trimmed != "" && trimmed[0] != '#' {
			b.WriteString(line)
		}
	}
	return RuleLines(b.String()), bytes.IndexByte(text, 0) < 0
}

// Limits in bytes for the rule texts of one checkpoint; usual texts have a few bytes. A directory
// whose text exceeds a limit counts as one with unknown rules.
const (
	MaxRuleText  = 64 << 10
	maxRuleTexts = 256 << 10
)

// HasUncapturedRules reports whether a record is that of a .gitignore whose rules apply although
// the tree does not hold the file. Git follows no symlink there and reads no special file.
func HasUncapturedRules(rec index.Record) bool {
	switch rec.Skip() {
	case index.Captured, index.Special, index.Sparse:
		return false
	}
	return string(rec.Name()) == index.IgnoreFile && rec.Mode() != object.Dir && rec.Mode() != object.Symlink
}

// RulesBeside holds the texts of uncaptured .gitignore files, by the ids of their records.
type RulesBeside struct {
	Texts     map[string]RuleLines
	Misjudged []string // see scan.Result
}

// Record returns the record for the given directories. The rules of a directory whose text is
// missing or too large are recorded as unknown.
func (b *RulesBeside) Record(dirs []DirOfRules) *ruleRecord {
	r := &ruleRecord{Unknown: pathtext.Texts(b.Misjudged)}
	size, at := 0, make(map[RuleLines]int)
	for _, d := range dirs {
		text, ok := b.Texts[d.ID.String()]
		i, known := at[text]
		switch {
		case !ok || len(text) > MaxRuleText || !known && size+len(text) > maxRuleTexts:
			r.Unknown = append(r.Unknown, Path(d.Dir))
		case known:
			r.Texts[i].In = append(r.Texts[i].In, Path(d.Dir))
		default:
			at[text], size = len(r.Texts), size+len(text)
			r.Texts = append(r.Texts, ruleText{text, []Path{Path(d.Dir)}})
		}
	}
	slices.Sort(r.Unknown)
	r.Unknown = slices.Compact(r.Unknown)
	return r
}

// DirOfRules is a directory with an uncaptured .gitignore, and the id of its text.
type DirOfRules struct {
	Dir string
	ID  object.ID
}

// Each visits the directories whose rule text is known.
func (r *ruleRecord) Each(visit func(dir string, text RuleLines)) {
	for _, t := range r.Texts {
		for _, dir := range t.In {
			visit(string(dir), t.Text)
		}
	}
}

// WithoutPaths returns a copy without the texts of the files that scope covers, and the paths of
// these files. The copy records their rules as unknown.
func (r *ruleRecord) WithoutPaths(scope *PathScope) (out *ruleRecord, gone []string) {
	if r == nil {
		return nil, nil
	}
	out = &ruleRecord{Unknown: slices.Clone(r.Unknown)}
	covered := func(dir Path) bool { return scope.Covers(index.Join(string(dir), index.IgnoreFile)) }
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

// AddParents adds the .gitignore files of the directories from top down to root. If these rules
// ignore root itself, none of them is added: root was chosen on purpose.
func (c *IgnoreContext) AddParents(top, root string) {
	rel, err := filepath.Rel(top, root)
	if err != nil || !filepath.IsLocal(rel) {
		return
	}
	parts := strings.Split(filepath.ToSlash(rel), "/")
	with := *c
	with.Prefix = Path(strings.Join(parts, "/") + "/")
	dir := top
	for _, part := range parts {
		with.Parents = append(with.Parents, with.ReadRules(filepath.Join(dir, index.IgnoreFile)))
		dir = filepath.Join(dir, part)
	}
	if !with.Chain().Covers(strings.Join(parts, "/"), true) {
		*c = with
	}
}

// Chain compiles the rules in force at the root.
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

// maxRuleFile is the number of bytes that are read, and recorded with checkpoints, of one rule
// file.
const maxRuleFile = 1 << 20

// ReadRules reads a rule file. A path that is not a regular file has no rules, as in git. A file
// that cannot be read has none either, and makes the context Unknown.
func (c *IgnoreContext) ReadRules(path string) RuleLines {
	if path == "" || filepath.Base(path) == index.IgnoreFile && isSymlink(path) {
		return ""
	}
	text, err := git.ReadFile(path, maxRuleFile)
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
