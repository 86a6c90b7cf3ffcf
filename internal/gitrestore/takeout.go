package gitrestore

import (
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
)

// Way is what a step has done to a repository: the states before and after it. Nil stands for no
// repository.
type Way struct {
	Before, After *gitstate.Record
	Others        []Way // what others have done meanwhile: what both have moved stays
}

// outcome is a state from which ways are taken out, one after the other. A value that a way has
// moved goes back if it is as the way has left it. A value that is as before the way stays. Any other
// value has been moved by another program: a conflict.
type outcome struct {
	*gitstate.Record
	parts     Parts
	keep      bool // stashes that are there stay
	conflicts []Conflict
	stuck     map[string]bool // refs in conflict: older ways leave them alone
}

// from begins with a copy of a state.
func from(now *gitstate.Record, parts Parts) *outcome {
	return &outcome{Record: clone(now), parts: parts, stuck: make(map[string]bool)}
}

func clone(r *gitstate.Record) *gitstate.Record {
	if r == nil {
		return nil
	}
	c := *r
	c.Refs, c.Files = maps.Clone(r.Refs), maps.Clone(r.Files)
	return &c
}

func (o *outcome) conflict(ref, reason string) {
	if !o.stuck[ref] {
		o.stuck[ref] = true
		o.conflicts = append(o.conflicts, Conflict{ref, reason})
	}
}

// revertWay takes one way back. A way whose states before and after are not both known says only whether
// the repository was there.
func (o *outcome) revertWay(w Way) {
	switch {
	case w.Before == nil && w.After == nil:
		return
	case w.Before == nil && o.Record != nil && gitstate.Compare(o.Record, w.After).None():
		o.Record = nil
		return
	case w.Before == nil:
		o.conflict(".git", "its state before the step is not known")
		return
	case w.After == nil && o.Record == nil:
		o.Record = clone(w.Before)
		return
	case w.After == nil:
		o.conflict(".git", "its state after the step is not known")
		return
	case o.Record == nil:
		o.conflict(".git", "it is gone, and the step has not removed it")
		return
	}
	if o.parts.Refs {
		o.refs(w)
		o.stashes(w)
	}
	if o.parts.Head {
		o.Head = o.value("HEAD", o.Head, w.Before.Head, w.After.Head)
	}
	if o.parts.Index {
		o.index(w)
	}
	o.progress(w)
}

// value returns what becomes of a value that a way has moved.
func (o *outcome) value(name, now, before, after string) string {
	switch {
	case before == after || now == before || o.stuck[name] || name == "HEAD" && before == "":
		return now
	case now != after:
		o.conflict(name, "it has moved since")
		return now
	}
	return before
}

// moved reports whether others have moved a ref.
func (w *Way) moved(name string) bool {
	return slices.ContainsFunc(w.Others, func(o Way) bool {
		return o.Before != nil && o.After != nil && o.Before.Refs[name] != o.After.Refs[name]
	})
}

func (o *outcome) refs(w Way) {
	for _, m := range gitstate.Compare(w.Before, w.After).Refs {
		if m.Name == stashRef {
			continue
		}
		if w.moved(m.Name) {
			o.conflict(m.Name, "another session has moved it meanwhile")
			continue
		}
		if to := o.value(m.Name, o.Refs[m.Name], m.From, m.To); to != "" {
			o.Refs[m.Name] = to
		} else {
			delete(o.Refs, m.Name)
		}
	}
}

// stashes takes a list back to what it was before, if it is as the way has left it. Else only lost
// stashes come back, on top of the present ones.
func (o *outcome) stashes(w Way) {
	want, left, now := listOf(w.Before), listOf(w.After), listOf(o.Record)
	if sameList(w.Before, w.After) || sameList(w.Before, o.Record) {
		return
	}
	if sameList(w.After, o.Record) && (!o.keep || sameStashes(want, now) && !expired(w.Before)) {
		if o.setStashes(want); expired(w.Before) {
			o.Stash = nil
		}
		return
	}
	var lost []Stash
	for _, s := range want {
		if !hasStash(left, s) && !hasStash(now, s) {
			lost = append(lost, s)
		}
	}
	if len(lost) == 0 {
		return
	}
	list := append(lost, now...)
	if !slices.ContainsFunc(now, func(s Stash) bool { return !hasStash(want, s) }) {
		list = slices.DeleteFunc(slices.Clone(want), func(s Stash) bool { return !hasStash(now, s) && !hasStash(lost, s) })
	}
	o.setStashes(list)
}

