package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// text is a JSON file, perhaps with comments, and its parsed value. Offsets in root
// count from the start of data.
type text struct {
	bom  bool
	data []byte
	root hujson.Value

	eol  string // end of the file's lines
	unit string // one level of indentation
}

const byteOrderMark = "\xef\xbb\xbf"

// errForm is a file whose form is not the expected one. Nothing can be added to it.
var errForm = errors.New("unexpected form")

// parseText reads a file. An empty one, or one that is only white space, is an empty
// object.
func parseText(data []byte) (*text, error) {
	t := &text{eol: "\n", unit: "  "}
	t.data, t.bom = bytes.CutPrefix(data, []byte(byteOrderMark))
	if len(bytes.TrimSpace(t.data)) == 0 {
		t.data = []byte("{}\n")
	}
	if bytes.Contains(t.data, []byte("\r\n")) {
		t.eol = "\r\n"
	}
	if err := t.parse(); err != nil {
		return nil, err
	}
	if _, ok := t.root.Value.(*hujson.Object); !ok {
		return nil, fmt.Errorf("%w: no JSON object", errForm)
	}
	if c := t.inside(&t.root); len(c.kids) > 0 && t.lineStart(c.kids[0].start) > c.open {
		if indent := t.indentAt(c.kids[0].start); indent != "" {
			t.unit = indent
		}
	}
	return t, nil
}

func (t *text) parse() (err error) {
	if known.TooDeep(t.data) {
		return fmt.Errorf("%w: too many objects and arrays", errForm)
	}
	// The parser keeps parts of what it is given, and edits are made in place.
	if t.root, err = hujson.Parse(bytes.Clone(t.data)); err != nil {
		return fmt.Errorf("%w: %s", errForm, strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return nil
}

func (t *text) bytes() []byte {
	if t.bom {
		return append([]byte(byteOrderMark), t.data...)
	}
	return t.data
}

// splice replaces the bytes between two offsets.
func (t *text) splice(from, to int, with string) error {
	t.data = append(append(bytes.Clone(t.data[:from]), with...), t.data[to:]...)
	return t.parse()
}

// span is where a member or an element lies; a member with its name.
type span struct{ start, end int }

// container is an object or an array: where its brackets are, and what lies between.
type container struct {
	open, close int
	kids        []span
}

func (t *text) inside(v *hujson.Value) container {
	c := container{open: v.StartOffset, close: v.EndOffset - 1}
	switch v := v.Value.(type) {
	case *hujson.Object:
		for i := range v.Members {
			c.kids = append(c.kids, span{v.Members[i].Name.StartOffset, v.Members[i].Value.EndOffset})
		}
	case *hujson.Array:
		for i := range v.Elements {
			c.kids = append(c.kids, span{v.Elements[i].StartOffset, v.Elements[i].EndOffset})
		}
	}
	return c
}

// member returns the value of an object's member, and its index; nil if there is none. Of several
// members with one name the last counts, as for the reader of the file.
func member(v *hujson.Value, name string) (*hujson.Value, int) {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, -1
	}
	for i := len(obj.Members) - 1; i >= 0; i-- {
		if lit, ok := obj.Members[i].Name.Value.(hujson.Literal); ok && lit.String() == name {
			return &obj.Members[i].Value, i
		}
	}
	return nil, -1
}

// commandOf returns the command of an entry, "" if there is none.
func commandOf(v *hujson.Value) string {
	m, _ := member(v, "command")
	if m == nil {
		return ""
	}
	return literal(m)
}

// literal returns a string, "" for any other value.
func literal(v *hujson.Value) string {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || lit.Kind() != '"' {
		return ""
	}
	return lit.String()
}

func elements(v *hujson.Value) []hujson.ArrayElement {
	if arr, ok := v.Value.(*hujson.Array); ok {
		return arr.Elements
	}
	return nil
}

// insert adds a value behind the last one of a container; name is that of a member,
// "" in an array. A container on one line stays on it.
func (t *text) insert(v *hujson.Value, name string, value any) error {
	c := t.inside(v)
	if len(c.kids) == 0 {
		return t.insertFirst(c, name, value)
	}
	last := c.kids[len(c.kids)-1]
	if t.lineStart(c.kids[0].start) <= c.open {
		return t.insertInline(last, name, value)
	}
	indent := t.indentAt(c.kids[0].start)
	at, comma, trailing := last.end, ",", ""
	if i := t.skipExtra(last.end); t.data[i] == ',' {
		at, comma, trailing = i+1, "", ","
	}
	rendered, err := t.render(name, value, indent)
	if err != nil {
		return err
	}
	eol := t.restOfLine(at)
	with := comma + string(t.data[at:eol]) + t.eol + indent + rendered + trailing
	return t.splice(at, eol, with)
}

func (t *text) insertInline(last span, name string, value any) error {
	rendered, err := t.render(name, value, "\x00")
	if err != nil {
		return err
	}
	at := last.end
	if i := t.skipExtra(last.end); t.data[i] == ',' {
		return t.splice(i+1, i+1, " "+rendered+",")
	}
	return t.splice(at, at, ", "+rendered)
}

func (t *text) insertFirst(c container, name string, value any) error {
	outer := t.indentAt(c.open)
	rendered, err := t.render(name, value, outer+t.unit)
	if err != nil {
		return err
	}
	interior := t.data[c.open+1 : c.close]
	added := t.eol + outer + t.unit + rendered
	if i := bytes.LastIndexByte(interior, '\n'); i >= 0 && len(bytes.TrimSpace(interior[i:])) == 0 {
		at := c.open + 1 + i
		if at > 0 && t.data[at-1] == '\r' {
			at--
		}
		return t.splice(at, at, added)
	}
	kept := strings.TrimRight(string(interior), " \t")
	return t.splice(c.open+1, c.close, kept+added+t.eol+outer)
}

// lone reports whether nothing but one member or element is in a container, and no comment.
func (t *text) lone(v *hujson.Value) bool {
	c := t.inside(v)
	if len(c.kids) != 1 {
		return false
	}
	behind := bytes.TrimPrefix(bytes.TrimSpace(t.data[c.kids[0].end:c.close]), []byte(","))
	return len(bytes.TrimSpace(t.data[c.open+1:c.kids[0].start]))+len(bytes.TrimSpace(behind)) == 0
}

// remove removes a member or an element, with its comma and its line. Comments on other
// lines stay.
func (t *text) remove(v *hujson.Value, i int) error {
	c := t.inside(v)
	from, to := c.kids[i].start, c.kids[i].end
	comma := span{to, to} // the comma that goes with the entry
	switch next := t.skipExtra(to); {
	case t.data[next] == ',' && len(bytes.TrimSpace(t.data[to:next])) == 0:
		to = next + 1
	case t.data[next] == ',':
		comma = span{next, next + 1}
	case i > 0:
		prev := t.skipExtra(c.kids[i-1].end)
		comma = span{prev, prev + 1}
	}
	from, to = t.wholeLine(c, from, to)
	if len(c.kids) == 1 && len(bytes.TrimSpace(t.data[c.open+1:from])) == 0 && len(bytes.TrimSpace(t.data[to:c.close])) == 0 {
		from, to, comma = c.open+1, c.close, span{c.close, c.close}
	}
	if comma.start < from {
		return t.splice(comma.start, to, string(t.data[comma.end:from]))
	}
	comma.start, comma.end = max(comma.start, to), max(comma.end, to)
	return t.splice(from, comma.end, string(t.data[to:comma.start]))
}

// wholeLine widens a span to whole lines if it is alone on them, and else to the blanks
// before it.
func (t *text) wholeLine(c container, from, to int) (int, int) {
	start, end := t.lineStart(from), t.restOfLine(to)
	if start > c.open && len(bytes.TrimSpace(t.data[start:from])) == 0 && (end > to || t.endsLine(to)) {
		return t.lineEndBefore(start), end
	}
	for from-1 > c.open && (t.data[from-1] == ' ' || t.data[from-1] == '\t') {
		from--
	}
	return from, to
}

func (t *text) endsLine(i int) bool {
	return i < len(t.data) && (t.data[i] == '\n' || bytes.HasPrefix(t.data[i:], []byte("\r\n")))
}

// replace replaces a value.
func (t *text) replace(v *hujson.Value, value any) error {
	rendered, err := t.render("", value, t.indentAt(v.StartOffset))
	if err != nil {
		return err
	}
	return t.splice(v.StartOffset, v.EndOffset, rendered)
}

// render prints a value, in the indentation of the file or, with the indentation
// "\x00", on one line.
func (t *text) render(name string, value any, indent string) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if indent != "\x00" {
		enc.SetIndent(indent, t.unit)
	}
	if err := enc.Encode(value); err != nil {
		return "", err
	}
	out := strings.TrimSuffix(b.String(), "\n")
	if name != "" {
		out = fmt.Sprintf("%q: ", name) + out
	}
	return strings.ReplaceAll(out, "\n", t.eol), nil
}

