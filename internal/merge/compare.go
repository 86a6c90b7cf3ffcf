package merge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/diff"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/hunk"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Comparison is what several sources changed since the checkpoint that each has in common with the
// directory. The tags doc and enum describe a field to users of the HTTP API as well.
type Comparison struct {
	Root    state.Path       `json:"root"`
	Sources []ComparedSource `json:"sources"`
}

// ComparedSource is what one source changed.
type ComparedSource struct {
	Source     state.Path     `json:"source" doc:"The other directory, or the checkpoint as it was named."`
	Checkpoint string         `json:"checkpoint" doc:"Of the source, as this store has it."`
	Base       string         `json:"base" doc:"The checkpoint that the source and the directory have in common."`
	Files      []ComparedFile `json:"files"`
}

// ComparedFile is one changed file of a source.
type ComparedFile struct {
	File       state.Path     `json:"file"`
	OldPath    state.Path     `json:"oldPath,omitempty" doc:"Of a rename: the path before."`
	Similarity int            `json:"similarity,omitempty"`
	Status     history.Status `json:"status" enum:"added,modified,deleted"`
	Additions  int            `json:"additions"`
	Deletions  int            `json:"deletions"`
	Note       string         `json:"note,omitempty" enum:"binary,too large" doc:"Why there is no text."`
	Overlaps   []Overlap      `json:"overlaps,omitempty" doc:"The others that changed this file, too."`
	Hunks      []hunk.Hunk    `json:"hunks,omitempty" doc:"The places that can be merged one by one."`

	change diff.FileChange
}

// Change returns the change of the file for a diff. It is empty for a comparison from JSON.
func (f *ComparedFile) Change() *diff.FileChange { return &f.change }

// Line is the file in one line for people: what happened, how many lines, and who else changed it.
// root is that of the comparison.
func (f *ComparedFile) Line(root state.Path) string {
	line := f.letter() + " " + f.File.Quoted()
	if f.OldPath != "" {
		line = "R " + f.OldPath.Quoted() + " -> " + f.File.Quoted()
	}
	switch {
	case f.Note != "":
		line += "  " + f.Note
	case f.Additions+f.Deletions > 0:
		line += fmt.Sprintf("  +%d -%d", f.Additions, f.Deletions)
	}
	var with []string
	for _, o := range f.Overlaps {
		name := "here"
		if o.With != root {
			name = o.With.Quoted()
		}
		with = append(with, name+" "+o.Outcome)
	}
	if len(with) > 0 {
		line += "  (" + strings.Join(with, ", ") + ")"
	}
	return line
}

// letter is that of git for the status, also of a file from JSON.
func (f *ComparedFile) letter() string {
	if f.change.Path != "" {
		return f.change.Letter()
	}
	return strings.ToUpper(string(f.Status[:min(1, len(f.Status))]))
}

// Overlap says how two changes of one file go together.
type Overlap struct {
	With    state.Path `json:"with" doc:"A source, or the root: the directory itself."`
	Outcome string     `json:"outcome" enum:"same,merges,conflicts" doc:"Of merging both."`
}

// The ways in which two changes of a file go together.
const (
	Same      = "same"      // both ends are equal
	Merges    = "merges"    // a three-way merge is clean
	Conflicts = "conflicts" // it is not
)

// CompareOptions controls a comparison.
type CompareOptions struct {
	Paths []string // and everything below them; none = all
	Base  string   // as in Options, for every source
	Hunks bool     // list the hunks of each file
}

// Compare lists what each of several sources changed. cairn.Repo.Compare states the contract.
func (m *Merger) Compare(ctx context.Context, sources []Source, opt CompareOptions) (*Comparison, error) {
	scope, err := m.ScopeOf(opt.Paths)
	if err != nil {
		return nil, err
	}
	ours, err := m.StateOf(ctx, "")
	if err != nil {
		return nil, err
	}
	c := &comparing{Merger: m, opt: opt, scope: scope, ours: ours, states: []state.State{ours}, here: make(map[string]changed), texts: plan.NewTextMerger(m.Store)}
	for _, src := range sources {
		if err := c.add(ctx, src); err != nil {
			return nil, err
		}
	}
	if err := m.CheckNamed(scope, onASide, c.states...); err != nil {
		return nil, err
	}
	if err := c.overlaps(); err != nil {
		return nil, err
	}
	return &Comparison{Root: state.Path(m.Root), Sources: c.sources}, nil
}

// comparing is one comparison under way.
type comparing struct {
	*Merger
	opt     CompareOptions
	scope   *state.PathScope
	ours    state.State
	states  []state.State // of all sides
	sources []ComparedSource
	changes []changed          // of each source
	here    map[string]changed // of the directory, by the checkpoint in common
	texts   *plan.TextMerger
}

