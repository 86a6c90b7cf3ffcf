package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-fb9cbc17/cairn/internal/console"
)

const manual = `cairn takes checkpoints of a directory and goes back to them without losing
work.

    $ cairn track -m 'before the refactoring'
    1d2f24e4b5a9e4c9a8a51f0f3a6a3a5f1c0d9b7e
    $ ... you or an agent change files ...
    $ cairn diff --stat
     main.go | 14 ++++++++------
     1 file changed, 8 insertions(+), 6 deletions(-)
    $ cairn restore @
    restored main.go
    $ cairn undo
    restored main.go

A checkpoint holds the whole root: the git work tree around the current
directory, or the nearest directory above that has a store, or the current
directory itself; --root names another. Ignored files are left out, and so are
files above 32 MiB and what cannot be read; what was left out is said, and never
deleted by going back. Checkpoints lie in a store outside the directory. Your
own git repository is read for its ignore rules and never written to. No git
needs to be installed, but for push and fetch.

Usage:
    cairn [-C DIR] [--root DIR] [--data-dir DIR] [--json] COMMAND

Checkpoints:
    track [-m TEXT]             take one; its id goes to stdout
    wait TICKET                 for one that is taken in the background
    status                      the newest one, and what changed since
    patch HASH [TO]             which files changed
    diff [FROM [TO]] [-- PATH]  what changed in them
    log                         all checkpoints, newest first
    pin HASH NAME               give one a name; without arguments, list names
    unpin NAME                  take the name away

Going back:
    restore HASH [PATH...]      the whole directory, or some paths, exactly
    revert HASH [PATH...]       take back what changed since
    revert FROM..TO [PATH...]   take back what changed between, keep what came
                                later; also the files of patches
    undo [PATH...]              take back the newest turn of an agent, or the
                                last restore, merge, revert or redo
    redo [PATH...]              take back the last undo
    operations                  what was restored, reverted, undone and redone
    session VERB [SESSION]      what agents did step by step, and taking it back

Copies:
    checkout HASH DIR           a checkpoint in a new directory
    fork DIR                    a second directory that goes on from here
    forks                       the forks of this directory, what each changed
    best N -- COMMAND           a command in N forks side by side, ranked
    compare DIR|HASH...         what each changed since the state in common
    merge DIR|HASH [PATH...]    bring that in, or some of it

Looking into a checkpoint:
    ls HASH [PATH]              list files
    cat HASH PATH               print a file
    exists HASH PATH            tell by the exit status
    show [HASH | SESSION]       what a checkpoint or a turn changed, and why
    grep PATTERN [HASH]         search the disk, its files, or what is gone
    commit [SESSION] [TURN]     commit what an agent changed to your git
    blame [HASH] PATH           who wrote each line, and for which prompt
    test -- COMMAND             run a test, and note how it ended
    bisect -- COMMAND           the first state at which it fails
    review [SESSION]            on the terminal: accept what changed, or take
                                it back

From one machine to another:
    export HASH                 write a checkpoint to stdout, as a git bundle
    import                      take one from stdin
    push REMOTE                 send all to a git repository
    fetch REMOTE                bring from there what others sent
    resume SESSION              go on with a session, also of another machine

For agents:
    run COMMAND                 run it with checkpoints around it
    setup AGENT                 connect a coding agent: undo inside it
    hook AGENT                  called by the agent: record what it does
    acp AGENT                   record an agent that an editor starts
    mcp                         offer checkpoints and undo to a model
    serve                       answer over HTTP; a page for the browser

Room and health:
    gc                          drop old checkpoints, pack the others
    du                          what the stores of all projects take
    doctor                      look for what is wrong, and mend it
    verify                      check that the history is whole and says what
                                it said
    purge PATH...               take files out of the whole history
    seal                        encrypt the store until it is needed
    unseal                      open a store that was sealed
    adopt OLD-DIR               take over the store of a moved project
    config                      which settings are in force, and who decided

And also:
    completion bash|zsh|fish    the completion script of a shell
    version                     which cairn this is
    help [COMMAND]              this text, or all about one command

HASH is the id that track prints (a tree: it names the newest checkpoint with
these files), the id of a checkpoint (a commit), a unique prefix of either of
at least 4 digits, @ for the newest checkpoint, @~N for the Nth before it,
@green for the newest whose tests passed, or a name that pin gave. PATH counts
from the current directory, may be absolute, and must lie inside the root. Where
cairn prints paths they count from the root, but for patch, whose paths are
absolute.

Options of every command:
    -C, --directory DIR      act as if started in DIR
    --root DIR               the directory to look after, whatever is around it
    --data-dir DIR           where stores lie; see below
    --json                   answer in JSON; errors, too, as {"error": ...} on
                             the last line of stderr
    --max-file-size SIZE     leave out larger files: bytes, or with K, M or G;
                             0 means no limit (default 32M)
    --min-free SIZE          leave that much free on the disk of the store
                             (default 1G; 0 means none)
    --lock-timeout DURATION  how long to wait for another cairn, as in 5s or 2m;
                             0 means one try (default 30s)
    --no-server              do the work here, even if cairn serve is running
    -q, --quiet              errors and warnings only: no remarks, no progress,
                             no lists of what was done
    -v, --verbose            long lists as a whole; without it they are cut, and
                             their number is said
    --color[=WHEN]           colours as git's: always, never, or auto, which is
                             meant without it: on a terminal
    --hyperlink[=WHEN]       paths of files on disk are links: always, never, or
                             auto, which is meant without it: on a terminal that
                             is known to show them
    --no-pager               print the whole answer at once, also on a terminal
    -h, --help               all about a command

Environment:
    NO_COLOR             unless empty: no colours, but with --color
    CLICOLOR_FORCE       unless empty or 0: colours without a terminal, too
    FORCE_HYPERLINK      0: no links, else links without a terminal, too
    CLICOLOR             0: no colours; so with TERM=dumb
    CAIRN_PAGER, PAGER   the first that is set shows long answers on a terminal:
                         those of log, diff, show, blame, grep, operations,
                         help, and session list, show and diff; empty or cat:
                         none; without both: less. JSON and agents have none
    CAIRN_DATA_DIR       where stores lie, unless --data-dir says; else cairn in
                         $XDG_DATA_HOME; else ~/.local/share/cairn, on macOS
                         ~/Library/Application Support/cairn, on Windows cairn
                         in %LocalAppData%
    CAIRN_MAX_FILE_SIZE  as --max-file-size; so for every setting that cairn
                         help config lists
    CAIRN_NO_BACKGROUND  unless empty, 0 or false: start nothing in the
                         background that was not asked for, such as a cleaning
    CAIRN_NO_SERVER      unless empty, 0 or false: as --no-server
    GIT_DIR              an absolute path: the git repository of a work tree
                         that has no .git. It counts for directories in the work
                         tree that GIT_WORK_TREE, an absolute path, names, or
                         else its core.worktree

Other variables of git (GIT_INDEX_FILE and so on) change nothing.

The answer goes to stdout, everything else to stderr. A path in the answer that
holds control characters, quotes or backslashes is printed in double quotes, as
git does; with -z paths are raw and end in NUL. In JSON a byte of a path that is
not UTF-8 is written as U+0000 and its two hex digits, and read back so.

Exit status:
    0  done
    1  failed
    2  wrong usage: nothing was tried
    3  done, but look: paths that could not be read, were kept or are in
       conflict are listed
    4  no such checkpoint or path, or nothing to undo
    5  verify: the history is not as it was recorded
    6  files hold secrets, and secrets = "refuse"
    7  the store is sealed, and was not opened
    130  interrupted
`

