package secretrules

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"slices"
)

// Finding is the place of a credential in a file.
type Finding struct {
	Rule string // id
	Line int    // from 1; 0 = the file as a whole, by its path
}

const (
	// blockSize and overlap are the sizes in bytes of the parts to which an expression that is not
	// anchored is applied.
	blockSize = 64 << 10
	overlap   = 4 << 10

	// pieceSize is the part of a stream that is in memory at once.
	pieceSize = 1 << 20

	// binaryHead is the number of bytes among which a NUL byte makes contents binary, as in git.
	binaryHead = 8000

	// maxAnchored is the largest length in bytes of a match of an anchored rule.
	maxAnchored = 8 << 10
)

// maxFindings is the number of findings in one file above which no more are looked for.
const maxFindings = 100

// Find lists what the rules find in the contents of a file, by line. The path is from the root.
func (r *Rules) Find(path string, content []byte) []Finding {
	s := r.begin(path)
	if !isBinary(content) {
		s.scanText(content, 0)
	}
	return s.sorted()
}

// FindIn is Find for contents that need not fit in memory. An error of src is returned as it is.
func (r *Rules) FindIn(path string, src io.Reader) ([]Finding, error) {
	s := r.begin(path)
	buf := make([]byte, pieceSize+overlap)
	kept, newlines := 0, 0
	for first := true; ; first = false {
		n, err := io.ReadFull(src, buf[kept:])
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
		text := buf[:kept+n]
		if first && isBinary(text) || len(s.list) > maxFindings {
			break
		}
		s.scanText(text, newlines)
		if err != nil {
			break
		}
		newlines += bytes.Count(text[:len(text)-overlap], []byte{'\n'})
		kept = copy(buf, text[len(text)-overlap:])
	}
	return s.sorted(), nil
}

func isBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), binaryHead)], 0) >= 0
}

// search is one search through the contents of a file.
type search struct {
	*Rules
	path string
	list []Finding
	done map[[2]int]bool // rules and the blocks to which they were applied
}

// begin applies the rules that go by the path alone.
func (r *Rules) begin(path string) *search {
	s := &search{Rules: r, path: path}
	for _, n := range r.byPath {
		if rule := &r.rules[n]; rule.applies(path) && !s.allowed(rule, &found{}) {
			s.list = append(s.list, Finding{Rule: rule.id})
		}
	}
	return s
}

// scanText searches a text. before is the number of lines before it.
func (s *search) scanText(text []byte, before int) {
	for _, n := range s.always {
		for at := 0; at < len(text); at += blockSize {
			s.apply(n, text, at, before)
		}
	}
	if s.words == nil {
		return
	}
	s.done = nil
	s.words.each(text, func(word, at int) {
		for _, n := range s.users[word] {
			switch key := [2]int{n, at / blockSize}; {
			case len(s.list) > maxFindings:
			case s.rules[n].anchored:
				s.applyAt(n, text, at, before)
			case !s.done[key]:
				if s.done == nil {
					s.done = make(map[[2]int]bool)
				}
				s.done[key] = true
				s.apply(n, text, key[1]*blockSize, before)
			}
		}
	})
}

// applyAt applies an anchored rule where a keyword stands.
func (s *search) applyAt(n int, text []byte, at, before int) {
	rule := &s.rules[n]
	if !rule.inWord && at > 0 && isWord(text[at-1]) {
		return
	}
	re, err := rule.regex()
	if err != nil || !rule.applies(s.path) {
		return
	}
	if m := re.FindSubmatchIndex(text[at:min(len(text), at+maxAnchored)]); m != nil {
		s.note(rule, text, at, m, before)
	}
}

// apply applies a rule to the block of a text that begins at an offset, and to the text near it.
func (s *search) apply(n int, text []byte, block, before int) {
	rule := &s.rules[n]
	re, err := rule.regex()
	if err != nil || !rule.applies(s.path) {
		return
	}
	from, to := max(0, block-overlap), min(len(text), block+blockSize+overlap)
	for _, m := range re.FindAllSubmatchIndex(text[from:to], maxFindings) {
		s.note(rule, text, from, m, before)
	}
}

// note adds a match unless it is allowed. The places in m count from the offset at.
func (s *search) note(rule *rule, text []byte, at int, m []int, before int) {
	start, end := secretOf(rule, m)
	lineStart := bytes.LastIndexByte(text[:at+m[0]], '\n') + 1
	lineEnd := len(text)
	if i := bytes.IndexByte(text[at+m[1]:], '\n'); i >= 0 {
		lineEnd = at + m[1] + i
	}
	f := &found{secret: text[at+start : at+end], match: text[at+m[0] : at+m[1]], line: text[lineStart:lineEnd]}
	if rule.entropy > 0 && entropy(f.secret) <= rule.entropy || f.isAllowedByComment() || s.allowed(rule, f) {
		return
	}
	s.list = append(s.list, Finding{rule.id, before + bytes.Count(text[:at+start], []byte{'\n'}) + 1})
}

// allowed reports whether an allowlist of the rule, or one for all rules, lets a match pass.
func (s *search) allowed(rule *rule, f *found) bool {
	for _, list := range [][]allowlist{rule.allow, s.allow} {
		for i := range list {
			if list[i].allows(s.path, f) {
				return true
			}
		}
	}
	return false
}

// secretOf returns the place of the secret: the group that the rule names, else the first group that
// took part in the match, else the whole match.
func secretOf(rule *rule, m []int) (start, end int) {
	if g := rule.group; g > 0 && 2*g+1 < len(m) && m[2*g] >= 0 {
		return m[2*g], m[2*g+1]
	}
	for g := 2; g+1 < len(m) && rule.group == 0; g += 2 {
		if m[g] >= 0 && m[g+1] > m[g] {
			return m[g], m[g+1]
		}
	}
	return m[0], m[1]
}

// sorted returns the findings by line, each once.
func (s *search) sorted() []Finding {
	if len(s.list) == 0 {
		return nil
	}
	named := make(map[int]bool) // lines with a finding of a rule that is not generic
	generic := make(map[string]bool)
	for i := range s.rules {
		generic[s.rules[i].id] = s.rules[i].generic
	}
	for _, f := range s.list {
		named[f.Line] = named[f.Line] || !generic[f.Rule]
	}
	list := slices.DeleteFunc(s.list, func(f Finding) bool { return generic[f.Rule] && named[f.Line] })
	slices.SortFunc(list, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule)) })
	list = slices.Compact(list)
	return list[:min(len(list), maxFindings)]
}

// entropy is that of Shannon, in bits a byte.
func entropy(text []byte) (bits float64) {
	var count [256]int
	for _, c := range text {
		count[c]++
	}
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