// changed holds changes by their paths, a rename by both.
type changed map[string]*diff.FileChange

func changedAt(list []diff.FileChange) changed {
	at := make(changed, len(list))
	for i := range list {
		if c := &list[i]; c.From != "" {
			at[c.From] = c
		}
	}
	for i := range list {
		at[list[i].Path] = &list[i]
	}
	return at
}

// of returns the change of a file that another change begins or ends at.
func (at changed) of(c *diff.FileChange) *diff.FileChange {
	if c.From != "" && at[c.From] != nil {
		return at[c.From]
	}
	return at[c.Path]
}

// takes reports whether something else than a change comes to the new path of a file that another side moved.
func (at changed) takes(moved, change *diff.FileChange) bool {
	to := at[moved.Path]
	return moved.From != "" && to != nil && (to.Path != change.Path || to.From != change.From)
}

func (c *comparing) add(ctx context.Context, src Source) error {
	theirs, base, err := c.meet(ctx, src, c.opt.Base, false)
	if err != nil {
		return err
	}
	from, err := history.StateOf(base)
	if err != nil {
		return err
	}
	to, err := history.StateOf(theirs)
	if err != nil {
		return err
	}
	c.states = append(c.states, from, to)
	list, err := c.Merger.changes(ctx, from, to, src.forked().Lacks)
	if err != nil {
		return err
	}
	if c.here[base.ID] == nil {
		here, err := c.Merger.changes(ctx, from, c.ours, nil)
		if err != nil {
			return err
		}
		c.here[base.ID] = changedAt(here)
	}
	list = within(list, c.scope)
	slices.SortFunc(list, func(a, b diff.FileChange) int { return strings.Compare(a.Path, b.Path) })
	one := ComparedSource{Source: state.Path(src.Name), Checkpoint: theirs.ID, Base: base.ID, Files: make([]ComparedFile, len(list))}
	for i := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if one.Files[i], err = c.file(&list[i]); err != nil {
			return err
		}
	}
	c.sources, c.changes = append(c.sources, one), append(c.changes, changedAt(list))
	return nil
}

func (c *comparing) file(r *diff.FileChange) (f ComparedFile, err error) {
	f = ComparedFile{File: state.Path(r.Path), OldPath: state.Path(r.From), Similarity: r.Similarity, Status: r.Status, change: *r}
	if f.Additions, f.Deletions, f.Note, err = c.Differ.CountLines(&r.Change, diff.DiffOptions{}); err != nil || !c.opt.Hunks {
		return f, err
	}
	cut, err := c.Differ.HunksOfRenamed(r, diff.DiffOptions{})
	for i := range cut.Hunks {
		f.Hunks = append(f.Hunks, cut.Hunks[i].Hunk)
	}
	return f, err
}

// overlaps marks the files that the directory or another source changed, too.
func (c *comparing) overlaps() error {
	for i := range c.sources {
		s := &c.sources[i]
		for j := range s.Files {
			f := &s.Files[j]
			if err := c.overlap(f, c.changes[i], c.here[s.Base], string(c.Root)); err != nil {
				return err
			}
			for k := range c.sources {
				if k == i {
					continue
				}
				if err := c.overlap(f, c.changes[i], c.changes[k], string(c.sources[k].Source)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *comparing) overlap(f *ComparedFile, own, others changed, name string) error {
	other := others.of(&f.change)
	if other == nil {
		return nil
	}
	if others.takes(&f.change, other) || own.takes(other, &f.change) {
		f.Overlaps = append(f.Overlaps, Overlap{state.Path(name), Conflicts})
		return nil
	}
	outcome, err := c.outcome(&f.change, other)
	f.Overlaps = append(f.Overlaps, Overlap{state.Path(name), outcome})
	return err
}

// outcome tells how a change goes together with another one of the same file.
func (c *comparing) outcome(one, other *diff.FileChange) (string, error) {
	theirs, ours := newEnd(one), newEnd(other)
	switch {
	case one.Path == other.Path && theirs.Same(ours):
		return Same, nil
	case one.Path != other.Path && one.From != "" && other.From != "":
		return Conflicts, nil
	case one.Path != other.Path && one.From == "" && other.From == "":
		return Conflicts, nil
	case one.Status == history.Deleted && other.From != "":
		return Conflicts, nil
	}
	_, reason, err := plan.Merge3(oldEnd(one), ours, theirs, plan.Merge, c.texts.Contents)
	if reason != "" {
		return Conflicts, err
	}
	return Merges, err
}
