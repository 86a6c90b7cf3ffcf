package session

import (
	"cmp"
	"context"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// AuthorUser is the author of changes that no step and no operation made.
const AuthorUser = "user"

// Blame is a file with who wrote its lines.
type Blame struct {
	Path       cairn.Path    `json:"path"`
	Checkpoint string        `json:"checkpoint,omitempty"` // that was asked for, "" for the disk
	Origins    []BlameOrigin `json:"changes"`
	Lines      []BlameLine   `json:"lines"`
	Deleted    []DeletedLine `json:"deletedLines,omitempty"` // in the order of the file
}

// BlameLine is a line of the file.
type BlameLine struct {
	Line   int    `json:"line"`   // its number
	Number int    `json:"number"` // its number where it appeared
	Origin int    `json:"change"` // index into Blame.Origins
	Text   string `json:"text"`   // without its end
}

// DeletedLine is a line that is no longer there. It stood before the line with the number Line.
type DeletedLine struct {
	BlameLine
	By int `json:"deletedBy"` // index into Blame.Origins: who deleted it
}

// BlameOrigin is one change: who made it, and when it was seen first.
type BlameOrigin struct {
	Author string     `json:"author"` // AuthorAgent, AuthorUser or the kind of an operation
	Path   cairn.Path `json:"path"`   // of the file then
	When   time.Time  `json:"time,omitzero"`

	Checkpoint string     `json:"checkpoint,omitempty"` // the first with the change; "" = only the disk has it
	Before     string     `json:"before,omitempty"`     // the last without it
	OldPath    cairn.Path `json:"oldPath,omitempty"`    // of the file in Before, "" if it was not there
	Oldest     bool       `json:"boundary,omitempty"`   // it was there at the oldest checkpoint, so its author may be another one

	Operation string `json:"operation,omitempty"` // the id of the operation that made it
	Work      *Work  `json:"work,omitempty"`      // of the step that made it

	// Others are steps of other sessions that ran at the same time and may have made it as well:
	// no tool named the path, or several did.
	Others []*Work `json:"others,omitempty"`
}

// Blame tells who wrote each line of a file: the step that was running when the line appeared, the
// user if none was, or the operation that brought it. See cairn.Repo.Blame for what counts as the
// appearance of a line. Of steps that overlap, the one counts whose tools named the path, and a
// sub-agent's rather than that of its parent.
func (s *Sessions) Blame(ctx context.Context, path string, opt cairn.BlameOptions) (*Blame, error) {
	b, err := s.repo.Blame(ctx, path, opt)
	if err != nil {
		return nil, err
	}
	out := &Blame{Path: cairn.Path(b.Path), Origins: []BlameOrigin{}, Lines: make([]BlameLine, len(b.Lines))}
	if b.Checkpoint != nil {
		out.Checkpoint = b.Checkpoint.ID
	}
	w := &blamer{
		Sessions: s, ctx: ctx, out: out, places: make(map[*cairn.BlameOrigin]int),
		records: make(map[string]*record), steps: make(map[runningStep]told),
	}
	for i, l := range b.Lines {
		at, err := w.origin(l.Origin)
		if err != nil {
			return nil, err
		}
		out.Lines[i] = BlameLine{i + 1, l.Number, at, l.Text}
	}
	for _, d := range b.Deleted {
		at, err := w.origin(d.Origin)
		if err != nil {
			return nil, err
		}
		by, err := w.origin(d.By)
		if err != nil {
			return nil, err
		}
		out.Deleted = append(out.Deleted, DeletedLine{BlameLine{d.Line, d.Number, at, d.Text}, by})
	}
	return out, nil
}

// blamer finds the authors of one blame.
type blamer struct {
	*Sessions
	ctx     context.Context
	out     *Blame
	places  map[*cairn.BlameOrigin]int
	records map[string]*record // by checkpoint
	steps   map[runningStep]told
	kinds   map[string]string // of operations, by id
}

// origin returns the index of an origin in the answer.
func (w *blamer) origin(o *cairn.BlameOrigin) (int, error) {
	if at, ok := w.places[o]; ok {
		return at, nil
	}
	out := BlameOrigin{
		Author: AuthorUser, Path: cairn.Path(o.Path), Before: o.Before, OldPath: cairn.Path(o.OldPath), Operation: o.Operation,
		Oldest: o.Before == "",
	}
	if o.Checkpoint != nil {
		out.Checkpoint, out.When = o.Checkpoint.ID, o.Checkpoint.When
	}
	if o.Operation != "" {
		kind, err := w.kindOf(o.Operation)
		if err != nil {
			return 0, err
		}
		out.Author = cmp.Or(kind, out.Author)
	} else if err := w.attribute(&out, o); err != nil {
		return 0, err
	}
	w.out.Origins = append(w.out.Origins, out)
	w.places[o] = len(w.out.Origins) - 1
	return w.places[o], nil
}

func (w *blamer) kindOf(operation string) (string, error) {
	if w.kinds == nil {
		w.kinds = make(map[string]string)
		for op, err := range w.repo.Operations(w.ctx) {
			if err != nil {
				return "", err
			}
			w.kinds[op.ID] = op.Kind
		}
	}
	return w.kinds[operation], nil
}

// attribute sets the work of the step that made a change.
func (w *blamer) attribute(out *BlameOrigin, o *cairn.BlameOrigin) error {
	steps, err := w.running(o)
	if err != nil || len(steps) == 0 {
		return err
	}
	first, rest, err := w.choose(steps, o)
	if err != nil {
		return err
	}
	out.Author = AuthorAgent
	if out.Work, _, err = w.tell(first); err != nil {
		return err
	}
	for _, st := range rest {
		other, _, err := w.tell(st)
		if err != nil {
			return err
		}
		out.Others = append(out.Others, other)
	}
	return nil
}
