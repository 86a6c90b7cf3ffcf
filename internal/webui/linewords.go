package webui

import (
	"bytes"

	"github.com/seed-fb9cbc17/cairn/internal/worddiff"
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
	was, is := worddiff.Cut(old, wordKind), worddiff.Cut(new, wordKind)
	common, at := 0, 0
	count := func(to int) {
		for ; at < to; at++ {
			common += len(bytes.TrimSpace(old[was[at].From:was[at].To]))
		}
	}
	for _, e := range worddiff.Diff(old, was, new, is) {
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
func appendWords(spans []span, line []byte, words []worddiff.Span) []span {
	if len(words) == 0 {
		return spans
	}
	add := span{words[0].From, words[len(words)-1].To}
	if last := len(spans) - 1; last >= 0 && len(bytes.TrimSpace(line[spans[last].to:add.from])) == 0 {
		spans[last].to = add.to
		return spans
	}
	return append(spans, add)
}

// wordKind cuts a line into words, runs of blanks, and single other bytes.
func wordKind(c byte) worddiff.Kind {
	switch {
	case wordByte(c):
		return worddiff.Run
	case c == ' ' || c == '\t':
		return worddiff.OtherRun
	case c == '\n':
		return worddiff.Skip
	}
	return worddiff.Alone
}
