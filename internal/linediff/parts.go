package linediff

import "bytes"

// Part is one edit printed as a hunk of its own.
type Part struct {
	Edit
	Shown  Edit   // the lines in Text: the edit's and those around it
	Header string // "@@ -1,4 +1,5 @@ heading", without '\n'
	Text   []byte // each line with ' ', '-' or '+' before it

	Removed, Added []byte // the lines of the edit
	Above, Below   []byte // lines of the old text around it, as many as the context allows; other edits may change them
}

// Parts returns every edit between a and b as a hunk of its own, in order. WriteUnified prints
// edits with few lines between them as one hunk. Parts divides these lines instead: they go to the
// edit before them, as many as the context allows, and the rest to the edit after them. So no two
// parts show the same line, and all headers and texts together are a patch.
func Parts(a, b []byte, opt Options) []Part {
	if bytes.Equal(a, b) {
		return nil
	}
	var printed bytes.Buffer
	p := printer{out: output{w: &printed}, context: opt.context(), a: newText(a), b: newText(b)}
	edits := placed(p.a, p.b).list()
	parts := make([]Part, len(edits))
	ends := make([][2]int, len(edits)) // of the header and of the text, in printed
	shown := 0
	for i, e := range edits {
		next := p.a.lines()
		if i+1 < len(edits) {
			next = edits[i+1].A0
		}
		before, after := min(p.context, e.A0-shown), min(p.context, next-e.A1)
		parts[i] = Part{Edit: e, Shown: Edit{e.A0 - before, e.A1 + after, e.B0 - before, e.B1 + after}}
		parts[i].Removed, parts[i].Added = p.a.slice(e.A0, e.A1), p.b.slice(e.B0, e.B1)
		parts[i].Above = p.a.slice(max(0, e.A0-p.context), e.A0)
		parts[i].Below = p.a.slice(e.A1, min(p.a.lines(), e.A1+p.context))
		p.header(parts[i].Shown)
		ends[i][0] = p.printedEnd(&printed)
		p.part(&parts[i])
		ends[i][1] = p.printedEnd(&printed)
		shown = e.A1 + after
	}
	p.out.flush()
	at := 0
	for i := range parts {
		parts[i].Header = string(printed.Bytes()[at : ends[i][0]-1])
		parts[i].Text, at = printed.Bytes()[ends[i][0]:ends[i][1]:ends[i][1]], ends[i][1]
	}
	return parts
}

// printedEnd is the number of bytes printed so far. A bytes.Buffer accepts all that is written.
func (p *printer) printedEnd(printed *bytes.Buffer) int { return printed.Len() + len(p.out.buf) }

func (p *printer) part(part *Part) {
	p.out.lines(' ', p.a.slice(part.Shown.A0, part.A0))
	p.out.lines('-', p.a.slice(part.A0, part.A1))
	p.out.lines('+', p.b.slice(part.B0, part.B1))
	p.out.lines(' ', p.a.slice(part.A1, part.Shown.A1))
}

// Lines cuts a text into its lines, each with its '\n'; the last may lack it.
func Lines(content []byte) [][]byte {
	t := newText(content)
	lines := make([][]byte, t.lines())
	for i := range lines {
		lines[i] = t.line(i)
	}
	return lines
}
