package plan

import (
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Reasons for a path to stay because of a later change.
const (
	ReasonChangedSince   = "changed since"
	ReasonOverlap        = "changed since, and the changes overlap"
	ReasonNotText        = "changed since, and not a text that could be merged"
	ReasonGoneSince      = "deleted since"
	ReasonMadeSince      = "made since by another writer"
	ReasonOtherHalf      = "the other half of a rename stays: "
	ReasonNotCapturedNow = "changed since, and not captured (ignored, or too large)"
	ReasonTooLargeMerge  = "changed since, and too large to merge"
)

// Overwritable reports whether the reason of a path that stays is a later change, so that Overwrite would take the
// path back. No policy helps where the system refuses a change.
func Overwritable(reason string) bool {
	switch reason {
	case ReasonChangedSince, ReasonOverlap, ReasonNotText, ReasonGoneSince, ReasonMadeSince, ReasonNotCapturedNow, ReasonTooLargeMerge:
		return true
	}
	return slices.ContainsFunc([]string{ReasonOtherHalf, ReasonInTheWayOf, reasonShared}, func(of string) bool {
		return strings.HasPrefix(reason, of)
	})
}

// ContentMerge merges the contents of three entries. It returns the id of the result, or
// the reason why there is none.
type ContentMerge func(base, ours, theirs *object.Entry) (id object.ID, reason string, err error)

// Merge3 takes a step back at one path: a three-way merge. The step changed theirs to base;
// ours stands at the path now. Merge3 returns the wanted end. With a reason, ours stays.
//
//   - ours equals theirs: the step is already taken back
//   - ours equals base: nothing happened since, theirs comes back
//   - all three differ: the policy decides
//
// Each permission bit of the merged file is that of ours if it was changed since the step, and
// that of theirs otherwise. Two changes of one bit are equal, so bits never conflict. contents is
// called for the policy Merge only, when something stands at the path in all three states.
func Merge3(base, ours, theirs history.PathEnd, policy Policy, contents ContentMerge) (end history.PathEnd, reason string, err error) {
	switch {
	case ours.Same(theirs):
		return ours, "", nil
	case ours.Same(base) || policy == Overwrite:
		return theirs, "", nil
	case policy == Keep || policy == Fail:
		return ours, ReasonChangedSince, nil
	case ours.Entry == nil:
		return ours, ReasonGoneSince, nil
	case base.Entry == nil:
		return ours, ReasonMadeSince, nil
	case theirs.Entry == nil:
		return ours, ReasonChangedSince, nil
	}
	id, reason, err := contents(base.Entry, ours.Entry, theirs.Entry)
	if err != nil || reason != "" {
		return ours, reason, err
	}
	end = history.PathEnd{Entry: &object.Entry{Name: ours.Entry.Name, Mode: ours.Entry.Mode, ID: id}, Perm: mergeBits(base.Perm, ours.Perm, theirs.Perm)}
	if ours.Entry.Mode == base.Entry.Mode {
		end.Entry.Mode = theirs.Entry.Mode
	}
	return end, "", nil
}

// mergeBits takes each bit that ours has changed from ours, and every other one from theirs.
func mergeBits(base, ours, theirs uint16) uint16 {
	changed := base ^ ours
	return ours&changed | theirs&^changed
}

// TextMerger merges the contents of text files.
type TextMerger struct {
	Store  *history.Store
	Merged map[object.ID][]byte // results that no store holds yet
}

// NewTextMerger returns a TextMerger that reads contents from a store.
func NewTextMerger(store *history.Store) *TextMerger {
	return &TextMerger{Store: store, Merged: make(map[object.ID][]byte)}
}

// Contents is a ContentMerge. It reads nothing where two of the contents agree.
func (m *TextMerger) Contents(base, ours, theirs *object.Entry) (id object.ID, reason string, err error) {
	isFile := base.Mode.IsFile()
	switch {
	case isFile != ours.Mode.IsFile() || isFile != theirs.Mode.IsFile():
		return id, ReasonNotText, nil
	case base.ID == ours.ID:
		return theirs.ID, "", nil
	case base.ID == theirs.ID:
		return ours.ID, "", nil
	case !isFile:
		return id, ReasonNotText, nil
	}
	var text [3][]byte
	for i, e := range []*object.Entry{base, ours, theirs} {
		var tooLarge bool
		if text[i], tooLarge, err = m.read(e); err != nil {
			return id, "", err
		}
		if tooLarge {
			return id, ReasonTooLargeMerge, nil
		}
		if linediff.Binary(text[i]) {
			return id, ReasonNotText, nil
		}
	}
	res := linediff.Merge(text[0], text[1], text[2])
	if res.Conflicts > 0 {
		return id, ReasonOverlap, nil
	}
	id = object.Sum(object.Blob, res.Content)
	m.Merged[id] = res.Content
	return id, "", nil
}

// read returns the contents of a file. They may be the result of an earlier merge.
func (m *TextMerger) read(e *object.Entry) (text []byte, tooLarge bool, err error) {
	if text, ok := m.Merged[e.ID]; ok {
		return text, false, nil
	}
	size, err := m.Store.BlobSize(e)
	if err != nil || size > history.DefaultMaxDiffSize {
		return nil, true, err
	}
	text, err = m.Store.Blob(e)
	return text, false, err
}
