package cli

import (
	"bufio"
	"cmp"
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
	"github.com/seed-fb9cbc17/cairn/internal/service"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Program is one run of the program.
type Program struct {
	Stdin   io.Reader     // of a command that reads it
	Stdout  io.Writer     // for a command that is run; all else goes through Out
	Out     *bufio.Writer // stdout; flushed before a remark that follows an answer, and at the end
	Columns int           // of a line of the answer

	OutTerminal bool // stdout is a terminal
	CanAsk      bool // a question on stderr can be answered on stdin

	Ancestors func() []process.Relative // the processes above this one

	// Near returns the sessions of a root by the server of this process; others go to those that local opens.
	// nil = a server is another process.
	Near func(opt cairn.Options, local func() (*session.Sessions, error)) service.Sessions

	// NearTicket begins work in the background by the server of this process, as BeginTicket. nil as Near.
	NearTicket func(opt cairn.Options, r *ticket.Request) (string, error)

	display *display // a pager for the answer, nil for none
	screen  *screen  // a terminal for it, nil for none
	links   *links   // of paths in the answer, nil until the first path

	// ballast counts as memory in use when the collector decides on its next run. Nothing touches its pages, so
	// it takes none. nil = the process is short.
	ballast []byte

	PinNames map[string][]string // the names of checkpoints, nil until they are read

	Lookup  pager.Lookup    // an environment that tells "" from nothing
	Environ func() []string // all variables, as in NAME=value

	Console     *console.Console    // stderr: remarks, progress and errors
	Env         func(string) string // a variable of the environment, "" if it is not set
	Dir         string              // the current directory, "" if there is none
	Global      GlobalFlags         // of the command line
	Root        *cobra.Command      // has the flags of every command, and the commands that were made
	args        []string
	Force       bool           // of track
	EndsOpen    bool           // --end-open lets this command go on beside an open step
	Config      *config.Config // of the root that configured names, nil until it is needed
	configured  string
	real, top   found                          // of the current directory: its real path, and its root
	RootAbove   bool                           // the root lies above that directory because it has a store
	toldAbove   bool                           // a line on stderr has said so
	tookAlong   string                         // the root for which takeAlong has looked
	LastOptions *cairn.Options                 // the last result of Options, nil before
	Spawn       func(args []string) error      // starts cairn in the background, nil = never
	SpawnIn     func(env, args []string) error // likewise, with another environment
	due         *bool                          // whether it is time to clean, nil = not known
	TurnEnded   bool                           // a hook was about the end of a turn
	SessionOver bool                           // a hook was about the end of a session
	LeaveSealed bool                           // the command works in the background, and a sealed store stays so
	sealed      *sealedRoots
	Catch       func()                 // begins to catch signals
	Commands    func(*Program) []Maker // of the program
	Encrypt     []string               // --encrypt of a push, in place of the setting
	Identity    string                 // --identity, absolute, likewise; "" = as the setting says
	asked       bool                   // a server, which an interrupt of this process does not stop
	Running     string                 // name of the command once it runs, until then errors are about usage
}

// GlobalFlags go with every command.
type GlobalFlags struct {
	Directory, Root, DataDir string
	JSON, Quiet, NoServer    bool
	Verbose, NoPager         bool
	Color, Hyperlink         colorChoice
	MaxFileSize              byteSize
	MinFree                  byteSize
	LockTimeout              time.Duration
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

// Palette has the colours of the answer, which JSON never has.
func (c *Program) Palette() console.Palette {
	return console.Palette(!c.Global.JSON && console.Colored(string(c.Global.Color), c.Env, c.OutTerminal && runtime.GOOS != "windows"))
}

// Visible reports whether control characters of files are made visible: a terminal would obey them. Those
// beyond ASCII are, for all of an answer: see screen.
func (c *Program) Visible() bool { return c.OutTerminal && !c.Global.JSON }

// FileText is text of a file for the answer.
func (c *Program) FileText(text string) string {
	if c.Visible() {
		return wording.Visible(text)
	}
	return text
}

// New returns one run of the program. It starts nothing in the background and catches no signal.
func New(stdin io.Reader, stdout, stderr io.Writer, env func(string) string, dir string) *Program {
	c := &Program{
		Stdin: stdin, Stdout: stdout, Out: bufio.NewWriterSize(stdout, 64<<10), Console: NewConsole(stderr),
		Env: env, Dir: dir, Catch: func() {}, sealed: new(sealedRoots),
	}
	c.Columns, _ = columns(stdout)
	c.OutTerminal = IsTerminal(stdout)
	c.CanAsk = IsTerminal(stdin) && IsTerminal(stderr)
	c.Ancestors = func() []process.Relative { return process.Line(os.Getppid()) }
	c.Environ = func() []string { return nil }
	c.Lookup = func(name string) (string, bool) { return env(name), env(name) != "" }
	c.Root = c.rootCommand()
	c.Root.SetOut(c.Out)
	c.Root.SetErr(stderr)
	return c
}

// Run carries out one command line.
func (c *Program) Run(ctx context.Context, args []string) int {
	c.args = args
	c.AddCommands(args)
	if c.lacks(args) {
		return c.report(ctx, c.byFull(args))
	}
	c.warnOfFront()
	switch c.about(args) {
	case "log":
		args = countArgs(args)
	case "grep":
		args = grepArgs(args)
	}
	c.Root.SetArgs(append([]string{}, args...)) // never nil, which would mean os.Args
	err := c.Root.ExecuteContext(ctx)
	if err != nil && c.Running == "" {
		err = c.asUsage(err)
	}
	c.Console.Clear()
	if flushed := errors.Join(c.Out.Flush(), c.screen.end()); flushed != nil {
		err = errors.Join(err, fmt.Errorf("write the answer: %w", flushed))
	}
	err = c.closeDisplay(ctx, err)
	status := c.report(ctx, err)
	c.DoLater(status == ExitDone || status == ExitPartly)
	if c.neverFails(args) {
		return ExitDone
	}
	return status
}

// about is the name of the command of a line, which may be one that is to be completed.
func (c *Program) about(args []string) string {
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		args = args[1:]
	}
	cmd, _, _ := c.Root.Find(args)
	return cmd.Name()
}

// Command describes one command; Run carries it out.
type Command struct {
	Use, Short, Manual string
	Args               cobra.PositionalArgs
	Complete           cobra.CompletionFunc
	Run                func(ctx context.Context, cmd *cobra.Command, args []string) error
}

// Command makes the command of the parser.
func (c *Program) Command(d Command) *cobra.Command {
	return &cobra.Command{
		Use: d.Use, Short: d.Short, Long: d.Manual, Args: d.Args, ValidArgsFunction: d.Complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Running, c.Console.Quiet = cmd.Name(), c.Global.Quiet
			c.catchSignals()
			if err := cmp.Or(c.wantPlaces(cmd), c.WantChoices(cmd, choosing...)); err != nil {
				return err
			}
			return d.Run(c.page(cmd, args), cmd, args)
		},
	}
}

