// Package manpage writes manual pages in the language of roff, from the texts that the program
// prints as help.
package manpage

import (
	"fmt"
	"strings"
	"unicode"
)

// Page is one page of section 1.
type Page struct {
	Name    string // cairn-log
	Short   string // what it does, in a few words
	Text    string // the manual
	Date    string // 2006-01-02
	Source  string // the program and its version
	SeeAlso []string
}

// Roff returns the page. Lines are not hyphenated and not spread: names and options stay as they
// are typed.
func Roff(p *Page) []byte {
	var w writer
	w.printf(".TH %s 1 %s %s %s\n", quoted(strings.ToUpper(p.Name)), p.Date, quoted(p.Source), quoted("Manual of cairn"))
	w.printf(".nh\n.ad l\n.SH %s\n%s \\- %s\n", name, escaped(p.Name), escaped(p.Short))
	sections := parse(p.Text)
	for _, s := range order {
		if s == seeAlso && len(p.SeeAlso) > 0 {
			w.seeAlso(p.SeeAlso)
		}
		if blocks := sections[s]; len(blocks) > 0 {
			w.printf(".SH %s\n", quoted(s))
			w.section(s, blocks)
		}
	}
	return []byte(w.String())
}

type writer struct{ strings.Builder }

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

func (w *writer) section(in string, blocks []block) {
	for i, b := range blocks {
		list, isList := entries(b.lines)
		switch {
		case b.heading != "":
			w.printf(".SS %s\n", quoted(b.heading))
		case !b.indented:
			if i > 0 {
				w.printf(".PP\n")
			}
			w.text(b.lines)
		case in == synopsis:
			w.verbatim(b.lines, "")
		case isList && in != examples:
			w.list(list)
		default:
			if i > 0 {
				w.printf(".PP\n")
			}
			w.verbatim(b.lines, indent)
		}
	}
}

func (w *writer) text(lines []string) {
	for _, line := range lines {
		w.printf("%s\n", escaped(line))
	}
}

// verbatim writes lines as they are, indented or not.
func (w *writer) verbatim(lines []string, margin string) {
	if margin != "" {
		w.printf(".RS 4\n")
	}
	w.printf(".nf\n")
	for _, line := range lines {
		w.printf("%s\n", escaped(strings.TrimPrefix(line, indent)))
	}
	w.printf(".fi\n")
	if margin != "" {
		w.printf(".RE\n")
	}
}

func (w *writer) list(list []entry) {
	for _, e := range list {
		w.printf(".TP\n\\fB%s\\fR\n", escaped(e.term))
		w.text(e.text)
	}
}

func (w *writer) seeAlso(pages []string) {
	w.printf(".SH %s\n", quoted(seeAlso))
	for i, page := range pages {
		comma := ","
		if i == len(pages)-1 {
			comma = ""
		}
		w.printf("\\fB%s\\fR(1)%s\n", escaped(page), comma)
	}
}

// special returns how roff has to read a character that it prints otherwise than it is written, ""
// for others. A hyphen becomes a minus, because it may begin an option.
func special(r rune) string {
	switch r {
	case '\\':
		return `\e`
	case '-':
		return `\-`
	case '\'':
		return `\(aq`
	case '`':
		return `\(ga`
	case '^':
		return `\(ha`
	case '~':
		return `\(ti`
	case '"':
		return `\(dq`
	}
	if r > unicode.MaxASCII {
		return fmt.Sprintf(`\[u%04X]`, r)
	}
	return ""
}

// escaped is a line of text as roff has to read it to print it as it is.
func escaped(line string) string {
	var b strings.Builder
	if strings.HasPrefix(line, ".") {
		b.WriteString(`\&`) // a dot at the beginning is a request
	}
	for _, r := range line {
		if text := special(r); text != "" {
			b.WriteString(text)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// quoted is an argument of a macro.
func quoted(text string) string { return `"` + escaped(text) + `"` }
