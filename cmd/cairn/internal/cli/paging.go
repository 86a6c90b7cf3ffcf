package cli

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn/internal/pager"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// paged lists the commands whose answer goes through a pager on a terminal, and the verbs of
// session that are among them.
var (
	paged      = []string{"log", "diff", "show", "blame", "grep", "operations", "help"}
	pagedVerbs = []string{"list", "show", "diff"}
)

// display is where the answer of such a command goes. It starts the pager with the first byte: a
// command that fails or has no answer needs none.
type display struct {
	c       *Program
	stdout  *os.File
	command string
	quit    func()       // ends the command, because the pager is gone
	pager   *pager.Pager // nil before the first byte, and if it cannot be started
	started bool
}

// page makes the answer go through a pager if one is wanted, and lets a terminal obey no text of a file.
// The context that it returns ends with the pager.
func (c *Program) page(cmd *cobra.Command, args []string) context.Context {
	ctx, out := cmd.Context(), c.Stdout
	if command := c.pagerOf(cmd.Name(), args); command != "" {
		var quit func()
		ctx, quit = context.WithCancel(ctx)
		c.display = &display{c: c, stdout: c.Stdout.(*os.File), command: command, quit: quit}
		out = c.display
	}
	c.showOn(out, cmd)
	return ctx
}

// pagerOf returns the pager that the answer of a command goes through, "" for none.
func (c *Program) pagerOf(name string, args []string) string {
	_, ok := c.Stdout.(*os.File)
	wanted := slices.Contains(paged, name) || name == "session" && len(args) > 0 && slices.Contains(pagedVerbs, args[0])
	if !ok || !wanted || !c.OutTerminal || c.Global.JSON || c.Global.NoPager || pager.InAgent(c.Lookup) {
		return ""
	}
	return pager.Choose(c.Lookup)
}

// Write implements io.Writer.
func (d *display) Write(text []byte) (int, error) {
	if !d.started {
		d.started = true
		d.start()
	}
	if d.pager == nil {
		return d.stdout.Write(text)
	}
	return d.pager.Write(text)
}

// start starts the pager. Signals are caught before: an interrupt that only the pager gets would not
// end the command. Remarks and progress would disturb it, so they wait until it has ended.
// Only the lack of a pager that is named somewhere is said.
func (d *display) start() {
	console := d.c.Console
	console.Clear()
	d.c.Catch()
	p, err := pager.Start(d.command, pager.Environ(d.c.Environ()), d.stdout, os.Stderr, d.quit)
	if err == nil {
		d.pager = p
		console.Hold()
		return
	}
	if d.command != pager.Default || !pager.IsMissing(err) {
		console.Complain("warning: cannot show this page by page: " + wording.Plain(err))
	}
}

// closeDisplay waits for the pager, and returns the error of the command without what the early end
// of the pager has caused.
func (c *Program) closeDisplay(ctx context.Context, err error) error {
	if c.display == nil || c.display.pager == nil {
		return err
	}
	early, closeErr := c.display.pager.Close()
	c.Console.Release()
	switch {
	case early && ctx.Err() == nil && err != nil && onlyIs(err, context.Canceled):
		err = nil
	case early && err == nil:
		err = ctx.Err() // the interrupt came while the pager was to read the rest
	}
	return errors.Join(err, closeErr)
}
