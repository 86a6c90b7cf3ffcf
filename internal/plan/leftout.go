package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// ReasonNotCapturedAfter is followed by the reason why the path was not captured.
const ReasonNotCapturedAfter = "present but not captured after what is taken back: "

// ReasonGone is followed by the reason why the path was not captured.
const ReasonGone = "gone, and not captured at the target: "

// LeftOut is a path that differs between two states, one of which did not capture it. It
// cannot be taken back, so it stays as it is and is listed.
type LeftOut struct {
	state.PathReason
	want *object.Entry // at the target, nil for none
	gone bool          // the base lacks it: listed only if the disk lacks it, too
	file bool          // with gone: it was a file, so a directory there is something else
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
			list = append(list, LeftOut{PathReason: state.PathReason{Path: state.Path(c.Path), Reason: ReasonNotCaptured + reason}})
		}
		if reason := later.Uncaptured(c.Path); c.New == nil && notDenied(reason) {
			list = append(list, LeftOut{PathReason: state.PathReason{Path: state.Path(c.Path), Reason: ReasonNotCapturedAfter + reason}, want: c.Old})
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
			list = append(list, LeftOut{PathReason: state.PathReason{Path: s.Path, Reason: ReasonNotCapturedAfter + s.Reason}})
		}
	}
	gone, err := removed(r, target, base, scope)
	return append(list, gone...), err
}

// NotWithout leaves out the paths that the base did not capture and that the directory of the target never had. A
// path that stands at the target was made there, and stays in the list.
func NotWithout(list []LeftOut, without []state.Path) []LeftOut {
	if len(without) == 0 {
		return list
	}
	never := history.PathSet(without)
	return slices.DeleteFunc(list, func(l LeftOut) bool {
		return never[string(l.Path)] && l.want == nil && strings.HasPrefix(l.Reason, ReasonNotCapturedAfter)
	})
}

// uncapturedOf lists the paths that a state had without having captured them. Special files are left out,
// because the programs that use them make them again.
func uncapturedOf(target state.State, scope *state.PathScope) (list []LeftOut) {
	for _, s := range target.Meta.Skipped {
		if notDenied(s.Reason) && s.Reason != index.Special.String() && scope.Covers(string(s.Path)) {
			list = append(list, LeftOut{PathReason: state.PathReason{Path: s.Path, Reason: ReasonGone + s.Reason}, gone: true, file: state.IsOfFile(s)})
		}
	}
	return list
}

// removed lists the paths that the target had without having captured them, and that base lacks.
func removed(r *history.Store, target, base state.State, scope *state.PathScope) (list []LeftOut, err error) {
	later, dirs := state.NewCoverage(base.Meta), r.LookupDirs(base)
	for _, l := range uncapturedOf(target, scope) {
		holds, err := l.isIn(r, dirs)
		if err != nil {
			return nil, err
		}
		if !holds && later.Covers(string(l.Path)) {
			list = append(list, l)
		}
	}
	return list, nil
}

// isIn reports whether a state has anything at the path, or where a file was, a file.
func (l *LeftOut) isIn(r *history.Store, in *history.DirLookup) (bool, error) {
	if !l.file {
		return in.Holds(string(l.Path))
	}
	end, err := r.EndOf(in.State, string(l.Path))
	return end.Entry != nil, err
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
		l := &list[i]
		if stays := !l.gone && l.stays(p.captured) || l.gone && p.isGone(l); stays && !named[string(l.Path)] {
			p.Kept = append(p.Kept, l.PathReason)
		}
	}
}

// isGone reports whether the disk lacks what was at a path. An empty directory counts as nothing: a file or a
// directory with contents was there. No directory counts where a file was.
func (p *planner) isGone(l *LeftOut) bool {
	path := string(l.Path)
	if rec := p.captured.Index.Lookup(path); rec != nil && rec.Skip() != index.Captured {
		return false
	}
	found, err := p.live.Find(path)
	return err == nil && (found == nil || found.Path != path || found.Empty || l.file && found.Mode == object.Dir)
}