// skipExtra returns the offset of the next byte that belongs to no comment and is no
// white space.
func (t *text) skipExtra(i int) int {
	for i < len(t.data) {
		switch rest := t.data[i:]; {
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				return len(t.data) - 1
			}
			i += n + 1
		case bytes.HasPrefix(rest, []byte("/*")):
			i += bytes.Index(rest, []byte("*/")) + 2
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			i++
		default:
			return i
		}
	}
	return len(t.data) - 1
}

// restOfLine returns the end of the line at i, before its line end, if only white
// space and comments follow on it, and i otherwise.
func (t *text) restOfLine(i int) int {
	for j := i; j < len(t.data); {
		switch rest := t.data[j:]; {
		case rest[0] == '\n', bytes.HasPrefix(rest, []byte("\r\n")):
			return j
		case rest[0] == ' ', rest[0] == '\t':
			j++
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				return i
			}
			if rest[n-1] == '\r' {
				n--
			}
			return j + n
		case bytes.HasPrefix(rest, []byte("/*")):
			j += bytes.Index(rest, []byte("*/")) + 2
		default:
			return i
		}
	}
	return i
}

// lineStart returns the offset of the first byte of the line at i.
func (t *text) lineStart(i int) int { return bytes.LastIndexByte(t.data[:i], '\n') + 1 }

// lineEndBefore returns where the line before ends that begins at start.
func (t *text) lineEndBefore(start int) int {
	if start >= 2 && t.data[start-2] == '\r' {
		return start - 2
	}
	return start - 1
}

// indentAt returns the white space that the line at i begins with.
func (t *text) indentAt(i int) string {
	line := t.data[t.lineStart(i):i]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}
