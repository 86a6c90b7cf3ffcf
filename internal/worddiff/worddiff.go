// Package worddiff cuts texts into words and compares these. What a word is, the caller says: git's
// diffs, the terminal and the page do not agree.
package worddiff

import "github.com/seed-fb9cbc17/cairn/internal/linediff"

// Kind says how a byte belongs to a word.
type Kind int

// The kinds. Neighbouring bytes of Run are one word, and so are those of OtherRun.
const (
	Skip     Kind = iota // it belongs to no word
	Alone                // it is a word
	Run                  // it belongs to a word with its neighbours
	OtherRun             // the same for bytes of another sort
)

// Span is the place of a word in a text: bytes [From,To).
type Span struct{ From, To int }

// Cut finds the words of a text.
func Cut(text []byte, kind func(c byte) Kind) (words []Span) {
	for at := 0; at < len(text); {
		from, of := at, kind(text[at])
		for at++; of != Alone && at < len(text) && kind(text[at]) == of; at++ {
		}
		if of != Skip {
			words = append(words, Span{from, at})
		}
	}
	return words
}

// Append appends the words of a text to out, one a line. No word contains a newline.
func Append(out, text []byte, words []Span) []byte {
	for _, w := range words {
		out = append(append(out, text[w.From:w.To]...), '\n')
	}
	return out
}

// Diff compares two texts word by word. The edits count words.
func Diff(old []byte, was []Span, new []byte, is []Span) []linediff.Edit {
	return linediff.DiffSequence(Append(nil, old, was), Append(nil, new, is))
}
