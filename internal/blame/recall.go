package blame

import (
	"bytes"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

// recall gives added lines of a restored version the identities of dead lines with their texts,
// and returns those for which there is none. Of several dead lines with one text those that died
// last are taken, in the order in which they stood.
func (t *tracker) recall(added []int) (rest []int) {
	need := make(map[string]int)
	for _, i := range added {
		need[string(t.text(i))]++
	}
	var dead []int32
	for text, n := range need {
		list := t.graves[text]
		dead = append(dead, list[max(0, len(list)-n):]...)
	}
	if len(dead) == 0 {
		return added
	}
	slices.SortFunc(dead, func(a, b int32) int { return t.deaths[a] - t.deaths[b] })
	for _, pair := range t.aligned(dead, added) {
		t.revive(dead[pair[0]], added[pair[1]])
	}
	for _, i := range added {
		if t.lines[i] != alive {
			continue
		}
		if list := t.graves[string(t.text(i))]; len(list) > 0 {
			t.revive(list[len(list)-1], i)
		} else {
			rest = append(rest, i)
		}
	}
	return rest
}

// aligned pairs dead lines with added ones of the same text so that both are in order.
func (t *tracker) aligned(dead []int32, added []int) (pairs [][2]int) {
	var a, b bytes.Buffer
	for _, id := range dead {
		appendLine(&a, t.texts[id])
	}
	for _, i := range added {
		appendLine(&b, string(t.text(i)))
	}
	at := [2]int{}
	edits := append(linediff.Diff(a.Bytes(), b.Bytes()), linediff.Edit{A0: len(dead), B0: len(added)})
	for _, e := range edits {
		for ; at[0] < e.A0; at[0], at[1] = at[0]+1, at[1]+1 {
			pairs = append(pairs, at)
		}
		at = [2]int{e.A1, e.B1}
	}
	return pairs
}

// appendLine adds a line to a text of lines. A line without an end differs from the one with it.
func appendLine(b *bytes.Buffer, line string) {
	b.WriteString(line)
	if len(line) == 0 || line[len(line)-1] != '\n' {
		b.WriteString("\x00\n")
	}
}

// reorder keeps all identities in the order of the file: the dead stay where they died, and a
// line that came back leaves its old place.
func (t *tracker) reorder(before []int32, edits []linediff.Edit) {
	old, at := t.order, 0
	t.order = make([]int32, 0, len(old)+len(t.lines))
	insert := func() {
		if len(edits) > 0 && edits[0].A1 == at {
			t.order = append(t.order, t.lines[edits[0].B0:edits[0].B1]...)
			edits = edits[1:]
		}
	}
	for _, id := range old {
		if at == len(before) || before[at] != id { // dead before this version
			if t.deadBy[id] != alive {
				t.order = append(t.order, id)
			}
			continue
		}
		insert()
		gone := len(edits) > 0 && edits[0].A0 <= at
		if !gone || t.deadBy[id] != alive {
			t.order = append(t.order, id)
		}
		at++
	}
	insert()
}
