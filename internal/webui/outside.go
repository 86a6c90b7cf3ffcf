package webui

import (
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn"
)

// outsidePart is what a preview says about paths outside the directory.
type outsidePart struct {
	Goes bool // the plan brings them back
	List []outsidePath
}

// outsidePath is a path outside the directory. Why says why it stays.
type outsidePath struct {
	Do, Path, Why string
}

// takesOutside reports whether paths outside the directory can go back on a way. They go back as a whole, and
// the page moves git and them one after the other.
func (w *way) takesOutside() bool {
	switch w.Do {
	case "undo", "redo", "session", "part", "unrevert":
		return !w.partly() && !w.Git
	}
	return false
}

// outsideTicked is the way with paths outside the directory as the form has them ticked. A form without that
// box leaves them as they are, and a part of the files goes back without them.
func (w *way) outsideTicked(b *boxes) *way {
	goes := w.Outside
	if b.asksOutside {
		goes = b.outside
	}
	if goes = goes && w.takesOutside(); goes == w.Outside {
		return w
	}
	other := *w
	other.Outside = goes
	return &other
}

// outsidePart lists the paths outside the directory that go back on a way, or would. It is nil if there are
// none.
func (v *visit) outsidePart(w *way, res *cairn.Result) (*outsidePart, error) {
	if w.Outside {
		return partOutside(res.Outside, true), nil
	}
	if may, err := v.mayGoOutside(w); err != nil || !may {
		return nil, err
	}
	with := *w
	with.Outside = true
	res, err := with.run(v, "")
	switch {
	case errors.Is(err, cairn.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return partOutside(res.Outside, false), nil
}

func partOutside(r *cairn.OutsideResult, goes bool) *outsidePart {
	if r.Changes()+r.Staying() == 0 {
		return nil
	}
	p := &outsidePart{Goes: goes}
	for _, path := range r.Restored {
		p.List = append(p.List, outsidePath{Do: "restore", Path: path})
	}
	for _, path := range r.Deleted {
		p.List = append(p.List, outsidePath{Do: "delete", Path: path})
	}
	for _, stays := range [][]cairn.PathReason{r.Conflicts, r.Kept} {
		for _, one := range stays {
			p.List = append(p.List, outsidePath{"stays", string(one.Path), one.Reason})
		}
	}
	return p
}

// mayGoOutside reports whether a way has something to bring back outside the directory. It saves a second plan.
func (v *visit) mayGoOutside(w *way) (bool, error) {
	switch {
	case !w.takesOutside():
		return false, nil
	case w.Do != "session" && w.Do != "part":
		return v.movedOutside()
	}
	g, err := v.going(w)
	if err != nil {
		return false, err
	}
	for _, t := range g.turns {
		for i := range t.Steps {
			if len(t.Steps[i].Outside) > 0 {
				return true, nil
			}
		}
	}
	return false, nil
}

// movedOutside reports whether an operation that the project remembers has moved paths outside the directory.
func (v *visit) movedOutside() (bool, error) {
	for op, err := range v.project.Repo.Operations(v.ctx()) {
		if err != nil || len(op.Outside) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// otherShare is the part that an operation has in another directory.
type otherShare struct {
	Root, Address, What string
}

// otherShares lists the parts of an operation in other directories. One whose project cannot be opened is
// named without its paths.
func (v *visit) otherShares(op *cairn.Operation) (list []otherShare) {
	if op.Joint == nil {
		return nil
	}
	for _, root := range op.Joint.Roots {
		if root != v.project.Root {
			list = append(list, v.shareIn(root, op.Joint.ID))
		}
	}
	return list
}

func (v *visit) shareIn(root, joint string) otherShare {
	s := otherShare{Root: root, What: "cannot be shown here"}
	p, err := v.h.opt.Project(v.ctx(), cairn.ProjectID(root))
	if err != nil {
		return s
	}
	for op, err := range p.Repo.Operations(v.ctx()) {
		if err != nil {
			v.h.log.Warn("an operation of several directories cannot be followed", "root", root, "error", err)
			return s
		}
		if op.Joint != nil && op.Joint.ID == joint {
			s.Address = (&visit{h: v.h, project: p}).at("operation/" + op.ID)
			s.What = plural(len(op.Paths), "path")
			if n := len(op.Conflicts) + len(op.Kept); n > 0 {
				s.What += fmt.Sprintf(", %d stayed", n)
			}
			return s
		}
	}
	s.What = "nothing changed"
	return s
}
