package webui

import (
	"fmt"
	"html/template"
	"net/url"
	"path"
	"strings"
)

const (
	defaultContext = 3
	chunkRows      = 100   // rows of one table: a browser lays out only the tables in sight
	maxRows        = 20000 // rows of one page
)

// diffTable prints the lines of one changed file.
type diffTable struct {
	name    string
	split   bool // side by side
	context int
	first   int                  // number of the first row, where it is not the first page
	more    func(row int) string // address of the page that begins with a row
	opener  func(span) string    // address of the page with more unchanged lines; nil = they cannot be opened
	hunks   []string             // names of the changes, "" for one that cannot be chosen alone
	chosen  map[string]bool      // of them
	all     bool                 // all of them are chosen
	boxes   int                  // that were printed

	old, new *coloured
	out      []byte
	rows     []byte // of the open table
	pending  []byte // new versions of changed lines, in the unified view
	row      int    // rows so far, those of earlier pages included
	inTable  int    // of the open table
}

// html prints a comparison. Its output consists of constants, numbers and texts that
// appendText has escaped.
func (t *diffTable) html(c *comparison) template.HTML {
	t.old, t.new = newColoured(t.name, c.old), newColoured(t.name, c.new)
	for _, h := range c.hunks(t.context) {
		if t.full() {
			break
		}
		if h.skipped > 0 && t.visible() {
			t.gap(span{h.at, h.at + h.skipped}, len(c.old))
		}
		for i := range h.rows {
			t.add(&h.rows[i])
		}
	}
	t.closeTable()
	if t.full() {
		t.link("More lines", t.row)
	} else if rest := c.rest(t.context); rest > 0 {
		t.gap(span{len(c.old) - rest, len(c.old)}, len(c.old))
	}
	return template.HTML(t.out)
}

func (t *diffTable) visible() bool { return t.row >= t.first }
func (t *diffTable) full() bool    { return t.row >= t.first+maxRows }

func (t *diffTable) add(r *row) {
	if t.full() {
		return
	}
	if !t.visible() {
		t.row++
		return
	}
	// The unified view keeps both versions of a block apart, so its tables may grow.
	if t.inTable >= chunkRows && (len(t.pending) == 0 || t.inTable >= 10*chunkRows) {
		t.closeTable()
	}
	if r.edit > 0 && r.edit <= len(t.hunks) && t.hunks[r.edit-1] != "" {
		t.boxes++
		t.choice(r)
	}
	if t.split {
		t.splitRow(r)
	} else {
		t.unifiedRow(r)
	}
	t.row++
	t.inTable++
}

// choice prints the check box of a change.
func (t *diffTable) choice(r *row) {
	t.flush()
	columns := 3
	if t.split {
		columns = 4
	}
	id, checked := t.hunks[r.edit-1], ""
	if t.all || t.chosen[id] {
		checked = " checked"
	}
	t.rows = fmt.Appendf(t.rows, `<tr class=pick><td class=pk colspan=%d><label><input type=checkbox name=hunk value="%s" form=choose%s> %s</label>`, columns, id, checked, t.boxText(r))
}

// boxText says which change a box is for: of a plan by its line on disk, of changes by its line after
// them.
func (t *diffTable) boxText(r *row) string {
	switch {
	case t.all && r.old > 0:
		return fmt.Sprintf("take the change at line %d", r.old)
	case t.all:
		return fmt.Sprintf("take the lines at line %d", r.new)
	case r.new > 0:
		return fmt.Sprintf("choose the change at new line %d", r.new)
	}
	return fmt.Sprintf("choose the change at old line %d", r.old)
}

// closeTable prints the rows that were collected. Tables of full size are marked: a
// browser that knows their height need not lay them out before they come into sight.
func (t *diffTable) closeTable() {
	t.flush()
	if len(t.rows) == 0 {
		return
	}
	t.out = append(t.out, "<div"...)
	if t.inTable >= chunkRows {
		t.out = append(t.out, " class=chunk"...)
	}
	t.out = append(t.out, `><table class="lines`...)
	// Widths stand apart from the rows: the first row may be that of a check box.
	if t.split {
		t.out = append(t.out, ` split"><col class=lc><col><col class=lc><col>`...)
	} else {
		t.out = append(t.out, `"><col class=lc><col class=lc><col>`...)
	}
	t.out = append(t.out, t.rows...)
	t.out = append(t.out, "</table></div>\n"...)
	t.rows, t.inTable = t.rows[:0], 0
}

