package cairn

import (
	"context"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

const reasonNotCapturedAfter = "present but not captured after what is taken back: "

// leftOut is a path that differs between two states, one of which did not capture it. It
// cannot be taken back, so it stays and is listed.
type leftOut struct {
	PathReason
	want *object.Entry // at the target, nil for none
}

// notDenied reports whether a path was skipped although rules admit it.
func notDenied(reason string) bool {
	return reason == index.TooLarge.String() || reason == index.Special.String() ||
		reason != "" && reason != index.Unread.String() && !slices.Contains(policyReasons, reason)
}

// leftOut lists what differs between a target and a base where one of them did not
// capture the path. Paths that a partial checkpoint did not look at are not listed.
func findLeftOut(ctx context.Context, r *Repo, target, base state, scope *pathScope) (list []leftOut, err error) {
	if len(target.meta.Skipped)+len(base.meta.Skipped) == 0 {
		return nil, nil
	}
	then, later := newCoverage(target.meta), newCoverage(base.meta)
	for c, err := range r.compareTrees(ctx, target.tree, base.tree, scope) {
		if err != nil {
			return nil, err
		}
		if reason := then.uncaptured(c.path); c.old == nil && notDenied(reason) {
			list = append(list, leftOut{PathReason{c.path, reasonNotCaptured + reason}, nil})
		}
		if reason := later.uncaptured(c.path); c.new == nil && notDenied(reason) {
			list = append(list, leftOut{PathReason{c.path, reasonNotCapturedAfter + reason}, c.old})
		}
	}
	for _, s := range base.meta.Skipped {
		if !scope.covers(s.Path) || !notDenied(s.Reason) || then.uncaptured(s.Path) != "" {
			continue
		}
		e, err := r.entryOrNil(target.tree, s.Path)
		if err != nil {
			return nil, err
		}
		if e == nil {
			list = append(list, leftOut{PathReason{s.Path, reasonNotCapturedAfter + s.Reason}, nil})
		}
	}
	return list, nil
}

// stays reports whether the disk is still not as the target at the path.
func (l *leftOut) stays(disk *snapshot) bool {
	rec := disk.index.Lookup(l.Path)
	switch {
	case rec == nil:
		return l.want != nil
	case l.want == nil || rec.Skip() != index.Captured:
		return true
	}
	return rec.Mode() != l.want.Mode || rec.ID() != l.want.ID
}

// keepLeftOut lists what stays because of captures that lack it, unless the plan names the
// path for another reason.
func (p *planner) keepLeftOut(list []leftOut) {
	named := make(map[string]bool)
	for _, l := range [][]PathReason{p.kept, p.conflicts} {
		for _, s := range l {
			named[s.Path] = true
		}
	}
	for i := range p.changes {
		named[p.changes[i].Path] = true
	}
	for i := range list {
		if l := &list[i]; !named[l.Path] && l.stays(p.disk) {
			p.kept = append(p.kept, l.PathReason)
		}
	}
}