func (c *Program) rootCommand() *cobra.Command {
	var version bool
	root := c.Command(Command{
		Use: "cairn", Short: "checkpoints of a directory", Manual: manual,
		Run: func(context.Context, *cobra.Command, []string) error {
			if version {
				return c.printVersion()
			}
			io.WriteString(c.Console.Writer(), manual)
			return &usageError{"", "no command given"}
		},
	})
	root.Args = nil // the parser then knows an unknown command from an argument
	root.SilenceErrors, root.SilenceUsage, root.DisableSuggestions = true, true, true
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.DisableDefaultCmd = true
	root.Flags().BoolVar(&version, "version", false, "which cairn this is")
	c.globalFlags(root.PersistentFlags())
	for _, dir := range []string{"directory", "root", dataDirFlag} {
		if err := root.MarkPersistentFlagDirname(dir); err != nil {
			panic("internal error: " + err.Error())
		}
	}
	for _, when := range []string{"color", "hyperlink"} {
		CompleteFlag(root, when, console.Auto, console.Always, console.Never)
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { c.Out.WriteString(cmd.Long) })
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if cmd == root {
			return &usageError{"", unknownFlag(cmd, err)}
		}
		return &usageError{cmd.Name(), ": " + unknownFlag(cmd, err)}
	})
	return root
}

