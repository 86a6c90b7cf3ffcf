package verify

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// heads compares the heads that were signed with the line.
func (j *judge) heads(name string, list []statement) {
	j.ref = history.RefRoot + name
	tips := j.tips(j.ref)
	if len(tips) == 0 {
		if len(list) > 0 {
			last := list[len(list)-1]
			j.gap(Note{
				Kind: GapGone, Checkpoint: last.Head.String(),
				Text: fmt.Sprintf("it was signed at %s, and the line is no longer there", timeText(last.Time)),
			})
		}
		return
	}
	places, from := j.places(tips[0])
	for _, tip := range tips[1:] {
		more, _ := j.places(tip)
		maps.Copy(more, places)
		places = more
	}
	if cleaned := j.addBeside(places); cleaned.After(from.at) {
		from = beginning{cleaned, true}
	}
	var newest *Signed
	for _, st := range list {
		if !st.signed || st.Time.Before(j.since) {
			continue
		}
		if at, ok := j.placeOf(st, places, from); ok {
			newest = &Signed{Ref: j.ref, Checkpoint: st.Head.String(), When: st.Time.UTC(), Signer: st.signer, Unsigned: at}
		}
	}
	if newest != nil {
		j.report.Signatures = append(j.report.Signatures, *newest)
	}
}

// tips returns the heads of a line. A fetched one may have several: where the other store has begun it again, or a
// purge has rewritten it there, the line goes on under a second name, and the statements about it under the first.
func (j *judge) tips(line string) (tips []object.ID) {
	if tip, err := j.DB.Ref(line); err == nil {
		tips = append(tips, tip)
	}
	if !strings.HasPrefix(line, history.RefRemotes) {
		return tips
	}
	again, err := j.DB.Refs(line + "-")
	if err != nil {
		j.Log.Warn("second names of a line are left out", "line", line, "error", err)
	}
	for _, ref := range again {
		if ref.Err == nil && history.FirstName(ref.Name) == line {
			tips = append(tips, ref.ID)
		}
	}
	return tips
}

// beginning is where a line begins.
type beginning struct {
	at  time.Time
	cut bool // a cleaning has dropped what came before
}

// places returns the place of each checkpoint on its line, 0 for the newest, and where the line begins.
func (j *judge) places(tip object.ID) (places map[object.ID]int, from beginning) {
	places = make(map[object.ID]int)
	for id := tip; j.ctx.Err() == nil; {
		c, err := j.ReadCheckpoint(id)
		if _, again := places[id]; err != nil || again {
			break
		}
		places[id], from = len(places), beginning{time.Unix(0, c.At()), j.ends.Has(id, nil)}
		if id = history.Before(c); id.IsZero() {
			break
		}
	}
	return places, from
}

// placeOf finds the head that was signed on its line. Anything but a head that is there, or that a signed
// statement has replaced, is noted. The object of a head that was cleaned away may be there yet: a cleaning leaves
// some garbage, and a pin may lead to it. The line may also have been dropped as a whole, and begun again.
func (j *judge) placeOf(st statement, places map[object.ID]int, from beginning) (at int, ok bool) {
	id, signed := st.Head, true
	for range len(j.signed) + len(j.unsigned) + 1 {
		if at, ok := places[id]; ok {
			if !signed {
				j.finding(Note{
					Kind: FindHead, Checkpoint: st.Head.String(),
					Text: fmt.Sprintf("%s was signed at %s and is %s now, and no signed statement says so", st.Head, timeText(st.Time), id),
				})
			}
			return at, signed
		}
		now, known := j.signed[id]
		if !known {
			if now, known = j.unsigned[id]; known {
				signed = false
			}
		}
		if !known {
			break
		}
		id = now
	}
	n := Note{
		Kind: FindHead, Checkpoint: st.Head.String(),
		Text: fmt.Sprintf("%s was signed at %s, and the line does not hold it", st.Head, timeText(st.Time)),
	}
	switch loss := j.LossOf(st.Head.String()); {
	case loss != "":
		n.Kind = GapRepaired
		j.gap(n)
	case (from.cut || !j.led(id)) && st.Time.Before(from.at):
		n.Kind = GapCleaned
		j.gap(n)
	default:
		j.finding(n)
	}
	return 0, false
}

// led reports whether a line leads to a commit.
func (j *judge) led(id object.ID) bool { return j.commits[id] != nil || j.before[id] }
