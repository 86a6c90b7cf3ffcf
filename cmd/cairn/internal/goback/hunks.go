package goback

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// HunkFlag, LinesFlag and AskFlag choose parts of files.
const HunkFlag, LinesFlag, AskFlag = "hunk", "lines", "patch"

// HunkFlags choose parts of files.
type HunkFlags struct {
	ids, lines []string
	Ask        bool
}

// Register adds the flags to a command.
func (f *HunkFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.ids, HunkFlag, nil, "take back these hunks only")
	cmd.Flags().StringArrayVar(&f.lines, LinesFlag, nil, "take back the changes of these lines only")
	cmd.Flags().BoolVarP(&f.Ask, AskFlag, "p", false, "ask hunk by hunk")
	cli.CompleteFlag(cmd, HunkFlag)
}

// Any reports whether a flag was given.
func (f *HunkFlags) Any() bool { return f.Ask || len(f.ids)+len(f.lines) > 0 }

// Options puts the chosen hunks and lines into the options of a revert.
func (f *HunkFlags) Options(c *Dialog, opt *cairn.RevertOptions) (err error) {
	if f.Ask && (len(f.ids)+len(f.lines) > 0 || opt.Plan != "" || c.Global.JSON) {
		return c.Usage("asks with -p alone, without --hunk, --lines, --plan and --json")
	}
	opt.Hunks = f.ids
	for _, text := range f.lines {
		l, err := c.linesOf(text)
		if err != nil {
			return err
		}
		opt.Lines = append(opt.Lines, l)
	}
	return nil
}

// linesOf parses PATH:N or PATH:FROM-TO. The path counts from the current directory.
func (c *Dialog) linesOf(text string) (l cairn.LineRange, err error) {
	at := strings.LastIndexByte(text, ':')
	first, last, isRange := strings.Cut(text[at+1:], "-")
	if !isRange {
		last = first
	}
	l.From, err = strconv.Atoi(first)
	if err == nil {
		l.To, err = strconv.Atoi(last)
	}
	if at <= 0 || err != nil || l.From < 1 || l.To < l.From {
		return l, c.Usage("cannot use --lines %s: want PATH:10-20 or PATH:10", wording.ShellWord(text))
	}
	paths, err := c.Paths([]string{text[:at]})
	if err == nil {
		l.Path = paths[0]
	}
	return l, err
}

// askHelp has the words for what y does.
const askHelp = `y  %[1]s this hunk %[2]s
n  leave it
a  %[1]s it and all later hunks of the file %[2]s
d  leave it and all later hunks of the file
q  leave it and all that follow; the ones said yes to go %[2]s
`

// asker asks about hunks, as git checkout -p does. It writes to stderr, because stdout has the
// answer of the command.
type asker struct {
	in    *bufio.Reader
	out   io.Writer
	word  string // "take" or "bring" a hunk
	where string // "back" or "in"

	chosen []string
	asked  bool
	quit   bool
}

// AskHunks shows the hunks of files one by one and returns the names of the chosen ones. word says
// what becomes of these: "take back", "bring back" or "bring in". Where there is no hunk, the names are nil.
func (c *Dialog) AskHunks(ctx context.Context, word string, files iter.Seq2[cairn.FileDiff, error]) ([]string, error) {
	word, where, _ := strings.Cut(word, " ")
	a := asker{in: bufio.NewReader(cli.InterruptibleReader(ctx, c.Stdin)), out: c.Console.Questions(), word: word, where: where}
	for d, err := range files {
		if err == nil {
			err = a.file(&d)
		}
		if err != nil {
			return nil, err
		}
		if a.quit {
			break
		}
	}
	if a.asked && a.chosen == nil {
		a.chosen = []string{}
	}
	return a.chosen, ctx.Err() // an interrupt is no answer
}

// NoteChosen reports whether AskHunks has returned a hunk. If so, the flags name the hunks in the place of the
// question, for the line that carries out a plan.
func (c *Dialog) NoteChosen(cmd *cobra.Command, ids []string, verb string) bool {
	if len(ids) == 0 {
		why := "no hunk was chosen"
		if ids == nil {
			why = "there is no hunk"
		}
		c.Console.Remark("nothing to %s: %s", verb, why)
		return false
	}
	cmd.Flags().Set(AskFlag, "false")
	cmd.Flags().Set(HunkFlag, strings.Join(ids, ","))
	return true
}

func (a *asker) file(d *cairn.FileDiff) error {
	for i := range d.Hunks {
		a.asked = true
		answer, err := a.about(d, i)
		if err != nil {
			return err
		}
		switch answer {
		case "y":
			a.chosen = append(a.chosen, d.Hunks[i].ID)
		case "a":
			for _, h := range d.Hunks[i:] {
				a.chosen = append(a.chosen, h.ID)
			}
			return nil
		case "d":
			return nil
		case "q":
			a.quit = true
			return nil
		}
	}
	return nil
}

// about shows a hunk and reads the answer. The end of the input counts as q.
func (a *asker) about(d *cairn.FileDiff, i int) (string, error) {
	if err := a.show(d, &d.Hunks[i]); err != nil {
		return "", err
	}
	for {
		fmt.Fprintf(a.out, "(%d/%d) %s this hunk %s [y,n,q,a,d,?]? ", i+1, len(d.Hunks), strings.ToUpper(a.word[:1])+a.word[1:], a.where)
		line, err := a.in.ReadString('\n')
		answer := strings.ToLower(strings.TrimSpace(line))
		if answer != "" && strings.Contains("ynqad", answer) && len(answer) == 1 {
			return answer, nil
		}
		if err != nil { // the end of the input, or an interrupt, which the context reports
			fmt.Fprintln(a.out)
			return "q", nil
		}
		fmt.Fprintf(a.out, askHelp, a.word, a.where)
	}
}

// show prints a hunk. Its control characters are visible: a terminal would obey them, and hide lines that the answer
// is about.
func (a *asker) show(d *cairn.FileDiff, h *cairn.Hunk) error {
	var text bytes.Buffer
	if h.Whole {
		text.WriteString(h.Header + "\n")
	} else if err := h.Write(&text); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "%s\n%s", wording.Visible(pathtext.Quote(string(d.File))), wording.VisibleLines(text.String()))
	return err
}

// HunkIDsFlag asks for the names of hunks.
const HunkIDsFlag = "hunk-ids"
