package cairn

import (
	"bytes"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// ruleRecord is the ignore rules of a state whose files its tree does not hold: a
// .gitignore that is ignored itself, too large or unreadable. Without it the rules would
// leave no trace, and what they kept out of the capture would count as absent.
type ruleRecord struct {
	Texts   []ruleText `json:"texts,omitempty"`
	Unknown []pathText `json:"unknown,omitempty"` // directories, "" = the root: no rule below them is sure
}

// ruleText is a text of rules and the directories that have it.
type ruleText struct {
	Text ruleLines  `json:"text"`
	In   []pathText `json:"in"`
}

// ruleLines is the text of a file of ignore rules, without its comments and blank lines.
// Patterns may hold any bytes but NUL.
type ruleLines string

// MarshalText implements encoding.TextMarshaler.
func (l ruleLines) MarshalText() ([]byte, error) { return []byte(pathtext.Encode(string(l))), nil }

// UnmarshalText implements encoding.TextUnmarshaler. Earlier releases wrote the text as it
// was, a NUL included.
func (l *ruleLines) UnmarshalText(text []byte) error {
	plain, err := pathtext.Decode(string(text))
	if err != nil {
		plain = string(text)
	}
	*l = ruleLines(plain)
	return nil
}

// linesOf reduces a file of ignore rules to its rules. A text with a NUL is not ok: JSON
// could not carry it without doubt.
func linesOf(text []byte) (lines ruleLines, ok bool) {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		if trimmed := strings.TrimRight(line, "\r\n"); trimmed != "" && trimmed[0] != '#' {
			b.WriteString(line)
		}
	}
	return ruleLines(b.String()), bytes.IndexByte(text, 0) < 0
}

// What one checkpoint carries of such texts at most. Usual ones are a few bytes. A
// directory whose text has no room counts as one of unknown rules.
const (
	maxRuleText  = 64 << 10
	maxRuleTexts = 256 << 10
)

// hasUncapturedRules reports whether a record is that of a .gitignore whose rules count
// although the tree does not hold it. Git follows no link there, and reads no special file.
func hasUncapturedRules(rec index.Record) bool {
	switch rec.Skip() {
	case index.Captured, index.Special, index.Sparse:
		return false
	}
	return string(rec.Name()) == index.IgnoreFile && rec.Mode() != object.Dir && rec.Mode() != object.Symlink
}

// rulesBeside is what is known of the texts of such files, by the ids of their records.
type rulesBeside struct {
	texts     map[string]ruleLines
	misjudged []string // see scan.Result
}

// record makes the record of a state from the directories whose .gitignore is not captured
// and the ids of their texts.
func (b *rulesBeside) record(dirs []dirOfRules) *ruleRecord {
	r := &ruleRecord{Unknown: pathtext.Texts(b.misjudged)}
	size, at := 0, make(map[ruleLines]int)
	for _, d := range dirs {
		text, ok := b.texts[d.id.String()]
		i, known := at[text]
		switch {
		case !ok || len(text) > maxRuleText || !known && size+len(text) > maxRuleTexts:
			r.Unknown = append(r.Unknown, pathText(d.dir))
		case known:
			r.Texts[i].In = append(r.Texts[i].In, pathText(d.dir))
		default:
			at[text], size = len(r.Texts), size+len(text)
			r.Texts = append(r.Texts, ruleText{text, []pathText{pathText(d.dir)}})
		}
	}
	slices.Sort(r.Unknown)
	r.Unknown = slices.Compact(r.Unknown)
	return r
}

// dirOfRules is a directory and the id of the text of its .gitignore.
type dirOfRules struct {
	dir string
	id  object.ID
}

// each visits the directories whose text is known.
func (r *ruleRecord) each(visit func(dir string, text ruleLines)) {
	for _, t := range r.Texts {
		for _, dir := range t.In {
			visit(string(dir), t.Text)
		}
	}
}

// withoutPaths is a copy without the texts of files that scope covers, which are returned.
// Their rules are unknown then.
func (r *ruleRecord) withoutPaths(scope *pathScope) (out *ruleRecord, gone []string) {
	if r == nil {
		return nil, nil
	}
	out = &ruleRecord{Unknown: slices.Clone(r.Unknown)}
	covered := func(dir pathText) bool { return scope.covers(index.Join(string(dir), index.IgnoreFile)) }
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

// dirs yields all directories that the record names.
func (r *ruleRecord) dirs(yield func(dir string) bool) {
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
