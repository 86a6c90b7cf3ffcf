package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/config"
	"github.com/seed-fb9cbc17/cairn/internal/console"
	"github.com/seed-fb9cbc17/cairn/internal/pager"
	"github.com/seed-fb9cbc17/cairn/internal/process"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// cli is one run of the program.
type cli struct {
	stdin   io.Reader
	stdout  io.Writer     // for a command that is run; all else goes through out
	out     *bufio.Writer // stdout; flushed before a remark that follows an answer, and at the end
	columns int           // of a line of the answer

	outTerminal bool // stdout is a terminal
	asks        bool // a question on stderr can be answered on stdin

	line func() []process.Relative // the processes above this one

	display *display // a pager for the answer, nil for none
	links   *links   // of paths in the answer, nil until the first path

	pinned map[string][]string // the names of checkpoints, nil until they are read

	lookup  pager.Lookup    // an environment that tells "" from nothing
	environ func() []string // all of it

	console    *console.Console // stderr
	env        func(string) string
	dir        string // the current directory, "" if there is none
	global     globalFlags
	root       *cobra.Command
	args       []string
	force      bool           // of track
	config     *config.Config // of the root configured, nil until it is needed
	configured string
	real, top  found                     // of the current directory: its real path, and its root
	above      bool                      // the root lies above that directory because it has a store
	toldAbove  bool                      // a line on stderr has said so
	last       *cairn.Options            // the last result of options
	spawn      func(args []string) error // starts cairn in the background, nil = never
	due        *bool                     // whether it is time to clean, nil = not known
	turnEnded  bool                      // a hook was about the end of a turn
	catch      func()                    // begins to catch signals
	encrypt    []string                  // --encrypt of a push, in place of the setting
	identity   string                    // --identity, absolute, likewise; "" = as the setting says
	running    string                    // name of the command once it runs, until then errors are about usage
}

// globalFlags go with every command.
type globalFlags struct {
	directory, root, dataDir string
	json, quiet, noServer    bool
	verbose, noPager         bool
	color, hyperlink         colorChoice
	maxFileSize              byteSize
	minFree                  byteSize
	lockTimeout              time.Duration
}

// byteSize is a number of bytes as a flag; "" means not given.
type byteSize struct {
	text  string
	bytes int64
}

func (s *byteSize) String() string { return s.text }
func (s *byteSize) Type() string   { return "size" }

// Set implements pflag.Value.
func (s *byteSize) Set(text string) error {
	digits, shift := text, 0
	if n := len(text); n > 0 {
		if i := strings.IndexByte("KMG", text[n-1]&^0x20); i >= 0 {
			digits, shift = text[:n-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63-shift)
	if err != nil {
		return errors.New("want a number of bytes, or one of K, M or G as in 64M; 0 means no limit")
	}
	s.text, s.bytes = text, int64(n)<<shift
	return nil
}

// colorChoice is the value of --color.
type colorChoice string

func (s *colorChoice) String() string { return string(*s) }
func (s *colorChoice) Type() string   { return "when" }

// Set implements pflag.Value.
func (s *colorChoice) Set(text string) error {
	if text != console.Auto && text != console.Always && text != console.Never {
		return errors.New("want auto, always or never")
	}
	*s = colorChoice(text)
	return nil
}

// palette has the colours of the answer, which JSON never has.
func (c *cli) palette() console.Palette {
	return console.Palette(!c.global.json && console.Colored(string(c.global.color), c.env, c.outTerminal && runtime.GOOS != "windows"))
}

// visible reports whether control characters of files are made visible: a terminal would obey them.
func (c *cli) visible() bool { return c.outTerminal && !c.global.json }

// fileText is text of a file for the answer.
func (c *cli) fileText(text string) string {
	if c.visible() {
		return wording.Visible(text)
	}
	return text
}

// limitOf is a size in the library's terms, where 0 means the default.
func limitOf(size byteSize) int64 {
	if size.bytes == 0 {
		return cairn.NoLimit
	}
	return size.bytes
}

func newCLI(stdin io.Reader, stdout, stderr io.Writer, env func(string) string, dir string) *cli {
	c := &cli{
		stdin: stdin, stdout: stdout, out: bufio.NewWriterSize(stdout, 64<<10), console: newConsole(stderr),
		env: env, dir: dir, catch: func() {},
	}
	c.columns, _ = columns(stdout)
	c.outTerminal = isTerminal(stdout)
	c.asks = isTerminal(stdin) && isTerminal(stderr)
	c.line = func() []process.Relative { return process.Line(os.Getppid()) }
	c.environ = func() []string { return nil }
	c.lookup = func(name string) (string, bool) { return env(name), env(name) != "" }
	c.root = c.rootCommand()
	c.root.SetOut(c.out)
	c.root.SetErr(stderr)
	return c
}

// run carries out one command line.
func (c *cli) run(ctx context.Context, args []string) int {
	args = countArgs(args)
	c.args = args
	c.addCommands(args)
	if cmd, _, _ := c.root.Find(args); cmd.Name() == "grep" {
		args = grepArgs(args)
	}
	c.root.SetArgs(append([]string{}, args...)) // never nil, which would mean os.Args
	err := c.root.ExecuteContext(ctx)
	if err != nil && c.running == "" {
		err = c.asUsage(err)
	}
	c.console.Clear()
	if flushed := c.out.Flush(); flushed != nil {
		err = errors.Join(err, fmt.Errorf("write the answer: %w", flushed))
	}
	err = c.closeDisplay(ctx, err)
	status := c.report(ctx, err)
	if status == exitDone || status == exitPartly {
		c.cleanLater()
		c.syncLater()
	}
	if c.neverFails(args) {
		return exitDone
	}
	return status
}

// command describes one command; run carries it out.
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
			c.running, c.console.Quiet = cmd.Name(), c.global.quiet
			c.catchSignals()
			return d.run(c.page(cmd.Context(), cmd.Name(), args), cmd, args)
		},
	}
}

