package webui

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/seed-fb9cbc17/cairn/internal/syntax"
)

// maxLine is the number of bytes of a line that are shown. Longer lines are rarely text
// for people, and a browser needs seconds for the layout of a line of a megabyte.
const maxLine = 4000

// kindClass is the style of a token, one letter because there are many.
var kindClass = [...]byte{
	syntax.Comment: 'c', syntax.String: 's', syntax.Number: 'n', syntax.Keyword: 'k', syntax.Type: 't', syntax.Call: 'f', syntax.Key: 'p',
}

// codeLine is one line to print.
type codeLine struct {
	text   []byte // without the line's end
	end    []byte // its line end
	tokens []syntax.Token
	marked []span // what differs from the other side, in order
}

func newCodeLine(text []byte, tokens []syntax.Token) codeLine {
	body := bytes.TrimRight(text, "\r\n")
	return codeLine{text: body, end: text[len(body):], tokens: tokens}
}

// appendHTML writes the line with its colours. No other HTML is made outside of
// templates, which need seconds where this needs milliseconds. Every byte of the text
// goes through appendText, which escapes it.
func (l *codeLine) appendHTML(dst []byte) []byte {
	shown := len(l.text)
	if shown > maxLine {
		shown = maxLine
		for shown > 0 && !utf8.RuneStart(l.text[shown]) {
			shown--
		}
	}
	at := 0
	for _, t := range l.tokens {
		if t.Start >= shown {
			break
		}
		dst = l.appendPart(dst, at, t.Start, 0)
		at = min(t.End, shown)
		dst = l.appendPart(dst, t.Start, at, kindClass[t.Kind])
	}
	dst = l.appendPart(dst, at, shown, 0)
	if rest := len(l.text) - shown; rest > 0 {
		dst = append(dst, `<span class=x>… `...)
		dst = append(dst, grouped(rest)...)
		dst = append(dst, ` more bytes</span>`...)
	}
	return dst
}

// appendEnd shows the line end if it is not the usual one.
func (l *codeLine) appendEnd(dst []byte) []byte {
	if bytes.IndexByte(l.end, '\r') >= 0 {
		dst = append(dst, `<span class=x title="carriage return">\r</span>`...)
	}
	if len(l.end) == 0 || l.end[len(l.end)-1] != '\n' {
		dst = append(dst, `<span class=x>no newline at the end</span>`...)
	}
	return dst
}

// appendPart writes bytes [from,to) in one colour, with the mark where it applies.
func (l *codeLine) appendPart(dst []byte, from, to int, class byte) []byte {
	if from >= to {
		return dst
	}
	if class != 0 {
		dst = append(append(append(dst, "<span class="...), class), '>')
	}
	for _, m := range l.marked {
		a, b := max(from, m.from), min(m.to, to)
		if a >= b {
			continue
		}
		dst = appendText(dst, l.text[from:a])
		dst = append(dst, "<b>"...)
		dst = appendText(dst, l.text[a:b])
		dst = append(dst, "</b>"...)
		from = b
	}
	dst = appendText(dst, l.text[from:to])
	if class != 0 {
		dst = append(dst, "</span>"...)
	}
	return dst
}

// appendText writes text between tags. Characters without a shape are shown as escapes.
func appendText(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '&':
			dst = append(dst, "&amp;"...)
		case c == '<':
			dst = append(dst, "&lt;"...)
		case c == '>':
			dst = append(dst, "&gt;"...)
		case c == '"':
			dst = append(dst, "&#34;"...)
		case c == '\'':
			dst = append(dst, "&#39;"...)
		case c == '\t' || 0x20 <= c && c < 0x7f:
			dst = append(dst, c)
		default:
			r, n := utf8.DecodeRune(text[i:])
			dst = appendRune(dst, text[i:i+n], r)
			i += n
			continue
		}
		i++
	}
	return dst
}

func appendRune(dst, raw []byte, r rune) []byte {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		return fmt.Appendf(dst, `<span class=x>\x%02x</span>`, raw[0])
	case misleading(r):
		return fmt.Appendf(dst, `<span class=x>%s</span>`, escapeRune(r))
	}
	return append(dst, raw...)
}

// coloured gives the tokens of every line of a text that is asked for in order.
type coloured struct {
	scanner *syntax.Scanner
	lines   [][]byte
	next    int
}

func newColoured(name string, lines [][]byte) *coloured {
	var first []byte
	if len(lines) > 0 {
		first = lines[0]
	}
	return &coloured{scanner: syntax.NewScanner(syntax.For(name, first)), lines: lines}
}

// line returns line n, counted from 1. It also reads the lines that are left out: a comment may
// begin in them.
func (c *coloured) line(n int) codeLine {
	var tokens []syntax.Token
	for c.next < n {
		tokens = c.scanner.Line(c.lines[c.next])
		c.next++
	}
	return newCodeLine(c.lines[n-1], tokens)
}

func appendNumber(dst []byte, n int) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendInt(dst, int64(n), 10)
}
