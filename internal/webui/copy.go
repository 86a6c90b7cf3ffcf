package webui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// copyPage is what templates/copy.html shows: a form, below it what the copy would hold, and in the
// end what it holds.
type copyPage struct {
	Of       string // the checkpoint
	Facts    []fact
	Dir      string
	Ignored  bool
	Patterns string
	Plan     *cairn.CheckoutResult // nil: no directory is named yet
	Make     string                // address of the form that makes it
	Back     string

	Done    *cairn.CheckoutResult
	Failure *failure // of a copy that had begun
}

// Ways says how the files come into the copy.
func (p *copyPage) Ways() (list []fact) {
	r := p.Plan
	if p.Done != nil {
		r = p.Done
	}
	for _, way := range []struct {
		name string
		cairn.CopyAmount
	}{{"cloned or copied from the root", r.Live}, {"cloned", r.Cloned}, {"copied", r.Copied}, {"out of the store", r.Written}} {
		if way.Files > 0 {
			list = append(list, fact{Name: way.name, Value: plural(way.Files, "file") + ", " + size(way.Bytes)})
		}
	}
	return list
}

func (v *visit) copyPage(values url.Values) (*copyPage, error) {
	p := &copyPage{
		Of: v.query.Get("of"), Dir: values.Get("dir"), Ignored: values.Get("ignored") != "",
		Patterns: values.Get("patterns"), Back: v.at(""),
	}
	if p.Of == "" {
		return nil, fmt.Errorf("%w: no checkpoint is named", errInput)
	}
	cp, err := v.project.Repo.Lookup(v.ctx(), p.Of)
	if err != nil {
		return nil, err
	}
	p.Facts, p.Make = v.factOf("state", p.Of), v.at("copy", "of", p.Of)
	if p.Dir == "" {
		p.Dir = v.project.Root + "-" + cp.ID[:min(8, len(cp.ID))]
	}
	return p, nil
}

// copy asks the library for a copy, or in a dry run for its size.
func (p *copyPage) copy(ctx context.Context, v *visit, dryRun bool, progress func(cairn.Progress)) (*cairn.CheckoutResult, error) {
	if !filepath.IsAbs(p.Dir) {
		return nil, fmt.Errorf("%w: %s is no absolute path", cairn.ErrPlace, p.Dir)
	}
	opt := cairn.CheckoutOptions{DryRun: dryRun, Progress: progress}
	for line := range strings.Lines(p.Patterns) {
		if line = strings.TrimSpace(line); line != "" {
			opt.Ignored = append(opt.Ignored, line)
		}
	}
	opt.WithIgnored = p.Ignored || len(opt.Ignored) > 0
	return v.project.Repo.Checkout(ctx, p.Of, filepath.Clean(p.Dir), opt)
}

// copyForm asks for the directory, and shows what a copy there would hold.
func (h *handler) copyForm(v *visit) error {
	page, err := v.copyPage(v.query)
	if err == nil && v.query.Get("dir") != "" {
		page.Plan, err = page.copy(v.ctx(), v, true, nil)
	}
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "copy.html", "Copy to a directory", page)
}

// makeCopy makes the copy. As soon as the library tells how far it has come, the page begins, and
// grows by a line for each news. It stands without a script.
func (h *handler) makeCopy(v *visit) error {
	page, err := v.copyPage(v.r.PostForm)
	if err != nil {
		return err
	}
	news, done := make(chan cairn.Progress, 1), make(chan error, 1)
	go func() {
		var err error
		page.Done, err = page.copy(v.ctx(), v, false, latest(news))
		done <- err
	}()
	w := &copyStream{visit: v}
	for {
		select {
		case p := <-news:
			if err := w.tell(p); err != nil {
				v.h.log.Debug("a copy goes on unseen", "error", err)
			}
		case err := <-done:
			return w.end(page, err)
		}
	}
}

// latest keeps the newest news of a copy for a reader that may be slower.
func latest(news chan cairn.Progress) func(cairn.Progress) {
	return func(p cairn.Progress) {
		select {
		case <-news:
		default:
		}
		news <- p
	}
}

// copyStream is the page of a copy under way.
type copyStream struct {
	*visit
	begun bool
	last  time.Time
	err   error // of an earlier write
}

// newsEvery is the least time between two lines about the progress of a copy.
const newsEvery = 200 * time.Millisecond

func (w *copyStream) tell(p cairn.Progress) error {
	now := w.h.opt.Now()
	if w.err != nil || w.begun && now.Sub(w.last) < newsEvery {
		return w.err
	}
	if !w.begun {
		w.w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.w.WriteHeader(http.StatusOK)
		w.err = templates().ExecuteTemplate(w.w, "copying", w.frame("Copying", nil))
	}
	w.begun, w.last = true, now
	return w.print("copied", p)
}

func (w *copyStream) print(name string, data any) error {
	err := templates().ExecuteTemplate(w.w, name, data)
	w.err = cmp.Or(w.err, err, http.NewResponseController(w.w).Flush())
	return w.err
}

// end shows the result: as a page of its own, or at the end of the page that has begun.
func (w *copyStream) end(page *copyPage, err error) error {
	switch {
	case !w.begun && err != nil:
		return err
	case !w.begun:
		return w.render(http.StatusOK, "copy.html", "Copy to a directory", page)
	case err != nil:
		_, page.Failure = w.failure(err)
	}
	if err := w.print("copyend", w.frame("Copying", page)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		w.h.log.Debug("the end of a copy was not read", "error", err)
	}
	return nil
}
