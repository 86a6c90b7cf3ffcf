package main

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/console"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

const grepManual = `cairn grep searches the files of a checkpoint.

Usage:
    cairn grep [-i] [-w] [-F] [-n] [-l | -c] PATTERN [HASH] [-- PATH...]

Each line that matches is printed after its path, and after the HASH if there is
one; without it the newest checkpoint is searched. PATTERN is a regular
expression. Of a binary file only the path is printed. Symlinks are left out.

Options:
    -i, --ignore-case         upper and lower case are the same
    -w, --word-regexp         only whole words
    -F, --fixed-strings       PATTERN is a text and no regular expression
    --invert-match            the lines that do not match
    -n, --line-number         the number of each line, too
    -l, --files-with-matches  only the paths
    -c, --count               only the paths and how many lines match

With --json the answer is an array of {"path", "line", "text"}, with -l of
{"path"} and with -c of {"path", "lines"}. "line" is left out for a binary file.

The status is 4 if nothing matches.

Examples:
    cairn grep -n 'func main'
    cairn grep TODO @~3 -- src
`

type grepFlags struct {
	ignoreCase, word, fixed, invert bool
	number, list, count             bool
}

func (c *cli) grepCommand() *cobra.Command {
	var f grepFlags
	cmd := c.command(command{
		use: "grep PATTERN [HASH]", short: "search the files of a checkpoint", manual: grepManual,
		args: argCount(1, -1, "a PATTERN, and may have a HASH; paths go after --"),
		complete: func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return c.completeDiff(cmd, args[1:], typed)
		},
		run: func(ctx context.Context, cmd *cobra.Command, args []string) error {
			words, paths := args, []string{"."}
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				words, paths = args[:n], args[n:]
			}
			if len(words) < 1 || len(words) > 2 || len(paths) == 0 {
				return c.usage("wants a PATTERN, and may have a HASH; paths go after --")
			}
			return c.grep(ctx, &f, words, paths)
		},
	})
	flags := cmd.Flags()
	flags.BoolVarP(&f.ignoreCase, "ignore-case", "i", false, "regardless of case")
	flags.BoolVarP(&f.word, "word-regexp", "w", false, "only whole words")
	flags.BoolVarP(&f.fixed, "fixed-strings", "F", false, "PATTERN is a text")
	flags.BoolVar(&f.invert, "invert-match", false, "lines that do not match")
	flags.BoolVarP(&f.number, "line-number", "n", false, "number of each line")
	flags.BoolVarP(&f.list, "files-with-matches", "l", false, "only the paths")
	flags.BoolVarP(&f.count, "count", "c", false, "how many lines match")
	return cmd
}

// pattern compiles the PATTERN of a command line.
func (f *grepFlags) pattern(c *cli, text string) (*regexp.Regexp, error) {
	if f.fixed {
		text = regexp.QuoteMeta(text)
	}
	if f.word {
		text = `\b(?:` + text + `)\b`
	}
	if f.ignoreCase {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, c.usage("cannot read the pattern: %v", err)
	}
	return re, nil
}

// grepRun is one call.
type grepRun struct {
	*cli
	ctx   context.Context
	repo  *cairn.Repo
	f     *grepFlags
	re    *regexp.Regexp
	id    string // of the checkpoint
	lead  string // before each path
	paint console.Palette
	array jsonArray
	found bool
}

func (c *cli) grep(ctx context.Context, f *grepFlags, words, args []string) error {
	if f.list && f.count {
		return c.usage("gives either -l or -c")
	}
	re, err := f.pattern(c, words[0])
	if err != nil {
		return err
	}
	paths, err := c.paths(args)
	if err != nil {
		return err
	}
	return c.withRepo(func(repo *cairn.Repo) error {
		r := grepRun{cli: c, ctx: ctx, repo: repo, f: f, re: re, paint: c.palette(), array: jsonArray{c: c}}
		spec := "@"
		if len(words) == 2 {
			spec, r.lead = words[1], words[1]+":"
		}
		cp, err := repo.Lookup(ctx, spec)
		if err != nil {
			return err
		}
		r.id = cp.ID
		for _, path := range paths {
			if err := r.below(path); err != nil {
				return err
			}
		}
		if c.global.json {
			if err := r.array.close(); err != nil {
				return err
			}
		}
		if !r.found {
			return errAbsent
		}
		return nil
	})
}

func (r *grepRun) below(path string) error {
	if path == r.repo.Root() {
		path = ""
	}
	for e, err := range r.repo.List(r.ctx, r.id, path) {
		if err == nil && object.Mode(e.Mode).IsFile() {
			err = r.file(&e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file searches one file.
func (r *grepRun) file(e *cairn.TreeEntry) error {
	_, file, err := r.repo.OpenFile(r.ctx, r.id, e.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	binary := bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0
	n, number := 0, 0
	for line := range bytes.Lines(content) {
		number++
		line = bytes.TrimSuffix(line, []byte{'\n'})
		if r.re.Match(line) == r.f.invert {
			continue
		}
		if n++; r.f.list || r.f.count || binary {
			continue
		}
		if err := r.line(e.Path, number, line); err != nil {
			return err
		}
	}
	if n == 0 {
		return nil
	}
	r.found = true
	return r.summary(e.Path, n, binary)
}

// grepLine is one line of the answer in JSON.
type grepLine struct {
	Path  cairn.Path `json:"path"`
	Line  int        `json:"line,omitempty"`
	Text  *string    `json:"text,omitempty"`
	Lines int        `json:"lines,omitempty"`
}

// name is the name of a file as git grep prints it.
func (r *grepRun) name(path string) string {
	return r.pathLink(path, r.paint.Paint(console.Magenta, r.lead+pathtext.Quote(path)))
}

func (r *grepRun) line(path string, number int, line []byte) error {
	if r.global.json {
		text := string(line)
		return r.array.add(grepLine{Path: cairn.Path(path), Line: number, Text: &text})
	}
	colon := r.paint.Paint(console.Cyan, ":")
	r.out.WriteString(r.name(path) + colon)
	if r.f.number {
		r.out.WriteString(r.paint.Paint(console.Green, strconv.Itoa(number)) + colon)
	}
	r.out.WriteString(r.paint.Matches(line, r.re, r.fileText))
	return r.out.WriteByte('\n')
}

// summary prints the count or the name of a file with n matches.
func (r *grepRun) summary(path string, n int, binary bool) error {
	answer := grepLine{Path: cairn.Path(path)}
	text := r.name(path)
	switch {
	case r.f.list:
	case r.f.count:
		answer.Lines = n
		text += r.paint.Paint(console.Cyan, ":") + strconv.Itoa(n)
	case binary:
		text = "Binary file " + text + " matches"
	default:
		return nil
	}
	if r.global.json {
		return r.array.add(answer)
	}
	_, err := r.out.WriteString(text + "\n")
	return err
}
