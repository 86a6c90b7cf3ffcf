package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/config"
)

// cli is one run of the program.
type cli struct {
	stdin   io.Reader
	stdout  io.Writer     // for a command that is run; all else goes through out
	out     *bufio.Writer // stdout; flushed before a remark that follows an answer, and at the end
	columns int           // of a line of the answer

	outTerminal bool // stdout is a terminal

	console    *console // stderr
	env        func(string) string
	dir        string // the current directory, "" if there is none
	global     globalFlags
	root       *cobra.Command
	args       []string
	force      bool           // of track
	config     *config.Config // of the root configured, nil until it is needed
	configured string
	real, top  found                     // of the directory started in: its real path, and its root
	above      bool                      // the root lies above that directory because it has a store
	toldAbove  bool                      // which a line on stderr has said
	last       *cairn.Options            // that options returned
	spawn      func(args []string) error // starts cairn in the background, nil = never
	due        *bool                     // whether it is time to clean, nil = not known
	catch      func()                    // begins to catch signals
	running    string                    // name of the command once it runs, until then errors are about usage
}

// globalFlags go with every command.
type globalFlags struct {
	directory, root, dataDir string
	json, quiet, noServer    bool
	verbose                  bool
	maxFileSize              byteSize
	minFree                  byteSize
	lockTimeout              time.Duration
}

func newCLI(stdin io.Reader, stdout, stderr io.Writer, env func(string) string, dir string) *cli {
	c := &cli{
		stdin: stdin, stdout: stdout, out: bufio.NewWriterSize(stdout, 64<<10), console: newConsole(stderr),
		env: env, dir: dir, catch: func() {},
	}
	c.columns, _ = columns(stdout)
	c.outTerminal = isTerminal(stdout)
	c.root = c.rootCommand()
	c.root.SetOut(c.out)
	c.root.SetErr(stderr)
	return c
}

// run carries out one command line.
func (c *cli) run(ctx context.Context, args []string) int {
	c.args = args
	c.addCommands(args)
	c.root.SetArgs(append([]string{}, args...)) // never nil, which would mean os.Args
	err := c.root.ExecuteContext(ctx)
	if err != nil && c.running == "" {
		err = c.asUsage(err)
	}
	c.console.clear()
	if flushed := c.out.Flush(); flushed != nil {
		err = errors.Join(err, fmt.Errorf("write the answer: %w", flushed))
	}
	status := c.report(ctx, err)
	if status == exitDone || status == exitPartly {
		c.cleanLater()
	}
	if c.neverFails(args) {
		return exitDone
	}
	return status
}

// command describes one command; what it does is run.
type command struct {
	use, short, manual string
	args               cobra.PositionalArgs
	complete           cobra.CompletionFunc
	run                func(ctx context.Context, cmd *cobra.Command, args []string) error
}

func (c *cli) command(d command) *cobra.Command {
	return &cobra.Command{
		Use: d.use, Short: d.short, Long: d.manual, Args: d.args, ValidArgsFunction: d.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.running, c.console.quiet = cmd.Name(), c.global.quiet
			c.catchSignals()
			return d.run(cmd.Context(), cmd, args)
		},
	}
}

// takes checks the number of arguments; max < 0 means any number. The error says in
// words which arguments are wanted.
func takes(min, max int, wanted string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < min || max >= 0 && len(args) > max {
			return &usageError{cmd.Name(), " wants " + wanted}
		}
		return nil
	}
}

// withRepo opens the repository for f. Only what brings a checkpoint into it makes a
// store where there is none.
func (c *cli) withRepo(f func(*cairn.Repo) error) error {
	repo, err := c.open()
	if err != nil {
		return err
	}
	err = f(repo)
	c.noteDue(repo)
	return errors.Join(err, repo.Close())
}

// writeJSON prints one JSON value on a line of its own.
func (c *cli) writeJSON(v any) error {
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// jsonArray prints an array element by element, so that it is never held as a
// whole. An array that an error cuts short is not closed and hence not valid JSON.
type jsonArray struct {
	c *cli
	n int
}

// add prints one element.
func (a *jsonArray) add(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	lead := ",\n"
	if a.n == 0 {
		lead = "["
	}
	a.n++
	a.c.out.WriteString(lead)
	_, err = a.c.out.Write(data)
	return err
}

func (a *jsonArray) close() error {
	if a.n == 0 {
		a.c.out.WriteByte('[')
	}
	_, err := a.c.out.WriteString("]\n")
	return err
}
