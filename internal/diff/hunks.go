package diff

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/hunk"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// FileHunks holds the pieces of a change that can be taken back one by one. Before and After are
// the texts of a change of lines. They are empty for a change that goes back as a whole.
type FileHunks struct {
	Before, After []byte
	Hunks         []hunk.Piece
}

// Hunks cuts a change into hunks. A change of mode or permission bits is a hunk of its own. A
// binary or too large file, a symlink, an empty file that came or went, and a file that became a
// symlink or the reverse are one hunk each. A directory has none: its bits go back by its path.
func (r *Differ) Hunks(c *history.Change, opt DiffOptions) (FileHunks, error) {
	if isDir(c.OldMode) || isDir(c.NewMode) {
		return FileHunks{}, nil
	}
	sides, err := r.sides(c, opt)
	if err != nil {
		return FileHunks{}, err
	}
	return cut(c, &sides), nil
}

// cut is Hunks for a change of no directory, whose sides were read.
func cut(c *history.Change, sides *fileSides) (f FileHunks) {
	if what := wholeChange(c, sides); what != "" {
		f.Hunks = []hunk.Piece{{Hunk: hunk.OfChange(c.Path, what, c.OldID, c.NewID, bitsText(c.OldMode, c.OldPerm), bitsText(c.NewMode, c.NewPerm))}}
		return f
	}
	f.Before, f.After = sides.old, sides.new
	if old, now := bitsText(c.OldMode, c.OldPerm), bitsText(c.NewMode, c.NewPerm); c.Status == history.Modified && old != now {
		f.Hunks = append(f.Hunks, hunk.Piece{Hunk: hunk.OfChange(c.Path, "mode "+old+" became "+now, old, now)})
	}
	f.Hunks = append(f.Hunks, hunk.Of(c.Path, f.Before, f.After)...)
	return f
}

// HunksOfRenamed is Hunks for a change that may be a rename. The move is a hunk of its own then, the
// first one; the others are those of the lines and bits at the path after it.
func (r *Differ) HunksOfRenamed(c *FileChange, opt DiffOptions) (FileHunks, error) {
	f, err := r.Hunks(&c.Change, opt)
	if err == nil && c.From != "" {
		move := hunk.OfChange(c.Path, "renamed from "+pathtext.Quote(c.From), c.From)
		f.Hunks = slices.Insert(f.Hunks, 0, hunk.Piece{Hunk: move})
	}
	return f, err
}

func isDir(mode uint32) bool { return object.Mode(mode) == object.Dir }

// wholeChange describes a change that has no lines of its own, "" for any other.
func wholeChange(c *history.Change, s *fileSides) string {
	empty := len(s.old) == 0 && len(s.new) == 0
	switch {
	case c.Letter() == "T":
		return "became another kind of file"
	case object.Mode(max(c.OldMode, c.NewMode)) == object.Symlink:
		return "symlink " + string(c.Status)
	case s.note != "":
		return s.note + " file " + string(c.Status)
	case c.Status != history.Modified && empty:
		return "empty file " + string(c.Status)
	}
	return ""
}

// bitsText names a mode of git and the permission bits, which git records in part.
func bitsText(mode uint32, perm uint16) string { return fmt.Sprintf("%06o/%03o", mode, perm) }

// writeHunks writes a change as a patch with a name in every header, behind a '#'. A hunk
// without lines is a line before the patch. Every patch program reads over both.
func (r *Differ) writeHunks(w io.Writer, c *history.Change, opt DiffOptions) error {
	opt.Color = false // the names are for programs to read
	f, err := r.Hunks(c, opt)
	if err != nil || len(f.Hunks) == 0 {
		return err
	}
	out := &errWriter{w: w}
	lines := f.Hunks
	if lines[0].Whole {
		out.printf("# hunk %s of %s: %s\n", lines[0].ID, pathtext.Quote(c.Path), lines[0].Header)
		lines = lines[1:]
	}
	if len(lines) == 0 {
		_, err := r.writeFileDiff(out, c, opt)
		return err
	}
	section := &FileChange{Change: *c}
	writeHeader(out, section)
	a, b := sideNames(section)
	out.printf("--- %s\n+++ %s\n", terminated(a), terminated(b))
	var text strings.Builder
	for i := range lines {
		lines[i].Write(&text)
	}
	shown := text.String()
	if opt.Visible {
		shown = wording.VisibleLines(shown)
	}
	out.printf("%s", shown)
	return out.err
}
