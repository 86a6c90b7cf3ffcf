package httpapi

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// CheckoutRequest describes a copy.
type CheckoutRequest struct {
	Hash        string   `json:"hash" minLength:"1" maxLength:"200"`
	Dir         string   `json:"dir" minLength:"1" maxLength:"8192" doc:"Absolute path of the directory to make. Nothing or an empty directory is there, and the directory above it exists."`
	WithIgnored bool     `json:"withIgnored,omitempty" doc:"Bring what the root holds and captures leave out: ignored files, and files above the limit of size."`
	Patterns    []string `json:"patterns,omitempty" maxItems:"1000" doc:"Bring of these only what matches, as in .gitignore. They imply withIgnored."`
	DryRun      bool     `json:"dryRun,omitempty" doc:"Only say how many files and bytes it would be."`
}

type inCheckout struct {
	InProject
	Body CheckoutRequest
}

func (s *Server) copyOperations() {
	onProject(s, endpoint{
		id: "checkout", method: http.MethodPost, path: "/checkout", tag: "files", summary: "Put a checkpoint into a new directory",
		description: "The root does not change. The directory is there when it is whole; a process that is killed leaves none. " +
			"Events of the type progress tell how far it has come. It goes on when the client hangs up.",
	}, func(ctx context.Context, p *Project, in *inCheckout) (*cairn.CheckoutResult, error) {
		b := &in.Body
		dir, err := absoluteDir("body.dir", b.Dir)
		if err != nil {
			return nil, err
		}
		return p.Repo.Checkout(ctx, b.Hash, dir, cairn.CheckoutOptions{
			WithIgnored: b.WithIgnored || len(b.Patterns) > 0, Ignored: b.Patterns, DryRun: b.DryRun,
		})
	})
}

// absoluteDir is the directory that a field of a request names: an absolute path as package pathtext
// encodes it.
func absoluteDir(field, text string) (string, error) {
	dir, err := pathtext.Decode(text)
	switch {
	case err != nil:
		return "", badField(field, text, err.Error())
	case !filepath.IsAbs(dir) || strings.IndexByte(dir, 0) >= 0:
		return "", badField(field, text, "expected an absolute path")
	}
	return filepath.Clean(dir), nil
}

// progressEvery is the least time between two events about the progress of one copy.
const progressEvery = 250 * time.Millisecond

// Checkout is cairn.Repo.Checkout.
func (r *Repo) Checkout(ctx context.Context, spec, dir string, opt cairn.CheckoutOptions) (res *cairn.CheckoutResult, err error) {
	project := r.handle.project
	opt.Progress = project.tellProgress(dir, opt.Progress)
	err = r.handle.write(ctx, func(ctx context.Context) error {
		res, err = r.Repo.Checkout(ctx, spec, dir, opt)
		return err
	})
	if err == nil && !opt.DryRun {
		project.tellCopy(res)
	}
	return res, err
}

// tellProgress returns the function to which a copy reports. It sends events, and passes the report on to next, if
// there is one.
func (p *project) tellProgress(dir string, next func(cairn.Progress)) func(cairn.Progress) {
	var due time.Time
	return func(done cairn.Progress) {
		if next != nil {
			next(done)
		}
		if now := time.Now(); done.Files == done.Total || !now.Before(due) {
			due = now.Add(progressEvery)
			p.tell(Event{Type: EventProgress, Dir: pathtext.Encode(dir), Files: done.Files, Total: done.Total, Bytes: done.Bytes})
		}
	}
}

// tellCopy sends the event of a directory that was made.
func (p *project) tellCopy(res *cairn.CheckoutResult) {
	p.tell(Event{
		Type: EventCopy, Checkpoint: res.Checkpoint, Hash: res.Hash, Dir: pathtext.Encode(string(res.Dir)),
		Files: res.Files + res.Ignored.Files, Bytes: res.Bytes + res.Ignored.Bytes, Conflicts: len(res.Conflicts),
	})
}