// openLines is the number of unchanged lines that a link opens.
const openLines = 20

// gap stands for unchanged lines of a text of so many lines. Links open them from above, from below
// or all.
func (t *diffTable) gap(lines span, total int) {
	t.closeTable()
	n := lines.to - lines.from
	t.out = append(t.out, `<p class=gap>`...)
	t.out = append(t.out, plural(n, "unchanged line")...)
	if t.opener != nil {
		if n > openLines && lines.from > 0 {
			t.openLink("↓ next 20", span{lines.from, lines.from + openLines})
		}
		if n > openLines && lines.to < total {
			t.openLink("↑ last 20", span{lines.to - openLines, lines.to})
		}
		t.openLink("show all", lines)
	}
	t.out = append(t.out, "</p>\n"...)
}

func (t *diffTable) openLink(text string, lines span) {
	t.out = append(t.out, ` <a data-open href="`...)
	t.out = appendText(t.out, []byte(t.opener(lines)))
	t.out = append(t.out, `">`...)
	t.out = append(t.out, text...)
	t.out = append(t.out, "</a>"...)
}

func (t *diffTable) link(text string, row int) {
	t.out = append(t.out, `<p class=gap><a href="`...)
	t.out = appendText(t.out, []byte(t.more(row)))
	t.out = append(t.out, `">`...)
	t.out = append(t.out, text...)
	t.out = append(t.out, "</a></p>\n"...)
}

// sides prepares both lines of a row.
func (t *diffTable) sides(r *row) (old, new codeLine) {
	if r.old > 0 {
		old = t.old.line(r.old)
	}
	if r.new > 0 {
		new = t.new.line(r.new)
	}
	if r.old > 0 && r.new > 0 && r.changed() {
		old.marked, new.marked = changedWords(old.text, new.text)
	}
	return old, new
}

func (t *diffTable) splitRow(r *row) {
	old, new := t.sides(r)
	t.rows = append(t.rows, "<tr>"...)
	if !r.changed() {
		t.cell(r.old, "", &old, false)
		t.cell(r.new, "", &new, false)
		return
	}
	t.cell(r.old, "d", &old, true)
	t.cell(r.new, "a", &new, true)
}

// unifiedRow prints the old versions of neighbouring lines first, then the new ones.
func (t *diffTable) unifiedRow(r *row) {
	old, new := t.sides(r)
	if !r.changed() {
		t.flush()
		t.rows = append(t.rows, "<tr>"...)
		t.number(r.old)
		t.cell(r.new, "", &new, false)
		return
	}
	if r.new > 0 {
		rows := t.rows
		t.rows = append(t.pending, "<tr>"...)
		t.number(0)
		t.cell(r.new, "a", &new, true)
		t.pending, t.rows = t.rows, rows
	}
	if r.old > 0 {
		t.rows = append(t.rows, "<tr>"...)
		t.number(r.old)
		t.cell(0, "d", &old, true)
	}
}

func (t *diffTable) flush() {
	t.rows = append(t.rows, t.pending...)
	t.pending = t.pending[:0]
}

// cell prints the number of a line and the line. A side without one stays empty.
func (t *diffTable) cell(n int, class string, line *codeLine, changed bool) {
	t.number(n)
	if n == 0 && t.split {
		t.rows = append(t.rows, "<td class=e>"...)
		return
	}
	t.rows = append(t.rows, "<td"...)
	if class != "" {
		t.rows = append(append(t.rows, " class="...), class...)
	}
	t.rows = append(t.rows, '>')
	t.rows = line.appendHTML(t.rows)
	if changed {
		t.rows = line.appendEnd(t.rows)
	}
}

// number prints a line's number as an attribute, so that the number is not copied with
// the text.
func (t *diffTable) number(n int) {
	t.rows = append(t.rows, "<td class=l"...)
	if n > 0 {
		t.rows = append(t.rows, " data-n="...)
		t.rows = appendNumber(t.rows, n)
	}
	t.rows = append(t.rows, ">"...)
}

// disposition names a download, in two forms: one of plain letters, which every browser
// understands, and one of all bytes.
func disposition(file string) string {
	name := path.Base(file)
	plain := strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || strings.ContainsRune(`"\/%`, r) {
			return '_'
		}
		return r
	}, name)
	return `attachment; filename="` + plain + `"; filename*=UTF-8''` + url.PathEscape(strings.ToValidUTF8(name, "_"))
}

func urlValues(m map[string][]string) url.Values { return url.Values(m) }