// argCount checks the number of arguments; max < 0 means any number. The error says in
// words which arguments are wanted.
func argCount(min, max int, wanted string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < min || max >= 0 && len(args) > max {
			return &usageError{cmd.Name(), " wants " + wanted}
		}
		return nil
	}
}

// withRepo opens the repository for f. Only commands that add a checkpoint make a
// missing store.
func (c *cli) withRepo(f func(*cairn.Repo) error) error {
	repo, err := c.open()
	if err != nil {
		return err
	}
	err = f(repo)
	c.noteDue(repo)
	return errors.Join(err, repo.Close())
}

// makers lists the commands by name. Most runs need one of them, and making all of them
// takes as long as running a short command.
func (c *cli) makers() []maker {
	return []maker{
		{"track", c.trackCommand}, {"wait", c.waitCommand}, {"status", c.statusCommand}, {"patch", c.patchCommand}, {"diff", c.diffCommand},
		{"restore", c.restoreCommand}, {"checkout", c.checkoutCommand}, {"fork", c.forkCommand}, {"forks", c.forksCommand}, {"best", c.bestCommand}, {"revert", c.revertCommand}, {"undo", c.undoCommand}, {"redo", c.redoCommand},
		{"merge", c.mergeCommand}, {"compare", c.compareCommand},
		{"log", c.logCommand}, {"operations", c.operationsCommand}, {"session", c.sessionCommand},
		{"test", c.testCommand}, {"bisect", c.bisectCommand},
		{"pin", c.pinCommand}, {"unpin", c.unpinCommand},
		{"commit", c.commitCommand},
		{"ls", c.lsCommand}, {"cat", c.catCommand}, {"exists", c.existsCommand}, {"blame", c.blameCommand}, {"review", c.reviewCommand}, {"show", c.showCommand}, {"grep", c.grepCommand},
		{"export", c.exportCommand}, {"import", c.importCommand}, {"push", c.pushCommand}, {"fetch", c.fetchCommand}, {"resume", c.resumeCommand},
		{"setup", c.setupCommand}, {"hook", c.hookCommand}, {"run", c.runCommand}, {"acp", c.acpCommand}, {"mcp", c.mcpCommand}, {"serve", c.serveCommand},
		{"gc", c.gcCommand}, {"du", c.duCommand}, {"doctor", c.doctorCommand}, {"verify", c.verifyCommand}, {"purge", c.purgeCommand},
		{"adopt", c.adoptCommand}, {"config", c.configCommand},
		{"completion", c.completionCommand}, {"version", c.versionCommand}, {"help", c.helpCommand},
	}
}

type maker struct {
	name string
	make func() *cobra.Command
}

// wantAll lists the commands that need to know the others.
var wantAll = []string{"cairn", "help", "completion"}

// addCommands adds the commands whose names are among the words of the command line,
// because one of them is meant. It adds all if no word is a command, or if the command
// is about the others, such as help.
func (c *cli) addCommands(args []string) {
	added := make(map[string]bool)
	add := func(wanted func(name string) bool) {
		for _, m := range c.makers() {
			if !added[m.name] && wanted(m.name) {
				added[m.name] = true
				c.root.AddCommand(m.make())
			}
		}
	}
	// The parser would make a help command of its own.
	add(func(name string) bool { return name == "help" || slices.Contains(args, name) })
	if cmd, _, _ := c.root.Find(args); slices.Contains(wantAll, cmd.Name()) {
		add(func(string) bool { return true })
	}
}

// atOnce lists the commands that begin before signals are caught: they change nothing in
// the directory. Most of them end within uncaught. A signal in that time ends the
// process without a message, as it does before main.
var atOnce = []string{"track", "hook", "status", "patch", "diff", "version"}

const uncaught = 20 * time.Millisecond

// catchSignals is called before the command runs.
func (c *cli) catchSignals() {
	if slices.Contains(atOnce, c.running) {
		time.AfterFunc(uncaught, c.catch)
	} else {
		c.catch()
	}
}
