package hunk

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

// Context is the number of unchanged lines that a hunk shows, and is known by, on either side.
const Context = 3

// idBytes is the length of a name before it is written in hex. Among 10,000 hunks two names are
// equal by chance once in five million times; then both hunks go together.
const idBytes = 6

// Hunk is one run of changed lines, or one change of a file that is no change of lines.
type Hunk struct {
	ID       string   `json:"id"`       // 12 hex digits
	Header   string   `json:"header"`   // "@@ -1,4 +1,5 @@ heading", or the change in words
	OldStart int      `json:"oldStart"` // as in the header: lines from 1, an empty range is named by the line before
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"` // each with ' ', '-', '+' or '\' before it; a byte that is not UTF-8 becomes U+FFFD in JSON
	Whole    bool     `json:"whole,omitempty"`
}

// Piece is a hunk with the range of its changed lines, numbered from 0. A hunk that goes back as a
// whole has no range.
type Piece struct {
	Hunk
	Edit linediff.Edit
}

// Write writes the hunk as a part of a patch, with its name behind a '#' in the header, where a
// patch program expects a heading.
func (h *Hunk) Write(w io.Writer) error {
	lines, heading, _ := strings.Cut(strings.TrimPrefix(h.Header, "@@ "), " @@")
	_, err := fmt.Fprintf(w, "@@ %s @@ #%s%s\n", lines, h.ID, heading)
	for _, line := range h.Lines {
		if err == nil {
			_, err = io.WriteString(w, line+"\n")
		}
	}
	return err
}

// Of returns the hunks between the two texts of a path.
func Of(path string, before, after []byte) []Piece {
	parts := linediff.Parts(before, after, linediff.Options{Context: Context})
	names := namer{path: path, equal: map[[sha256.Size]byte]uint32{}}
	hunks := make([]Piece, len(parts))
	for i := range parts {
		p := &parts[i]
		hunks[i] = Piece{Hunk{ID: names.of(p), Header: p.Header, Lines: shownLines(p.Text)}, p.Edit}
		hunks[i].OldStart, hunks[i].OldLines = span(p.Shown.A0, p.Shown.A1)
		hunks[i].NewStart, hunks[i].NewLines = span(p.Shown.B0, p.Shown.B1)
	}
	return hunks
}

// OfChange returns the one hunk of a change that is taken back as a whole or not at all, for
// instance of a binary file. what describes it for people; the parts tell it from other
// changes of the path.
func OfChange(path, what string, parts ...string) Hunk {
	h := sha256.New()
	for _, text := range append([]string{"whole", path}, parts...) {
		writeText(h, []byte(text))
	}
	return Hunk{ID: name(h.Sum(nil)), Header: what, Lines: []string{}, Whole: true}
}

// namer names the hunks of one file, from the top.
type namer struct {
	path  string
	equal map[[sha256.Size]byte]uint32 // how many hunks had this sum
}

func (n *namer) of(p *linediff.Part) string {
	h := sha256.New()
	writeText(h, []byte("lines"))
	writeText(h, []byte(n.path))
	for _, text := range [][]byte{p.Removed, p.Added, p.Above, p.Below} {
		lines := slices.Collect(bytes.Lines(text))
		writeNumber(h, uint32(len(lines)))
		for _, line := range lines {
			writeText(h, line)
		}
	}
	sum := [sha256.Size]byte(h.Sum(nil))
	number := n.equal[sum]
	n.equal[sum]++
	writeNumber(h, number)
	return name(h.Sum(nil))
}

func name(sum []byte) string { return hex.EncodeToString(sum[:idBytes]) }

// writeText writes a text after its length, so that no two lists of texts look alike.
func writeText(h io.Writer, text []byte) {
	writeNumber(h, uint32(len(text)))
	h.Write(text)
}

func writeNumber(h io.Writer, n uint32) {
	h.Write(binary.BigEndian.AppendUint32(nil, n))
}

// shownLines cuts the text of a part into lines without '\n'.
func shownLines(text []byte) []string {
	lines := make([]string, 0, bytes.Count(text, []byte{'\n'}))
	for line := range bytes.Lines(text) {
		lines = append(lines, string(bytes.TrimSuffix(line, []byte{'\n'})))
	}
	return lines
}

// span is a range of lines as a header has it.
func span(from, to int) (start, n int) {
	if from == to {
		return from, 0
	}
	return from + 1, to - from
}
