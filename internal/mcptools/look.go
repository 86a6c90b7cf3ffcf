package mcptools

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/sessiontext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const (
	usualList = 20  // checkpoints or operations unless more are asked for
	maxList   = 200 // list entries in one answer

	usualDiff = 64 << 10 // bytes of patches in one answer unless more are asked for
	maxDiff   = 4 << 20
)

func (t *tools) addReadOnly(s *mcp.Server) {
	add(s, &mcp.Tool{
		Name: "checkpoints", Description: "List the checkpoints of the working directory, newest first.",
		Annotations: readOnly("List checkpoints"),
	}, t.checkpoints)
	add(s, &mcp.Tool{
		Name: "operations", Description: "List what was restored, reverted, undone and redone, newest first.",
		Annotations: readOnly("List operations"),
	}, t.operations)
	add(s, &mcp.Tool{
		Name: "diff", Description: "Show what changed between two checkpoints, or between a checkpoint and the files as they are now.",
		Annotations: readOnly("Show changes"),
	}, t.diff)
	add(s, &mcp.Tool{
		Name: "preview", Description: "List exactly what a restore, revert, undo or redo would do, without doing it. " +
			"The answer has a plan id: give it to the tool of that name, with the same arguments, to do exactly this or nothing.",
		Annotations: readOnly("Preview going back"),
	}, t.preview)
}

type listArgs struct {
	Limit int `json:"limit,omitempty" jsonschema:"how many at most: 20 unless given, 200 at most"`
}

func (a listArgs) limit() (int, error) {
	switch {
	case a.Limit < 0:
		return 0, fmt.Errorf("%w: limit %d is below 0", errArguments, a.Limit)
	case a.Limit == 0:
		return usualList, nil
	}
	return min(a.Limit, maxList), nil
}

type checkpoint struct {
	Hash       string    `json:"hash" jsonschema:"names the state: equal states have equal hashes"`
	Checkpoint string    `json:"id" jsonschema:"names this checkpoint, which is also a hash to go back to"`
	When       time.Time `json:"time"`
	Author     string    `json:"author" jsonschema:"who made the changes since the checkpoint before"`
	Message    string    `json:"message"`

	Passed *bool         `json:"passed,omitempty" jsonschema:"whether its tests passed; the tool tests lists the results"`
	Work   *session.Work `json:"work,omitempty" jsonschema:"what an agent did there: prompt, tools with their commands, paths; changed counts the paths"`
}

type checkpointList struct {
	Checkpoints []checkpoint `json:"checkpoints"`
	More        bool         `json:"more" jsonschema:"there are older ones"`
}

func (t *tools) checkpoints(ctx context.Context, args listArgs) (out checkpointList, text string, err error) {
	limit, err := args.limit()
	if err != nil {
		return out, "", err
	}
	return t.listed(ctx, t.sessions.Checkpoints(ctx, session.LogOptions{}), limit, "no checkpoint yet; the tool track takes one")
}

// listed lists the first checkpoints of a sequence.
func (t *tools) listed(
	ctx context.Context, seq iter.Seq2[session.LogEntry, error], limit int, nothing string,
) (out checkpointList, text string, err error) {
	out.Checkpoints = []checkpoint{}
	var lines strings.Builder
	passed := answers.Verdicts(ctx, t.repo)
	for c, err := range seq {
		if err != nil {
			return out, "", err
		}
		if out.More = len(out.Checkpoints) == limit; out.More {
			break
		}
		out.Checkpoints = append(out.Checkpoints, checkpoint{c.Hash, c.ID, c.When, c.Author, c.Message, passed(c.ID), c.Work})
		t.writeCheckpoint(ctx, &lines, c.Checkpoint, c.Work)
	}
	return out, listText(&lines, out.More, nothing), nil
}

