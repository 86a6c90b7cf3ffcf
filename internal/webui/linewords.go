package webui

import (
	"bytes"

	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

// maxWords is the length of a line in bytes up to which its words are compared. A longer line is
// rarely text for people.
const maxWords = 1000

// changedWords lists the words in which two versions of a line differ. Lines with hardly a common
// word have none: a mark on the whole line would not help.
func changedWords(old, new []byte) (o, n []span) {
	if len(old) > maxWords || len(new) > maxWords {
		a, b := changedPart(old, new)
		return []span{a}, []span{b}
	}
	was, is := wordsOf(old), wordsOf(new)
	common, at := 0, 0
	count := func(to int) {
		for ; at < to; at++ {
			common += len(bytes.TrimSpace(old[was[at].from:was[at].to]))
		}
	}
	for _, e := range linediff.DiffSequence(oneALine(old, was), oneALine(new, is)) {
		count(e.A0)
		at = e.A1
		o, n = appendWords(o, old, was[e.A0:e.A1]), appendWords(n, new, is[e.B0:e.B1])
	}
	count(len(was))
	if 3*common < min(len(bytes.TrimSpace(old)), len(bytes.TrimSpace(new))) {
		return nil, nil
	}
	return o, n
}

// appendWords adds neighbouring words as one span. Spans with nothing but blanks between them are
// one.
func appendWords(spans []span, line []byte, words []span) []span {
	if len(words) == 0 {
		return spans
	}
	add := span{words[0].from, words[len(words)-1].to}
	if last := len(spans) - 1; last >= 0 && len(bytes.TrimSpace(line[spans[last].to:add.from])) == 0 {
		spans[last].to = add.to
		return spans
	}
	return append(spans, add)
}

// wordsOf cuts a line into words, runs of blanks, and single other bytes.
func wordsOf(line []byte) (words []span) {
	kind := func(c byte) int {
		switch {
		case wordByte(c):
			return 1
		case c == ' ' || c == '\t':
			return 2
		}
		return 0
	}
	for at := 0; at < len(line); {
		from := at
		for at++; at < len(line) && kind(line[from]) > 0 && kind(line[at]) == kind(line[from]); at++ {
		}
		words = append(words, span{from, at})
	}
	return words
}

// oneALine is the words of a line, each on a line of its own.
func oneALine(line []byte, words []span) []byte {
	out := make([]byte, 0, len(line)+len(words))
	for _, w := range words {
		out = append(append(out, line[w.from:w.to]...), '\n')
	}
	return out
}
