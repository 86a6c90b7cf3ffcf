package gitrestore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// Parts chooses what a plan brings back. The zero value is everything.
type Parts struct{ Head, Refs, Index bool }

func (p Parts) all() bool { return p.Head && p.Refs && p.Index }

// whole returns everything for the zero value.
func (p Parts) whole() Parts {
	if p == (Parts{}) {
		return Parts{true, true, true}
	}
	return p
}

// Conflict is a ref that stays, and why. Ref may also be "HEAD", "index", ".git", or the name of an
// operation in progress.
type Conflict struct{ Ref, Reason string }

// Plan is what going back to a state would change. Each move goes from the present value.
type Plan struct {
	Head      *gitstate.RefMove
	Refs      []gitstate.RefMove
	Stashes   []Stash // the list to be, newest first, if ListStashes
	List      bool    // the list of stashes changes
	Expired   bool    // its reflog had expired: only the ref of the newest stash is to be
	Index     bool
	Progress  []string // files of an operation in progress that change, sorted; ORIG_HEAD counts
	Rebuild   bool     // the repository is gone
	Nested    []NestedPlan
	Conflicts []Conflict
	Refused   string // why nothing can be done; "" = the plan can be carried out

	now    *gitstate.Record
	target *gitstate.Record // the state to be, as far as the plan goes
}

// Make plans the way to target. base is the state that the step to take back has left; nil stands for
// the present state, so that everything goes back but stashes that were made since. now is nil where
// the repository is gone.
func Make(target, base, now *gitstate.Record, parts Parts) *Plan {
	parts = parts.whole()
	o := from(now, parts)
	o.keep = base == nil
	way := Way{Before: target, After: base}
	if base == nil {
		way.After = now
	}
	if now == nil {
		way.After = nil
	}
	o.revertWay(way)
	p := o.plan(now, []Way{way})
	p.planNested([]Way{way}, now, parts, o.keep)
	return p
}

// TakeBack plans to take some ways out of the present state, the newest way first.
func TakeBack(ways []Way, now *gitstate.Record, parts Parts) *Plan {
	parts = parts.whole()
	o := from(now, parts)
	for _, w := range ways {
		o.revertWay(w)
	}
	p := o.plan(now, ways)
	p.planNested(ways, now, parts, false)
	return p
}

// plan is the difference between the present state and the outcome.
func (o *outcome) plan(now *gitstate.Record, ways []Way) *Plan {
	p := &Plan{now: now, target: o.Record, Conflicts: o.conflicts}
	switch {
	case o.Record == nil && now != nil:
		p.Conflicts = append(p.Conflicts, Conflict{".git", "the step has made it, and it stays"})
		return p
	case o.Record == nil:
		return p
	case now == nil:
		p.rebuild(o.parts)
		return p
	}
	if p.Refused = refusal(now, ways); p.Refused != "" {
		return p
	}
	p.planRefs()
	p.planHead()
	if !sameList(p.target, now) || o.parts.Refs && isTorn(now) {
		p.Stashes, p.List, p.Expired = listOf(p.target), true, expired(p.target)
	}
	p.Index = !gitstate.SameIndex(p.target, now)
	p.planProgress()
	return p
}

// refusal says why the ways cannot be taken back at all.
func refusal(now *gitstate.Record, ways []Way) string {
	for i, w := range ways {
		switch {
		case w.Before == nil || w.After == nil:
		case w.Before.SHA256 != now.SHA256:
			return "the repository has another object format now"
		case i == 0 && now.Under() != "" && !halfWay(only(w.Before, gitstate.OfProgress), only(w.After, gitstate.OfProgress), only(now, gitstate.OfProgress)):
			return "a " + now.Under() + " is in progress; finish or abort it first"
		}
	}
	return ""
}

// rebuild plans a repository in the place of one that is gone.
func (p *Plan) rebuild(parts Parts) {
	p.Rebuild = true
	switch {
	case !parts.all():
		p.Refused = "the repository is gone, and can only be built as a whole"
	case p.target.GitDir != p.target.CommonDir:
		p.Refused = "the repository is gone, and the directory was one of its linked work trees"
	case p.target.Under() != "" && p.target.Lacks(gitstate.OfProgress):
		p.Refused = "not all of the " + p.target.Under() + " in progress is recorded"
	}
	if p.Refused != "" {
		return
	}
	p.now = &gitstate.Record{GitDir: p.target.GitDir, CommonDir: p.target.CommonDir, SHA256: p.target.SHA256}
	for _, m := range gitstate.Compare(p.now, p.target).Refs {
		if m.Name != stashRef {
			p.Refs = append(p.Refs, m)
		}
	}
	p.Stashes = listOf(p.target)
	p.List, p.Expired = len(p.Stashes) > 0, expired(p.target)
	p.Head = &gitstate.RefMove{Name: "HEAD", To: p.target.Head}
	p.Index = p.target.HasIndex()
	p.planProgress()
}

// planRefs plans the refs that differ, but those that have to stay.
func (p *Plan) planRefs() {
	held, above := p.checkedOut(), p.directories()
	for _, m := range gitstate.Compare(p.now, p.target).Refs {
		switch {
		case m.Name == stashRef:
		case held[m.Name] != "":
			p.stay(m, "it is checked out in "+held[m.Name])
		case m.From == "" && above[m.Name] != "":
			p.stay(m, above[m.Name]+" is in the way")
		case m.From == "" && inTheWay(p.target.Refs, m.Name) != "":
			p.stay(m, inTheWay(p.target.Refs, m.Name)+" is in the way")
		default:
			p.Refs = append(p.Refs, m)
		}
	}
}