// ArgCount checks the number of arguments; max < 0 means any number. The error says in
// words which arguments are wanted.
func ArgCount(min, max int, wanted string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < min || max >= 0 && len(args) > max {
			return &usageError{cmd.Name(), " wants " + wanted}
		}
		return nil
	}
}

// WithRepo opens the repository for f. Only commands that add a checkpoint make a
// missing store.
func (c *Program) WithRepo(f func(*cairn.Repo) error) error {
	repo, err := c.Open()
	if err != nil {
		return err
	}
	err = f(repo)
	c.NoteDue(repo)
	return errors.Join(err, repo.Close())
}

// Maker makes the command of a name.
type Maker struct {
	Name string
	Make func() *cobra.Command
}

// wantAll lists the commands that need to know the others.
var wantAll = []string{"cairn", "help", "completion"}

// AddCommands adds the commands whose names are among the words of the command line,
// because one of them is meant. It adds all if no word is a command, or if the command
// is about the others, such as help.
func (c *Program) AddCommands(args []string) {
	added := make(map[string]bool)
	add := func(wanted func(name string) bool) {
		for _, m := range c.Commands(c) {
			if !added[m.Name] && wanted(m.Name) {
				added[m.Name] = true
				c.Root.AddCommand(m.Make())
			}
		}
	}
	// The parser would make a help command of its own.
	add(func(name string) bool { return name == "help" || slices.Contains(args, name) })
	if cmd, _, _ := c.Root.Find(args); slices.Contains(wantAll, cmd.Name()) {
		add(func(string) bool { return true })
	}
}

// atOnce lists the commands that begin before signals are caught: they change nothing in
// the directory. Most of them end within uncaught. A signal in that time ends the
// process without a message, as it does before main.
var atOnce = []string{"track", "hook", "status", "patch", "diff", "version"}

const uncaught = 20 * time.Millisecond

// catchSignals is called before the command runs.
func (c *Program) catchSignals() {
	if slices.Contains(atOnce, c.Running) {
		time.AfterFunc(uncaught, c.Catch)
	} else {
		c.Catch()
	}
}

// neverFails reports whether the command line is that of a hook, whose exit status may
// stop an agent. That includes a line that cannot be parsed, of another version for
// instance.
func (c *Program) neverFails(args []string) bool {
	cmd, _, err := c.Root.Find(args)
	return err == nil && cmd.Name() == "hook"
}