func (c *Program) globalFlags(f *pflag.FlagSet) {
	g := &c.Global
	f.StringVarP(&g.Directory, "directory", "C", "", "act as if started in this directory")
	f.StringVar(&g.Root, "root", "", "the directory to look after")
	f.StringVar(&g.DataDir, dataDirFlag, "", "where stores lie")
	f.BoolVar(&g.JSON, "json", false, "answer in JSON")
	f.Var(&g.MaxFileSize, "max-file-size", "leave out larger files")
	f.Var(&g.MinFree, "min-free", "leave that much free on the disk of the store")
	f.DurationVar(&g.LockTimeout, "lock-timeout", 0, "how long to wait for another cairn")
	f.BoolVar(&g.NoServer, "no-server", false, "do not use a server that is running")
	f.BoolVarP(&g.Verbose, "verbose", "v", false, "long lists as a whole")
	f.Var(&g.Color, "color", "colours: auto, always or never")
	f.Lookup("color").NoOptDefVal = console.Always
	f.Var(&g.Hyperlink, "hyperlink", "links: auto, always or never")
	f.Lookup("hyperlink").NoOptDefVal = console.Always
	f.BoolVar(&g.NoPager, "no-pager", false, "the whole answer at once")
	f.BoolVarP(&g.Quiet, "quiet", "q", false, "errors and warnings only")
}

const helpManual = `cairn help prints the manual, or all about one command.

Usage:
    cairn help [COMMAND]
    cairn help --man DIR

cairn COMMAND --help prints the same.

Options:
    --man DIR  write the same texts as manual pages to DIR, which is made if
               need be: cairn.1, and one for each command, such as
               cairn-track.1

Examples:
    cairn help restore
    cairn help --man ~/.local/share/man/man1
    man cairn-restore
`

func (c *Program) helpCommand() *cobra.Command {
	var man string
	help := c.Command(Command{
		Use: "help", Short: "the manual, or all about one command", Manual: helpManual,
		Args: ArgCount(0, 1, "at most one COMMAND"),
		Complete: func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			for _, cmd := range c.Root.Commands() {
				if len(args) == 0 && !cmd.Hidden && strings.HasPrefix(cmd.Name(), typed) {
					names = append(names, cobra.CompletionWithDesc(cmd.Name(), cmd.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		Run: func(_ context.Context, cmd *cobra.Command, args []string) error {
			switch {
			case cmd.Flags().Changed("man") && len(args) > 0:
				return c.Usage("writes the pages of all commands with --man")
			case cmd.Flags().Changed("man"):
				return c.writeManPages(man)
			case len(args) == 0:
				_, err := c.Out.WriteString(manual)
				return err
			}
			for _, cmd := range c.Root.Commands() {
				if cmd.Name() == args[0] {
					_, err := c.Out.WriteString(cmd.Long)
					return err
				}
			}
			return &usageError{"", c.unknownCommand(args[0], "no command "+args[0])}
		},
	})
	help.Flags().StringVar(&man, "man", "", "write manual pages to this directory")
	if err := help.MarkFlagDirname("man"); err != nil {
		panic("internal error: " + err.Error())
	}
	c.Root.SetHelpCommand(help)
	return help
}