func (p *Plan) stay(m gitstate.RefMove, reason string) {
	p.Conflicts = append(p.Conflicts, Conflict{m.Name, reason})
	if m.From == "" {
		delete(p.target.Refs, m.Name)
	} else {
		p.target.Refs[m.Name] = m.From
	}
}

// directories maps the directories of refs that stay to one of these refs.
func (p *Plan) directories() map[string]string {
	above := make(map[string]string)
	for name := range p.now.Refs {
		if p.target.Refs[name] == "" {
			continue
		}
		for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
			above[name[:i]] = name
		}
	}
	return above
}

// inTheWay returns a ref whose name is a directory of another one's.
func inTheWay(refs map[string]string, name string) string {
	for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
		if refs[name[:i]] != "" {
			return name[:i]
		}
	}
	return ""
}

func isSymbolic(value string) bool { return strings.HasPrefix(value, "ref: ") }

// checkedOut maps the branches of other work trees to these.
func (p *Plan) checkedOut() map[string]string {
	held := make(map[string]string)
	for _, w := range p.now.Worktrees {
		if name, ok := strings.CutPrefix(w.Head, "ref: "); ok {
			held[name] = "another work tree"
			if w.Place != "" {
				held[name] = pathtext.Quote(w.Place)
			}
		}
	}
	return held
}

// planHead plans HEAD, unless it would name the branch of another work tree.
func (p *Plan) planHead() {
	if p.target.Head == p.now.Head {
		return
	}
	if name, ok := strings.CutPrefix(p.target.Head, "ref: "); ok {
		if at := p.checkedOut()[name]; at != "" {
			p.Conflicts = append(p.Conflicts, Conflict{"HEAD", name + " is checked out in " + at})
			return
		}
	}
	p.Head = &gitstate.RefMove{Name: "HEAD", From: p.now.Head, To: p.target.Head}
}

// planProgress lists the files of an operation in progress that differ.
func (p *Plan) planProgress() {
	is := func(name string) bool { return gitstate.OfProgress(name) || name == origHead }
	before, after := only(p.now, is), only(p.target, is)
	all := make(map[string][]byte)
	maps.Copy(all, before)
	maps.Copy(all, after)
	for name := range all {
		if fileText(before, name) != fileText(after, name) {
			p.Progress = append(p.Progress, name)
		}
	}
	slices.Sort(p.Progress)
}

// None reports whether the plan changes nothing.
func (p *Plan) None() bool { return p.stays() && len(p.Nested) == 0 }

// stays is None without the nested repositories.
func (p *Plan) stays() bool {
	return p.Head == nil && len(p.Refs)+len(p.Progress) == 0 && !p.List && !p.Index && !p.Rebuild
}

// Changes describes the plan, a text for each change.
func (p *Plan) Changes() (list []string) {
	if p.Rebuild {
		list = append(list, "build "+pathtext.Place(p.target.GitDir)+" again, with its configuration and hooks, without its reflogs")
	}
	if p.Head != nil {
		list = append(list, "move HEAD to "+valueText(p.Head.To))
	}
	for _, m := range p.Refs {
		switch {
		case m.To == "":
			list = append(list, "delete "+pathtext.Quote(m.Name)+" (was "+valueText(m.From)+")")
		case m.From == "":
			list = append(list, "create "+pathtext.Quote(m.Name)+" at "+valueText(m.To))
		default:
			list = append(list, "move "+pathtext.Quote(m.Name)+" from "+valueText(m.From)+" to "+valueText(m.To))
		}
	}
	if p.List {
		text := stashText(listOf(p.now), p.Stashes)
		if p.Expired {
			text = "take the list of stashes away, which had expired"
		}
		list = append(list, text)
	}
	if p.Index {
		list = append(list, "replace the index")
	}
	return append(append(list, p.progressText()...), p.nestedChanges()...)
}

func (p *Plan) progressText() (list []string) {
	if !slices.ContainsFunc(p.Progress, gitstate.OfProgress) {
		return nil
	}
	switch was, is := p.now.Under(), p.target.Under(); {
	case was != "" && is != "":
		return []string{"bring back the state of the " + is + " in progress"}
	case was != "":
		return []string{"end the " + was + " in progress"}
	case is != "":
		return []string{"bring back the " + is + " in progress"}
	}
	return []string{"bring back what an operation has left in the git directory"}
}

func valueText(value string) string {
	if name, ok := strings.CutPrefix(value, "ref: "); ok {
		return pathtext.Quote(strings.TrimPrefix(name, "refs/heads/"))
	}
	return value[:min(len(value), 12)]
}

// ID identifies the changes of the plan and the state that they begin at.
func (p *Plan) ID() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", p.Refused, p.Conflicts)
	if !p.None() {
		fmt.Fprintf(h, "%q\n", p.Changes())
	}
	for _, m := range p.Refs {
		fmt.Fprintf(h, "%q %s %s\n", m.Name, m.From, m.To)
	}
	fmt.Fprintf(h, "%q\n", p.Stashes)
	if p.Index {
		fmt.Fprintf(h, "%s %s\n", p.target.IndexID(), p.now.IndexID())
	}
	for _, name := range p.Progress {
		fmt.Fprintf(h, "%q %q %q\n", name, fileText(p.now.Files, name), fileText(p.target.Files, name))
	}
	for _, n := range p.Nested {
		fmt.Fprintf(h, "%q %s\n", n.Place, n.ID())
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
