package main

import (
	"errors"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
)

// stepBeginLater is step begin with --async.
func (r *sessionRun) stepBeginLater() error {
	b, err := r.newStep()
	if err != nil {
		return err
	}
	id, err := r.later(r.ctx, &ticket.Request{Step: ticket.NewStep(b)}, false)
	if err != nil {
		return err
	}
	return r.printBegun(id)
}

// gate lets steps of the session begin that are to begin in the background. What goes
// wrong with them is told by their tickets, and by what then finds no step.
func (r *sessionRun) gate() error {
	book, root, err := r.tickets()
	if err != nil {
		return nil // the command itself is going to say what is wrong
	}
	w := &worker{c: r.cli, book: book, console: r.console}
	if w.dataDir, err = r.dataDir(root); err != nil {
		return err
	}
	running := r.running
	err = book.FinishSteps(r.ctx, root, r.args[0], "", w.work)
	r.running, r.late = running, len(w.worked) > 0
	return err
}

// tickets are those of the data directory, and the root as they know it.
func (r *sessionRun) tickets() (book ticket.Book, root string, err error) {
	dir, err := r.workDir()
	if err != nil {
		return book, "", err
	}
	if root, err = r.rootDir(dir); err != nil {
		return book, "", err
	}
	if root, err = realpath.Of(root); err != nil {
		return book, "", err
	}
	data, err := r.dataDir(dir)
	return ticket.In(data), root, err
}

// withBeginning adds to an error about a step that does not exist why the newest one
// that was to begin in the background has not begun.
func (r *sessionRun) withBeginning(err error) error {
	if !errors.Is(err, cairn.ErrNotFound) {
		return err
	}
	book, root, terr := r.tickets()
	if terr != nil {
		return err
	}
	all, _, terr := book.Steps(root, r.args[0])
	if terr != nil || len(all) == 0 {
		return err
	}
	if a := book.Answer(all[len(all)-1]); a != nil && a.Err() != nil {
		return errors.Join(err, a.Err())
	}
	return err
}
