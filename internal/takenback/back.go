package takenback

import (
	"bytes"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/hunk"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Back works out the rest of a change after operations have taken parts of it back. A part is a
// place of a text, the mode, or all of it.
type Back struct {
	// Read reads a captured blob, nil for one that is too large to be merged.
	Read func(id string) ([]byte, error)

	// Made has the contents that no capture has, by id.
	Made map[string][]byte
}

// side is a side of a change, zero for none.
type side struct {
	mode uint32
	id   string
}

func sidesOf(c *history.Change) (before, after side) {
	return side{c.OldMode, c.OldID}, side{c.NewMode, c.NewID}
}

// Left is the change without what operations, the oldest first, have taken back. Its sides are equal if
// nothing is left.
func (b *Back) Left(c history.Change, operations []Change) (history.Change, error) {
	before, now := sidesOf(&c)
	for _, operation := range inEffect(operations) {
		if operation.Whole {
			now = before
			continue
		}
		var err error
		if now, err = b.apply(now, &operation.Change); err != nil {
			return c, err
		}
	}
	return b.without(c, now)
}

// inEffect drops operations together with the next one if that takes them back.
func inEffect(operations []Change) (list []Change) {
	for _, operation := range operations {
		if n := len(list); n > 0 && isInverse(&list[n-1].Change, &operation.Change) {
			list = list[:n-1]
		} else {
			list = append(list, operation)
		}
	}
	return list
}

func isInverse(a, b *history.Change) bool {
	from, to := sidesOf(a)
	before, after := sidesOf(b)
	return from == after && to == before
}

// apply lets an operation change a state that it may not have met as it is. Where lines do not merge,
// they become as the operation left them.
func (b *Back) apply(now side, operation *history.Change) (side, error) {
	from, to := sidesOf(operation)
	switch {
	case now == from, to == side{}:
		return to, nil
	case now == side{}, from == side{}:
		return now, nil
	}
	out := now
	if now.mode == from.mode {
		out.mode = to.mode
	}
	switch {
	case now.id == from.id:
		out.id = to.id
		return out, nil
	case from.id == to.id:
		return out, nil
	}
	texts, err := b.texts(from.id, now.id, to.id)
	if texts == nil || err != nil {
		return out, err
	}
	out.id = b.add(linediff.MergeTheirs(texts[0], texts[1], texts[2]))
	return out, nil
}

// without takes out of a change what a later state has as the change found it.
func (b *Back) without(c history.Change, now side) (history.Change, error) {
	before, after := sidesOf(&c)
	switch {
	case now == after:
		return c, nil
	case now == before:
		c.NewMode, c.NewID = c.OldMode, c.OldID
		return c, nil
	case now == side{}, after == side{}:
		return c, nil
	}
	if now.mode == before.mode {
		c.NewMode = c.OldMode
	}
	if now.id == after.id || before.id == after.id {
		return c, nil
	}
	texts, err := b.texts(before.id, after.id, now.id)
	if texts == nil || err != nil {
		return c, err
	}
	c.NewID = b.add(backIn(texts[0], texts[1], texts[2]))
	return c, nil
}

// backIn is the text after a change in which those places are as before that are so in the text of now.
func backIn(before, after, now []byte) []byte {
	back := linediff.Diff(after, now)
	old, present := linediff.Lines(before), linediff.Lines(now)
	var edits []linediff.Edit // from the text before to the text after
	for _, r := range linediff.Diff(after, before) {
		e := linediff.Edit{A0: r.B0, A1: r.B1, B0: r.A0, B1: r.A1}
		for ; len(back) > 0 && back[0].A1 < e.B0; back = back[1:] {
		}
		for _, g := range back {
			if g.A0 > e.B1 {
				break
			}
			part, ok := partOf(e, g)
			if ok && slices.EqualFunc(present[g.B0:g.B1], old[part.A0:part.A1], bytes.Equal) {
				edits = append(edits, part)
			}
		}
	}
	return hunk.TakeBack(before, after, edits)
}

// partOf is the part of an edit that one of the text after it takes back: all of it, or the lines that
// hunk.Within chooses.
func partOf(e, back linediff.Edit) (part linediff.Edit, ok bool) {
	if back.A0 == e.B0 && back.A1 == e.B1 {
		return e, true
	}
	if back.A0 < e.B0 || back.A1 > e.B1 || back.A0 == back.A1 {
		return part, false
	}
	return hunk.Within([]linediff.Edit{e}, hunk.Range{From: back.A0 + 1, To: back.A1})[0], true
}

func (b *Back) add(content []byte) string {
	id := object.Sum(object.Blob, content).String()
	b.Made[id] = content
	return id
}

// texts reads contents, nil if one of them is no text that can be merged. A file that is not there has
// the id "", and no lines.
func (b *Back) texts(ids ...string) ([][]byte, error) {
	texts := make([][]byte, len(ids))
	for i, id := range ids {
		content, made := b.Made[id]
		switch {
		case id == "":
			content = []byte{}
		case !made:
			var err error
			if content, err = b.Read(id); err != nil {
				return nil, err
			}
		}
		if content == nil || linediff.Binary(content) {
			return nil, nil
		}
		texts[i] = content
	}
	return texts, nil
}
