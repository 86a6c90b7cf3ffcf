package gitrestore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// Parts chooses what a plan brings back. The zero value is everything.
type Parts struct{ Head, Refs, Index bool }

// whole returns everything for the zero value.
func (p Parts) whole() Parts {
	if p == (Parts{}) {
		return Parts{true, true, true}
	}
	return p
}

// Conflict is a ref that stays, and why.
type Conflict struct{ Ref, Reason string }

// Plan is what going back to a state would change. Each move goes from the present value.
type Plan struct {
	Head      *gitstate.RefMove
	Refs      []gitstate.RefMove
	Stashes   []Stash // the list to be, newest first; nil = it stays
	Index     bool
	Rebuild   bool // the repository is gone
	Conflicts []Conflict
	Refused   string // why nothing can be done; "" = the plan can be carried out

	target, now *gitstate.Record
}

// Stash is an entry of the list of stashes.
type Stash struct{ ID, Message string }

// Make plans the way to target. base is the state that the step to take back has left; nil stands for
// the present state, so that everything goes back. now is nil where the repository is gone.
func Make(target, base, now *gitstate.Record, parts Parts) *Plan {
	p := &Plan{target: target, now: now}
	if parts = parts.whole(); now == nil {
		p.rebuild(parts)
		return p
	}
	if base == nil {
		base = now
	}
	switch {
	case target.SHA256 != now.SHA256:
		p.Refused = "the repository has another object format now"
	case now.Under() != "":
		p.Refused = "a " + now.Under() + " is in progress; finish or abort it first"
	case target.Under() != "":
		p.Refused = "a " + target.Under() + " was in progress, which cannot be brought back"
	}
	if p.Refused != "" {
		return p
	}
	if parts.Refs {
		p.planRefs(base)
		p.planStashes(base)
	}
	if parts.Head {
		p.planHead(base)
	}
	p.Index = parts.Index && !sameIndex(target, now)
	return p
}

// rebuild plans a repository in the place of one that is gone.
func (p *Plan) rebuild(parts Parts) {
	p.Rebuild = true
	switch {
	case parts != Parts{true, true, true}:
		p.Refused = "the repository is gone, and can only be built as a whole"
	case p.target.GitDir != p.target.CommonDir:
		p.Refused = "the repository is gone, and the directory was one of its linked work trees"
	case p.target.Under() != "":
		p.Refused = "a " + p.target.Under() + " was in progress, which cannot be brought back"
	}
	if p.Refused != "" {
		return
	}
	p.now = &gitstate.Record{GitDir: p.target.GitDir, CommonDir: p.target.CommonDir, SHA256: p.target.SHA256}
	p.planRefs(p.now)
	p.planStashes(p.now)
	p.Head = &gitstate.RefMove{Name: "HEAD", To: p.target.Head}
	p.Index = p.target.Files["index"] != nil
}

func sameIndex(a, b *gitstate.Record) bool {
	return bytes.Equal(a.Files["index"], b.Files["index"])
}

// planRefs plans the refs that the step has moved.
func (p *Plan) planRefs(base *gitstate.Record) {
	held := p.checkedOut()
	for _, m := range gitstate.Compare(base, p.target).Refs {
		now := p.now.Refs[m.Name]
		move := gitstate.RefMove{Name: m.Name, From: now, To: m.To}
		switch reason := ""; {
		case now == m.To || m.Name == "refs/stash" || ofProgress(m.Name):
		case now != m.From:
			reason = "it has moved since"
			fallthrough
		case isSymbolic(now) || isSymbolic(m.To):
			if reason == "" {
				reason = "it is a symbolic ref"
			}
			p.Conflicts = append(p.Conflicts, Conflict{m.Name, reason})
		case held[m.Name] != "":
			p.Conflicts = append(p.Conflicts, Conflict{m.Name, "it is checked out in " + held[m.Name]})
		default:
			p.Refs = append(p.Refs, move)
		}
	}
}

func isSymbolic(value string) bool { return strings.HasPrefix(value, "ref: ") }

// ofProgress reports whether a ref belongs to an operation in progress.
func ofProgress(name string) bool {
	return strings.HasPrefix(name, "refs/bisect/") || strings.HasPrefix(name, "refs/rewritten/")
}

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

// planHead plans HEAD, if the step has moved it.
func (p *Plan) planHead(base *gitstate.Record) {
	switch {
	case base.Head == p.target.Head || p.now.Head == p.target.Head || p.target.Head == "":
	case p.now.Head != base.Head:
		p.Conflicts = append(p.Conflicts, Conflict{"HEAD", "it has moved since"})
	default:
		if name, ok := strings.CutPrefix(p.target.Head, "ref: "); ok {
			if at := p.checkedOut()[name]; at != "" {
				p.Conflicts = append(p.Conflicts, Conflict{"HEAD", name + " is checked out in " + at})
				return
			}
		}
		p.Head = &gitstate.RefMove{Name: "HEAD", From: p.now.Head, To: p.target.Head}
	}
}

// planStashes brings back the stashes that the step has dropped. Stashes that are there now stay. If
// all of them were there before, the list gets its old order; else the lost ones come on top.
func (p *Plan) planStashes(base *gitstate.Record) {
	want, left, now := Stashes(p.target.Stash), Stashes(base.Stash), Stashes(p.now.Stash)
	has := func(list []Stash, s Stash) bool {
		return slices.ContainsFunc(list, func(o Stash) bool { return o.ID == s.ID })
	}
	var lost []Stash
	for _, s := range want {
		if !has(left, s) && !has(now, s) {
			lost = append(lost, s)
		}
	}
	if len(lost) == 0 {
		return
	}
	list := append(lost, now...)
	if !slices.ContainsFunc(now, func(s Stash) bool { return !has(want, s) }) {
		list = slices.DeleteFunc(slices.Clone(want), func(s Stash) bool { return !has(now, s) && !has(lost, s) })
	}
	p.Stashes = list
}

// Stashes reads a reflog of refs/stash, newest first.
func Stashes(log []byte) (list []Stash) {
	for line := range strings.Lines(string(log)) {
		head, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if fields := strings.SplitN(head, " ", 3); len(fields) == 3 {
			list = append(list, Stash{fields[1], message})
		}
	}
	slices.Reverse(list)
	return list
}

// None reports whether the plan changes nothing.
func (p *Plan) None() bool {
	return p.Head == nil && len(p.Refs) == 0 && p.Stashes == nil && !p.Index && !p.Rebuild
}

// Changes describes the plan, a text for each change.
func (p *Plan) Changes() (list []string) {
	if p.Rebuild {
		list = append(list, "build "+pathtext.Quote(p.target.GitDir)+" again, without its hooks and reflogs")
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
	if p.Stashes != nil {
		list = append(list, fmt.Sprintf("list %d stashes, %d now", len(p.Stashes), len(Stashes(p.now.Stash))))
	}
	if p.Index {
		list = append(list, "replace the index")
	}
	return list
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
	fmt.Fprintf(h, "%q %q %q\n", p.Refused, p.Changes(), p.Conflicts)
	for _, m := range p.Refs {
		fmt.Fprintf(h, "%q %s %s\n", m.Name, m.From, m.To)
	}
	fmt.Fprintf(h, "%q\n", p.Stashes)
	if p.Index {
		fmt.Fprintf(h, "%x %x\n", sha256.Sum256(p.target.Files["index"]), sha256.Sum256(p.now.Files["index"]))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