func (o *outcome) setStashes(list []Stash) {
	o.Stash = stashLog(list)
	if o.Refs[stashRef] = newestOf(list); len(list) == 0 {
		delete(o.Refs, stashRef)
	}
}

func (o *outcome) index(w Way) {
	switch {
	case gitstate.SameIndex(w.Before, w.After) || o.stuck["index"] || gitstate.SameIndex(o.Record, w.Before):
	case !gitstate.SameIndex(o.Record, w.After):
		o.conflict("index", "it has changed since")
	case w.Before.Lacks(gitstate.IsIndex):
		o.conflict("index", "not all of it was recorded")
	default:
		o.TakeIndex(w.Before)
	}
}

// progress takes the files of an operation in progress back as a whole.
func (o *outcome) progress(w Way) {
	before, after, now := only(w.Before, gitstate.OfProgress), only(w.After, gitstate.OfProgress), only(o.Record, gitstate.OfProgress)
	if o.parts.Refs && o.parts.Head {
		o.origHead(w)
	}
	name := w.Before.Under()
	if name == "" {
		name = w.After.Under()
	}
	switch {
	case sameFiles(before, after) || sameFiles(before, now) || o.stuck["progress"]:
	case name == "":
		if sameFiles(after, now) && o.parts.all() {
			o.copyFiles(w.Before, gitstate.OfProgress)
		}
	case !halfWay(before, after, now):
		o.stuck["progress"] = true
		o.conflict(name, "git has gone on since")
	case !o.parts.all():
		o.stuck["progress"] = true
		o.conflict(name, "the "+name+" goes back only with HEAD, refs and index")
	case w.Before.Lacks(gitstate.OfProgress) || o.Lacks(gitstate.OfProgress):
		o.stuck["progress"] = true
		o.conflict(name, "not all of the "+name+" is recorded")
	default:
		o.copyFiles(w.Before, gitstate.OfProgress)
	}
}

const origHead = "ORIG_HEAD"

func (o *outcome) origHead(w Way) {
	if before := w.Before.Files[origHead]; string(o.Files[origHead]) == string(w.After.Files[origHead]) {
		o.copyFiles(w.Before, func(name string) bool { return name == origHead })
	} else if before != nil && o.Files[origHead] == nil {
		o.Files[origHead] = before
	}
}

// copyFiles replaces some files by those of another record.
func (o *outcome) copyFiles(r *gitstate.Record, is func(string) bool) {
	maps.DeleteFunc(o.Files, func(name string, _ []byte) bool { return is(name) })
	maps.Copy(o.Files, only(r, is))
}

func only(r *gitstate.Record, is func(string) bool) map[string][]byte {
	files := make(map[string][]byte)
	for name, data := range r.Files {
		if is(name) {
			files[name] = data
		}
	}
	return files
}

func sameFiles(a, b map[string][]byte) bool {
	return maps.EqualFunc(a, b, func(x, y []byte) bool { return string(x) == string(y) })
}

// halfWay reports whether each file is as in one of two sets, and those that the sets have in common
// are there.
func halfWay(before, after, now map[string][]byte) bool {
	for _, set := range []map[string][]byte{before, after, now} {
		for name := range set {
			if is := fileText(now, name); is != fileText(before, name) && is != fileText(after, name) {
				return false
			}
		}
	}
	return true
}

// fileText tells an empty file from none.
func fileText(files map[string][]byte, name string) string {
	if data, ok := files[name]; ok {
		return "+" + string(data)
	}
	return ""
}
