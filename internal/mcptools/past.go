package mcptools

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const (
	usualFound = 200  // lines in one answer unless more are asked for
	maxFound   = 2000 // lines in one answer
)

func (t *tools) addPast(s *mcp.Server) {
	add(s, &mcp.Tool{
		Name: "blame", Description: "Tell who wrote each line of a file: the user or which agent, for which prompt, and when.",
		Annotations: readOnly("Who wrote a line"),
	}, t.blame)
	add(s, &mcp.Tool{
		Name: "log", Description: "List the checkpoints that changed some paths, a text, or belong to a prompt or session, newest first.",
		Annotations: readOnly("Search the history"),
	}, t.log)
	add(s, &mcp.Tool{
		Name: "grep", Description: "Find lines of files as they are now, at a checkpoint, or lines that are gone from all files.",
		Annotations: readOnly("Search files"),
	}, t.grep)
	add(s, &mcp.Tool{
		Name: "show", Description: "Tell what one checkpoint or one turn of a session changed, who did it and for which prompt.",
		Annotations: readOnly("Show a checkpoint or turn"),
	}, t.show)
}

// lineLimit reads how many lines an answer may have.
func lineLimit(n int) (int, error) {
	if n < 0 {
		return 0, fmt.Errorf("%w: limit %d is below 0", errArguments, n)
	}
	return min(cmp.Or(n, usualFound), maxFound), nil
}

type blameArgs struct {
	Path    string `json:"path" jsonschema:"the file"`
	Hash    string `json:"hash,omitempty" jsonschema:"checkpoint that holds the file; the file as it is now unless given"`
	Lines   string `json:"lines,omitempty" jsonschema:"START,END with numbers from 1; either may be left out"`
	Deleted bool   `json:"deleted,omitempty" jsonschema:"also lines that are no longer there; the file may be gone"`
	Limit   int    `json:"limit,omitempty" jsonschema:"how many lines at most: 200 unless given, 2000 at most"`
}

func (t *tools) blame(ctx context.Context, args blameArgs) (out *answers.Blame, text string, err error) {
	limit, err := lineLimit(args.Limit)
	if err != nil {
		return nil, "", err
	}
	within, err := paths([]string{args.Path})
	if err != nil {
		return nil, "", err
	}
	b, err := t.sessions.Blame(ctx, within[0], cairn.BlameOptions{At: args.Hash, Deleted: args.Deleted})
	if err != nil {
		return nil, "", err
	}
	if out, err = answers.LinesOfBlame(b, args.Lines, limit); err != nil {
		return nil, "", fmt.Errorf("%w: %w", errArguments, err)
	}
	var list strings.Builder
	for _, l := range out.Lines {
		fmt.Fprintf(&list, "%d  %s  %s\n", l.Line, wrote(&out.Origins[l.Origin]), valid(l.Text))
	}
	for _, d := range out.Deleted {
		fmt.Fprintf(&list, "-  %s; deleted by %s  %s\n", wrote(&out.Origins[d.Origin]), wrote(&out.Origins[d.By]), valid(d.Text))
	}
	nothing := "the file has no lines"
	if len(b.Lines) > 0 {
		nothing = fmt.Sprintf("the file has no such lines; its last one is %d", len(b.Lines))
	}
	return out, linesText(&list, out.More, nothing), nil
}

// wrote says who made a change.
func wrote(o *session.BlameOrigin) string {
	who, when := o.Author, "not captured yet"
	if o.Work != nil {
		who = cmp.Or(o.Work.Agent, who)
		if o.Work.Prompt != "" {
			who += ": " + wording.FirstLine(o.Work.Prompt, workWidth)
		}
	}
	if o.Checkpoint != "" {
		when = o.When.Format(time.DateTime)
	}
	return "[" + oneLine(who) + ", " + when + "]"
}

func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// linesText ends a list of lines.
func linesText(list *strings.Builder, more bool, nothing string) string {
	switch {
	case list.Len() == 0:
		return nothing
	case more:
		list.WriteString("there are more lines; limit raises the number\n")
	}
	return list.String()
}

type logArgs struct {
	listArgs
	Paths   []string `json:"paths,omitempty" jsonschema:"that change these files or directories"`
	Grep    string   `json:"grep,omitempty" jsonschema:"regular expression that the prompt or the message matches"`
	Text    string   `json:"text,omitempty" jsonschema:"a file contains this text more or less often than before"`
	Session string   `json:"sessionID,omitempty" jsonschema:"of this session, or one whose id begins so"`
	Since   string   `json:"since,omitempty" jsonschema:"not older than this time, as 2026-01-31T15:04:05Z"`
	Until   string   `json:"until,omitempty" jsonschema:"not newer than this time"`
}