// writeCheckpoint adds a checkpoint to a list: of an agent's work, agent and prompt in the
// first line, tools and files below it.
func (t *tools) writeCheckpoint(ctx context.Context, b *strings.Builder, c *cairn.Checkpoint, w *session.Work) {
	who, message := t.heading(ctx, c, w)
	fmt.Fprintf(b, "%s  %s  %s: %s\n", c.Hash, c.When.Format(time.DateTime), oneLine(who), oneLine(message))
	if w != nil && c.Author == session.AuthorAgent {
		writeDid(b, w)
	}
}

// heading names the author of the changes since the checkpoint before, and the prompt.
func (t *tools) heading(ctx context.Context, c *cairn.Checkpoint, w *session.Work) (who, what string) {
	message := sessiontext.Message(ctx, t.sessions, c.Message, w)
	if w == nil {
		return c.Author, message
	}
	return wording.Heading(c.Author == session.AuthorAgent, c.Author, message, w.Agent, w.Prompt)
}

// writeWork adds an agent's work to a list, line by line.
func writeWork(b *strings.Builder, w *session.Work) {
	if w == nil {
		return
	}
	if who := strings.Join(wording.Wrap(workWidth, w.Agent, w.Prompt), " "); who != "" {
		b.WriteString("    " + wording.FirstLine(who, workWidth) + "\n")
	}
	writeDid(b, w)
}

// writeDid adds the tools and the files of a step.
func writeDid(b *strings.Builder, w *session.Work) {
	calls, paths := []string{}, []string{}
	for _, call := range w.Calls {
		calls = append(calls, call.String())
	}
	for _, path := range w.Paths {
		paths = append(paths, pathtext.Quote(path))
	}
	for _, line := range wording.Did(workWidth, wording.ByModel(w.Model, calls), paths, w.Changed) {
		b.WriteString("    " + strings.ToValidUTF8(line, "\uFFFD") + "\n")
	}
}

const workWidth = 96 // characters of a line about work

type operation struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind" jsonschema:"restore, revert, unrevert, undo or redo"`
	When      time.Time `json:"time"`
	Target    string    `json:"target,omitempty" jsonschema:"checkpoint that it went back to"`
	Undoes    string    `json:"undoes,omitempty" jsonschema:"operation that it took back"`
	Before    string    `json:"before" jsonschema:"checkpoint with everything that was overwritten or deleted"`
	Paths     int       `json:"paths" jsonschema:"how many it changed"`
	Kept      int       `json:"kept"`
	Conflicts int       `json:"conflicts"`
}

type operationList struct {
	Operations []operation `json:"operations"`
	More       bool        `json:"more" jsonschema:"there are older ones"`
}

func (t *tools) operations(ctx context.Context, args listArgs) (out operationList, text string, err error) {
	limit, err := args.limit()
	if err != nil {
		return out, "", err
	}
	out.Operations = []operation{}
	var lines strings.Builder
	for op, err := range t.repo.Operations(ctx) {
		if err != nil {
			return out, "", err
		}
		if out.More = len(out.Operations) == limit; out.More {
			break
		}
		out.Operations = append(out.Operations, operation{
			op.ID, op.Kind, op.When, op.Target, op.Undoes, op.Before, len(op.Paths), len(op.Kept), len(op.Conflicts),
		})
		fmt.Fprintf(&lines, "%s  %s  %s, %s%s\n", op.ID, op.When.Format(time.DateTime), oneLine(op.Kind), wording.Count(len(op.Paths), "path"),
			strings.ToValidUTF8(wording.FirstPaths(workWidth, op.Paths, pathtext.Quote), "\uFFFD"))
	}
	return out, listText(&lines, out.More, "nothing was restored, reverted or undone yet"), nil
}

func listText(lines *strings.Builder, more bool, nothing string) string {
	switch {
	case lines.Len() == 0:
		return nothing
	case more:
		lines.WriteString("there are older ones; limit raises the number\n")
	}
	return lines.String()
}

type diffArgs struct {
	From    string   `json:"from,omitempty" jsonschema:"hash of a checkpoint; the newest one unless given"`
	To      string   `json:"to,omitempty" jsonschema:"hash of a checkpoint; the files as they are now unless given"`
	Paths   []string `json:"paths,omitempty" jsonschema:"only these files and directories"`
	HunkIDs bool     `json:"hunkIDs,omitempty" jsonschema:"name each place of a file, for revert; the name is behind a # in its header"`
	sizeArgs
}

