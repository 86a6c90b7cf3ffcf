package secrets

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Finding is the place of a secret in a text, in bytes. The names around it, for instance that of a
// variable or of a host, do not belong to it.
type Finding struct {
	Rule       string // id
	Start, End int
}

// Find lists the secrets of a text in order. Findings do not overlap.
func Find(text string) []Finding {
	list := privateKeys(text)
	low := lower(text)
	for _, r := range rules() {
		list = append(list, r.find(text, low)...)
	}
	return disjoint(list)
}

// Mask puts the name of its rule in the place of each secret.
func Mask(text string) string {
	found := Find(text)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, f := range found {
		b.WriteString(text[at:f.Start])
		b.WriteString(maskBegin + f.Rule + "]")
		at = f.End
	}
	b.WriteString(text[at:])
	return b.String()
}

// MaskBeginning masks a text and keeps its first n bytes. Secrets are masked before the text is cut,
// because a part of a token would not be recognized.
func MaskBeginning(text string, n int) string {
	const ahead = 4 // a text may be a whole log
	return wording.Beginning(Mask(wording.Beginning(text, ahead*n)), n)
}

// maskBegin begins what stands in the place of a secret.
const maskBegin = "[masked: "

// disjoint sorts findings and joins those that overlap. The name is that of the rule that comes
// first in the table.
func disjoint(all []Finding) []Finding {
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(a.Start, b.Start) })
	var out []Finding
	for _, f := range all {
		last := len(out) - 1
		if last < 0 || f.Start >= out[last].End {
			out = append(out, f)
			continue
		}
		out[last].End = max(out[last].End, f.End)
		if rank(f.Rule) < rank(out[last].Rule) {
			out[last].Rule = f.Rule
		}
	}
	return out
}

func rank(id string) int { return slices.IndexFunc(rules(), func(r rule) bool { return r.id == id }) }

// lower is a text with the letters of ASCII in lower case: each byte keeps its place.
func lower(text string) string {
	var b []byte
	for i := range len(text) {
		if c := text[i]; 'A' <= c && c <= 'Z' {
			if b == nil {
				b = []byte(text)
			}
			b[i] = c + 'a' - 'A'
		}
	}
	if b == nil {
		return text
	}
	return string(b)
}