// options reads the arguments of log.
func (a *logArgs) options() (opt session.LogOptions, err error) {
	opt.Session, opt.LogOptions.Text = a.Session, a.Text
	if opt.Paths, err = paths(a.Paths); err != nil {
		return opt, err
	}
	if a.Grep != "" {
		if opt.Text, err = regexp.Compile(a.Grep); err != nil {
			return opt, fmt.Errorf("%w: grep is no regular expression: %s", errArguments, a.Grep)
		}
	}
	for _, at := range []struct {
		text string
		to   *time.Time
	}{{a.Since, &opt.Since}, {a.Until, &opt.Until}} {
		if at.text == "" {
			continue
		}
		if *at.to, err = time.Parse(time.RFC3339, at.text); err != nil {
			return opt, fmt.Errorf("%w: %q is no time as 2026-01-31T15:04:05Z", errArguments, at.text)
		}
	}
	return opt, nil
}

func (t *tools) log(ctx context.Context, args logArgs) (out checkpointList, text string, err error) {
	limit, err := args.limit()
	if err != nil {
		return out, "", err
	}
	opt, err := args.options()
	if err != nil {
		return out, "", err
	}
	return t.listed(ctx, t.sessions.Checkpoints(ctx, opt), limit, "no checkpoint is like that")
}

type grepArgs struct {
	Pattern    string   `json:"pattern" jsonschema:"regular expression of RE2"`
	Fixed      bool     `json:"fixed,omitempty" jsonschema:"the pattern is a text"`
	IgnoreCase bool     `json:"ignoreCase,omitempty" jsonschema:"upper and lower case are the same"`
	Word       bool     `json:"word,omitempty" jsonschema:"only whole words"`
	Invert     bool     `json:"invert,omitempty" jsonschema:"the lines that do not match"`
	Hash       string   `json:"hash,omitempty" jsonschema:"checkpoint to search; the files as they are now unless given"`
	Paths      []string `json:"paths,omitempty" jsonschema:"only these files and directories"`
	Deleted    bool     `json:"deleted,omitempty" jsonschema:"lines that a checkpoint has and no file has now"`
	Limit      int      `json:"limit,omitempty" jsonschema:"how many lines at most: 200 unless given, 2000 at most"`
}

func (t *tools) grep(ctx context.Context, args grepArgs) (out *answers.Grep, text string, err error) {
	limit, err := lineLimit(args.Limit)
	if err != nil {
		return nil, "", err
	}
	if args.Pattern == "" || args.Deleted && (args.Hash != "" || args.Invert) {
		return nil, "", fmt.Errorf("%w: want a pattern, and deleted without hash and invert", errArguments)
	}
	pattern, err := cairn.ParsePattern(args.Pattern, cairn.PatternOptions{IgnoreCase: args.IgnoreCase, Fixed: args.Fixed, Word: args.Word})
	if err != nil {
		return nil, "", fmt.Errorf("%w: the pattern is no regular expression: %w", errArguments, err)
	}
	opt := cairn.GrepOptions{At: args.Hash, Invert: args.Invert, Deleted: args.Deleted}
	if opt.Paths, err = paths(args.Paths); err != nil {
		return nil, "", err
	}
	if out, err = answers.GrepLines(ctx, t.repo, pattern, opt, limit); err != nil {
		return nil, "", err
	}
	var list strings.Builder
	for _, l := range out.Lines {
		if l.Checkpoint != "" {
			list.WriteString(l.Checkpoint + ":")
		}
		fmt.Fprintf(&list, "%s:%d:%s\n", pathtext.Quote(string(l.Path)), l.Line, l.Text)
	}
	return out, linesText(&list, out.More, "no line matches"), nil
}

type showArgs struct {
	Of    string   `json:"of,omitempty" jsonschema:"a hash, a session, or SESSION:TURN with a number, @ for the newest, or the id of a message; the newest checkpoint unless given"`
	Paths []string `json:"paths,omitempty" jsonschema:"only these files and directories"`
	sizeArgs
}

type showAnswer struct {
	*answers.Shown
	diffAnswer
}

func (t *tools) show(ctx context.Context, args showArgs) (out showAnswer, text string, err error) {
	within, err := paths(args.Paths)
	if err != nil {
		return out, "", err
	}
	if out.Shown, err = answers.Show(ctx, t.repo, t.sessions, cmp.Or(args.Of, "@"), within); err != nil {
		return out, "", err
	}
	patch := func(d *cairn.FileDiff) string { return d.Patch }
	out.diffAnswer, text, err = list(t.repo.FileDiffs(ctx, out.Changes, cairn.DiffOptions{}), &args.sizeArgs, "paths", patch)
	if err != nil {
		return out, "", err
	}
	return out, headOf(out.Shown) + text, nil
}

// headOf is the text above the difference.
func headOf(s *answers.Shown) string {
	what := "checkpoint " + s.ID
	if s.ID == "" {
		what = fmt.Sprintf("turn %d of %s", s.Number, s.Title)
	}
	who := cmp.Or(s.Agent, s.Author, session.AuthorAgent)
	text := fmt.Sprintf("%s  %s  %s\n", oneLine(what), s.Time.Format(time.DateTime), oneLine(who))
	if said := cmp.Or(s.Prompt, s.Message); said != "" {
		text += "    " + oneLine(said) + "\n"
	}
	for _, call := range s.Calls {
		text += "    [" + wording.FirstLine(call.String(), workWidth) + "]\n"
	}
	return text + "\n"
}
