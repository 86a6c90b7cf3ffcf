package look

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
)

const grepManual = `cairn grep searches files, those of a checkpoint, and what is gone.

Usage:
    cairn grep [-i] [-w] [-F] [-v] [-n] [-l | -c] [-A N] [-B N] [-C N]
               PATTERN [HASH] [-- PATH...]
    cairn grep --deleted [OPTIONS] PATTERN [-- PATH...]

Each line that matches is printed after its path, which counts from the current
directory. Without a HASH the files are those on disk that a checkpoint holds or
would hold, below the current directory or the PATHs. With a HASH they are those
of that checkpoint, and the HASH stands before each path. PATTERN is a regular
expression in the syntax of RE2, as git grep -E takes it. Of a binary file only
the path is printed. Symlinks are left out.

With --deleted only lines that some checkpoint has and that no file on disk has
now. Each line of a path is printed once, after the newest checkpoint that has
it, the newest checkpoint first: cairn cat HASH PATH shows the file.

Options:
    --deleted                 lines that are gone from disk
    -i, --ignore-case         upper and lower case are the same
    -w, --word-regexp         only whole words
    -F, --fixed-strings       PATTERN is a text and no regular expression
    -E, --extended-regexp     PATTERN is a regular expression, as it is anyway
    -v, --invert-match        the lines that do not match
    -n, --line-number         the number of each line, too
    -l, --files-with-matches  only the paths
    -c, --count               only the paths and how many lines match
    -A, --after-context N     also N lines after each, with - for : before them
    -B, --before-context N    also N lines before each
    -C, --context N           both

As in git, -v and -C stand for --verbose and --directory before the word grep,
and for these options after it.

With --json the answer is an array of {"path", "line", "text"}, with -l of
{"path"} and with -c of {"path", "lines"}; paths count from the root. "line" is
left out for a binary file. With --deleted there is also "checkpoint".

The status is 4 if nothing matches.

Examples:
    cairn grep -n 'func main'
    cairn grep TODO @~3 -- src
    cairn grep --deleted -n parseTime
`

type grepFlags struct {
	ignoreCase, word, fixed, extended, invert bool
	number, list, count, deleted              bool
	after, before, around                     int
}

func (c *commands) grepCommand() *cobra.Command {
	var f grepFlags
	cmd := c.Command(cli.Command{
		Use: "grep PATTERN [HASH]", Short: "search files, on disk or of a checkpoint", Manual: grepManual,
		Args: cli.ArgCount(1, -1, "a PATTERN, and may have a HASH; paths go after --"),
		Complete: func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return c.CompleteDiff(cmd, args[1:], typed)
		},
		Run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			words, paths := args, []string{"."}
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				words, paths = args[:n], args[n:]
			}
			if len(words) < 1 || len(words) > 2 || len(paths) == 0 {
				return c.Usage("wants a PATTERN, and may have a HASH; paths go after --")
			}
			return c.grep(ctx, &f, words, paths)
		},
	})
	flags := cmd.Flags()
	flags.BoolVar(&f.deleted, "deleted", false, "lines that are gone from disk")
	flags.BoolVarP(&f.ignoreCase, "ignore-case", "i", false, "regardless of case")
	flags.BoolVarP(&f.word, "word-regexp", "w", false, "only whole words")
	flags.BoolVarP(&f.fixed, "fixed-strings", "F", false, "PATTERN is a text")
	flags.BoolVarP(&f.extended, "extended-regexp", "E", false, "PATTERN is a regular expression")
	flags.BoolVarP(&f.invert, "invert-match", "v", false, "lines that do not match")
	flags.BoolVarP(&f.number, "line-number", "n", false, "number of each line")
	flags.BoolVarP(&f.list, "files-with-matches", "l", false, "only the paths")
	flags.BoolVarP(&f.count, "count", "c", false, "how many lines match")
	flags.IntVarP(&f.after, "after-context", "A", 0, "lines after each")
	flags.IntVarP(&f.before, "before-context", "B", 0, "lines before each")
	flags.IntVarP(&f.around, "context", "C", 0, "lines around each")
	// The same names without letters take the place of the options of every command.
	flags.BoolVar(&c.Global.Verbose, "verbose", false, "long lists as a whole")
	flags.StringVar(&c.Global.Directory, "directory", "", "act as if started in this directory")
	return cmd
}

func (f *grepFlags) check(c *commands, words []string) error {
	around := f.after != 0 || f.before != 0 || f.around != 0
	switch {
	case f.list && f.count:
		return c.Usage("gives either -l or -c")
	case f.deleted && (f.invert || len(words) > 1):
		return c.Usage("gives --deleted without -v and without a HASH")
	case f.after < 0 || f.before < 0 || f.around < 0:
		return c.Usage("cannot print fewer than 0 lines around a match")
	case around && c.Global.JSON:
		return c.Usage("prints lines around a match in text only: not with --json")
	case f.fixed && f.extended:
		return c.Usage("gives either -F or -E")
	}
	return nil
}

func (c *commands) grep(ctx context.Context, f *grepFlags, words, args []string) error {
	if err := f.check(c, words); err != nil {
		return err
	}
	pattern, err := cairn.ParsePattern(words[0], cairn.PatternOptions{IgnoreCase: f.ignoreCase, Fixed: f.fixed, Word: f.word})
	if err != nil {
		return c.Usage("cannot read the pattern: %v", err)
	}
	opt := cairn.GrepOptions{Invert: f.invert, Deleted: f.deleted}
	if len(words) == 2 {
		if opt.At = words[1]; opt.At == "" {
			return c.Usage("got an empty HASH")
		}
	}
	if opt.Paths, err = c.Paths(args); err != nil {
		return err
	}
	return c.WithRepo(func(repo *cairn.Repo) error {
		p := grepPrinter{
			commands: c, f: f, pattern: pattern, paint: c.Palette(), at: opt.At, array: c.NewArray(),
			listed: make(map[string]bool),
		}
		if p.below, err = c.directoryIn(repo); err != nil {
			return err
		}
		for file, err := range repo.Grep(ctx, pattern, opt) {
			if err == nil {
				err = p.file(file)
			}
			if err != nil {
				return err
			}
		}
		return p.end()
	})
}

// directoryIn returns the current directory relative to the root.
func (c *commands) directoryIn(repo *cairn.Repo) (string, error) {
	dir, err := c.WorkDir()
	if err != nil {
		return "", err
	}
	return filepath.Rel(repo.Root(), dir)
}
