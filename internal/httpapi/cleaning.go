package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

func (s *Server) cleanOperations() {
	onProject(s, endpoint{
		id: "clean", method: http.MethodPost, path: "/gc", tag: "stores", summary: "Drop what need not be kept any longer",
	}, func(ctx context.Context, p *Project, in *struct {
		InProject
		Body *struct {
			DryRun   bool `json:"dryRun,omitempty" doc:"Only say what would go."`
			Thorough bool `json:"thorough,omitempty" doc:"Drop every byte that is not needed, however much has to be copied for it."`
		}
	}) (_ *cairn.CleanResult, err error) {
		var opt cairn.CleanOptions
		if in.Body != nil {
			opt.DryRun, opt.Thorough = in.Body.DryRun, in.Body.Thorough
		}
		if opt.Retention, _, err = s.opt.Retention(p.Root); err != nil {
			return nil, err
		}
		return p.Repo.Clean(ctx, opt)
	})
	onProject(s, endpoint{
		id: "usage", method: http.MethodGet, path: "/usage", tag: "stores", summary: "What the store takes and holds",
	}, func(ctx context.Context, p *Project, _ *InProject) (*cairn.Usage, error) { return p.Repo.Usage(ctx) })
}

// Clean is cairn.Repo.Clean.
func (r *Repo) Clean(ctx context.Context, opt cairn.CleanOptions) (done *cairn.CleanResult, err error) {
	err = r.handle.write(ctx, func(ctx context.Context) error {
		done, err = r.Repo.Clean(ctx, opt)
		return err
	})
	if err == nil && !opt.DryRun {
		r.handle.project.tell(Event{Type: EventGC, Freed: done.Freed, Size: done.Size})
	}
	return done, err
}

// cleanDue cleans the stores that are due. A store whose cleaning fails is tried again
// after the same time.
func (s *Server) cleanDue(now time.Time) {
	for _, p := range s.projects.list() {
		if s.opt.CleanEvery < 0 || now.Sub(p.cleaned) < s.opt.CleanEvery {
			continue
		}
		p.cleaned = now
		if p.isSealed() {
			continue
		}
		if err := s.cleanProject(p); err != nil && s.life.Err() == nil && !errors.Is(err, cairn.ErrNotFound) {
			s.opt.Logger.Warn("cannot clean", "root", p.root, "error", err)
		}
	}
}

func (s *Server) cleanProject(p *project) error {
	ctx, done := context.WithCancel(s.life)
	defer done()
	opened, err := p.open(ctx, false)
	if err != nil {
		return err
	}
	keep, background, err := s.opt.Retention(p.root)
	if err != nil || !background {
		return err
	}
	cleaned, err := opened.Repo.CleanIfDue(ctx, keep, s.opt.CleanEvery)
	if err == nil && cleaned != nil {
		p.tell(Event{Type: EventGC, Freed: cleaned.Freed, Size: cleaned.Size})
	}
	return err
}

// afterMoves lets the stores be signed and pushed in which something has happened.
func (s *Server) afterMoves() {
	for _, p := range s.projects.list() {
		if !p.moved.Swap(false) {
			continue
		}
		for _, begin := range []func(root string){s.opt.Sign, s.opt.Sync} {
			if begin != nil {
				begin(p.root)
			}
		}
	}
}
