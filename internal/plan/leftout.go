package plan

import (
	"context"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// ReasonNotCapturedAfter is followed by the reason why the path was not captured.
const ReasonNotCapturedAfter = "present but not captured after what is taken back: "

// reasonGone is followed by the reason why the path was not captured.
const reasonGone = "gone, and not captured at the target: "

// LeftOut is a path that differs between two states, one of which did not capture it. It
// cannot be taken back, so it stays and is listed.
type LeftOut struct {
	state.PathReason
	want *object.Entry // at the target, nil for none
}

// notDenied reports whether a path was skipped for a reason other than a policy or a partial
// capture.
func notDenied(reason string) bool {
	return reason == index.TooLarge.String() || reason == index.Special.String() || reason == index.Secret.String() ||
		reason != "" && reason != index.Unread.String() && !slices.Contains(state.PolicyReasons, reason)
}

// FindLeftOut lists the paths that differ between target and base and that one of the two did
// not capture. Paths outside of a partial checkpoint are not listed.
func FindLeftOut(ctx context.Context, r *history.Store, target, base state.State, scope *state.PathScope) (list []LeftOut, err error) {
	if len(target.Meta.Skipped)+len(base.Meta.Skipped) == 0 {
		return nil, nil
	}
	then, later := state.NewCoverage(target.Meta), state.NewCoverage(base.Meta)
	for c, err := range r.CompareTrees(ctx, target.Tree, base.Tree, scope) {
		if err != nil {
			return nil, err
		}
		if reason := then.Uncaptured(c.Path); c.Old == nil && notDenied(reason) {
			list = append(list, LeftOut{state.PathReason{Path: state.Path(c.Path), Reason: ReasonNotCaptured + reason}, nil})
		}
		if reason := later.Uncaptured(c.Path); c.New == nil && notDenied(reason) {
			list = append(list, LeftOut{state.PathReason{Path: state.Path(c.Path), Reason: ReasonNotCapturedAfter + reason}, c.Old})
		}
	}
	for _, s := range base.Meta.Skipped {
		if !scope.Covers(string(s.Path)) || !notDenied(s.Reason) || then.Uncaptured(string(s.Path)) != "" {
			continue
		}
		e, err := r.EntryOrNil(target.Tree, string(s.Path))
		if err != nil {
			return nil, err
		}
		if e == nil {
			list = append(list, LeftOut{state.PathReason{Path: s.Path, Reason: ReasonNotCapturedAfter + s.Reason}, nil})
		}
	}
	return list, nil
}

// stays reports whether the disk still differs from the target at the path.
func (l *LeftOut) stays(disk *history.DiskState) bool {
	rec := disk.Index.Lookup(string(l.Path))
	switch {
	case rec == nil:
		return l.want != nil
	case l.want == nil || rec.Skip() != index.Captured:
		return true
	}
	return rec.Mode() != l.want.Mode || rec.ID() != l.want.ID
}

// addLeftOut lists as kept the uncaptured paths that the plan does not name otherwise.
func (p *planner) addLeftOut(list []LeftOut) {
	named := make(map[string]bool)
	for _, l := range [][]state.PathReason{p.Kept, p.Conflicts} {
		for _, s := range l {
			named[string(s.Path)] = true
		}
	}
	for i := range p.Changes {
		named[p.Changes[i].Path] = true
	}
	for i := range list {
		if l := &list[i]; !named[string(l.Path)] && l.stays(p.captured) {
			p.Kept = append(p.Kept, l.PathReason)
		}
	}
}

// goneSince lists as kept the files that the target had without having captured them, and that the disk
// no longer has: a restore does not bring them back. Special files are left out, because the programs that
// use them make them again.
func (p *planner) goneSince() error {
	if p.way != nil {
		return nil // see FindLeftOut
	}
	for _, s := range p.target.Meta.Skipped {
		path := string(s.Path)
		if !notDenied(s.Reason) || s.Reason == index.Special.String() || !p.scope.Covers(path) || p.captured.Index.Has(path) {
			continue
		}
		if found, err := p.live.Find(path); err == nil && (found == nil || found.Path != path) {
			p.addKept(path, reasonGone+s.Reason)
		}
	}
	return nil
}