// sizeArgs limit an answer.
type sizeArgs struct {
	NoText   bool `json:"noText,omitempty" jsonschema:"only list files and count lines"`
	MaxBytes int  `json:"maxBytes,omitempty" jsonschema:"of patches in the answer: 65536 unless given, 4194304 at most"`
}

func (a *sizeArgs) limit() int {
	if a.MaxBytes <= 0 {
		return usualDiff
	}
	return min(a.MaxBytes, maxDiff)
}

type fileDiff struct {
	File      string `json:"file"`
	Status    string `json:"status" jsonschema:"added, modified or deleted"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Note      string `json:"note,omitempty" jsonschema:"binary or too large: no lines are compared"`
}

type diffAnswer struct {
	Files    []fileDiff `json:"files"`
	Patch    string     `json:"patch,omitempty" jsonschema:"as git prints it"`
	Omitted  int        `json:"omitted" jsonschema:"listed files whose patch did not fit"`
	Unlisted int        `json:"unlisted" jsonschema:"files for which there was no room at all"`
}

func (t *tools) diff(ctx context.Context, args diffArgs) (out diffAnswer, text string, err error) {
	within, err := paths(args.Paths)
	if err != nil {
		return out, "", err
	}
	from := cmp.Or(args.From, "@")
	if err := t.repo.CheckPaths(ctx, within, from, args.To); err != nil {
		return out, "", err
	}
	opt, patch := cairn.DiffOptions{Hunks: args.HunkIDs}, func(d *cairn.FileDiff) string { return d.Patch }
	if args.HunkIDs {
		patch = namedPatch
	}
	return list(t.repo.DiffFull(ctx, from, args.To, opt, within...), &args.sizeArgs, "paths", patch)
}

// list puts as many files and patches into an answer as there is room for. narrow names the
// arguments that narrow it down.
func list(
	diffs iter.Seq2[cairn.FileDiff, error], size *sizeArgs, narrow string,
	patchOf func(*cairn.FileDiff) string,
) (out diffAnswer, text string, err error) {
	out.Files = []fileDiff{}
	var patches, lines strings.Builder
	for d, err := range diffs {
		if err != nil {
			return out, "", err
		}
		if len(out.Files) == maxPaths {
			out.Unlisted++
			continue
		}
		out.Files = append(out.Files, fileDiff{pathtext.Encode(string(d.File)), string(d.Status), d.Additions, d.Deletions, d.Note})
		fmt.Fprintf(&lines, "%s %s +%d -%d %s\n", d.Status, pathtext.Quote(string(d.File)), d.Additions, d.Deletions, d.Note)
		if size.NoText {
			continue
		}
		if patch := patchOf(&d); patches.Len()+len(patch) <= size.limit() {
			patches.WriteString(patch)
		} else {
			out.Omitted++
		}
	}
	out.Patch = strings.ToValidUTF8(patches.String(), "\uFFFD")
	return out, out.text(lines.String(), narrow), nil
}

func (a *diffAnswer) text(list, narrow string) string {
	text := list + "\n" + a.Patch
	switch {
	case len(a.Files) == 0:
		return "nothing changed"
	case a.Omitted > 0:
		text += fmt.Sprintf("without the patches of %s; %s narrows it down\n", wording.Count(a.Omitted, "file"), narrow)
	}
	if a.Unlisted > 0 {
		text += fmt.Sprintf("not listed: %s; %s narrows it down\n", wording.Count(a.Unlisted, "more file"), narrow)
	}
	return strings.TrimSuffix(text, "\n")
}

// oneLine keeps a foreign text on its line.
func oneLine(text string) string {
	line, _, more := strings.Cut(strings.ToValidUTF8(text, "\uFFFD"), "\n")
	if more {
		line += " ..."
	}
	return line
}
