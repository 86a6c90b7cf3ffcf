package httpapi

import (
	"context"
	"iter"
	"net/http"
	"regexp"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/session"
)

// maxShown is the size in bytes of the differences in one answer.
const maxShown = 8 << 20

// inBlame names a file whose lines are asked about.
type inBlame struct {
	InProject
	Path        string `query:"path" maxLength:"16384" required:"true" minLength:"1" doc:"From the root, or absolute inside it; its bytes, percent-encoded."`
	Hash        string `query:"hash" maxLength:"200" doc:"A hash; by default the disk."`
	Lines       string `query:"lines" maxLength:"50" doc:"START,END with numbers from 1; either may be left out."`
	Deleted     bool   `query:"deleted" doc:"Also lines that are no longer there; the file may be gone."`
	IgnoreSpace bool   `query:"ignoreSpace" doc:"A line stays the same if only blanks in it change."`
	Limit       int    `query:"limit" minimum:"1" maximum:"100000" default:"10000" doc:"How many lines at most."`
}

// inLog selects checkpoints.
type inLog struct {
	InProject
	Paged
	Path       []string  `query:"path,explode" maxItems:"1000" doc:"That change these paths or what is below them."`
	Grep       string    `query:"grep" maxLength:"1000" doc:"A regular expression that the prompt or the message matches."`
	IgnoreCase bool      `query:"ignoreCase" doc:"With grep: upper and lower case are the same."`
	Text       string    `query:"S" maxLength:"10000" doc:"A file contains this text more or less often than before."`
	Since      time.Time `query:"since" doc:"Not older."`
	Until      time.Time `query:"until" doc:"Not newer."`
	Session    string    `query:"sessionID" maxLength:"200" doc:"Of this session; the beginning of an id will do."`
	Fetched    bool      `query:"fetched" doc:"Instead of this machine's those of others that a fetch has brought, and imported ones."`
}

// inGrep says what is searched.
type inGrep struct {
	InProject
	Pattern    string   `query:"pattern" maxLength:"1000" minLength:"1" required:"true" doc:"A regular expression of RE2."`
	Fixed      bool     `query:"fixed" doc:"The pattern is a text."`
	IgnoreCase bool     `query:"ignoreCase" doc:"Upper and lower case are the same."`
	Word       bool     `query:"word" doc:"Only whole words."`
	Invert     bool     `query:"invert" doc:"The lines that do not match."`
	Hash       string   `query:"hash" maxLength:"200" doc:"A hash; by default the disk."`
	Path       []string `query:"path,explode" maxItems:"1000" doc:"Only these paths and what is below them."`
	Deleted    bool     `query:"deleted" doc:"Lines that a checkpoint has and no file on disk has now."`
	Limit      int      `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"How many lines at most."`
}

// inShow names what is shown.
type inShow struct {
	InProject
	InContext
	Of          string   `query:"of" maxLength:"400" default:"@" doc:"A hash, a session, or SESSION:TURN with a number, @ or the id of a message."`
	Path        []string `query:"path,explode" maxItems:"1000" doc:"Only these paths and what is below them."`
	IgnoreSpace bool     `query:"ignoreSpace" doc:"Lines that differ in blanks only are equal."`
}

// ShowAnswer tells of a checkpoint or of a turn.
type ShowAnswer struct {
	answers.ShownDiffs
	More bool `json:"more" doc:"Not all differences fit in."`
}

func (s *Server) pastOperations() {
	onProject(s, endpoint{
		id: "blame", method: http.MethodGet, path: "/blame", tag: "past", summary: "Who wrote each line of a file",
		description: "Each line names a place in changes.",
	}, func(ctx context.Context, p *Project, in *inBlame) (out answers.Blame, err error) {
		b, err := p.Sessions.Blame(ctx, in.Path, cairn.BlameOptions{At: in.Hash, Deleted: in.Deleted, IgnoreSpace: in.IgnoreSpace})
		if err != nil {
			return out, err
		}
		cut, err := answers.LinesOfBlame(b, in.Lines, in.Limit)
		if err != nil {
			return out, badField("query.lines", in.Lines, err.Error())
		}
		return *cut, nil
	})
	onProject(s, endpoint{
		id: "log", method: http.MethodGet, path: "/log", tag: "past", summary: "Some checkpoints, newest first",
		description: "A change of a path is listed once, with the step that made it, else with the first checkpoint that has it.",
	}, logged)
	onProject(s, endpoint{
		id: "grep", method: http.MethodGet, path: "/grep", tag: "past", summary: "Lines of files that match, or that are gone",
	}, grepped)
	onProject(s, endpoint{
		id: "show", method: http.MethodGet, path: "/show", tag: "past", summary: "What a checkpoint or a turn changed, and why",
		description: "The difference is that from the checkpoint before on the line; the first of a line has none.",
	}, func(ctx context.Context, p *Project, in *inShow) (out ShowAnswer, err error) {
		shown, err := answers.Show(ctx, p.Repo.Repo, p.Sessions.stored.Sessions, in.Of, in.Path)
		if err != nil {
			return out, err
		}
		opt := in.options()
		opt.IgnoreSpace = in.IgnoreSpace
		with, all, err := shown.WithDiffs(ctx, p.Repo.Repo, opt, maxShown)
		if err != nil {
			return out, err
		}
		return ShowAnswer{*with, !all}, nil
	})
}

func logged(ctx context.Context, p *Project, in *inLog) (out CheckpointList, err error) {
	opt := session.LogOptions{Session: in.Session}
	opt.LogOptions = cairn.LogOptions{Paths: in.Path, Since: in.Since, Until: in.Until, Text: in.Text, Fetched: in.Fetched}
	if in.Grep != "" {
		text := in.Grep
		if in.IgnoreCase {
			text = "(?i)" + text
		}
		if opt.Text, err = regexp.Compile(text); err != nil {
			return out, badField("query.grep", in.Grep, "expected a regular expression")
		}
	}
	list, next, err := page(infos(p.Sessions.Checkpoints(ctx, opt), answers.Verdicts(ctx, p.Repo.Repo)), in.Paged, func(c *CheckpointInfo) string { return c.ID })
	out = CheckpointList{Checkpoints: []CheckpointInfo{}, Next: next}
	for _, info := range list {
		out.Checkpoints = append(out.Checkpoints, *info)
	}
	return out, err
}

// infos yields checkpoints with their work and the verdicts of their tests in the form of an answer.
func infos(seq iter.Seq2[session.LogEntry, error], passed func(id string) *bool) iter.Seq2[*CheckpointInfo, error] {
	return func(yield func(*CheckpointInfo, error) bool) {
		for e, err := range seq {
			var info *CheckpointInfo
			if err == nil {
				info = &CheckpointInfo{Checkpoint: *e.Checkpoint, Passed: passed(e.ID), Work: e.Work}
				info.Fetched, info.Imported = answers.From(e.Checkpoint)
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

func grepped(ctx context.Context, p *Project, in *inGrep) (out answers.Grep, err error) {
	switch {
	case in.Deleted && in.Hash != "":
		return out, badField("query.hash", in.Hash, "expected none beside deleted")
	case in.Deleted && in.Invert:
		return out, badField("query.invert", "true", "expected none beside deleted")
	}
	pattern, err := cairn.ParsePattern(in.Pattern, cairn.PatternOptions{IgnoreCase: in.IgnoreCase, Fixed: in.Fixed, Word: in.Word})
	if err != nil {
		return out, badField("query.pattern", in.Pattern, "expected a regular expression")
	}
	found, err := answers.GrepLines(ctx, p.Repo.Repo, pattern, cairn.GrepOptions{
		At: in.Hash, Paths: in.Path, Invert: in.Invert, Deleted: in.Deleted,
	}, in.Limit)
	if err != nil {
		return out, err
	}
	return *found, nil
}

// testOperations tell results of tests. No request runs a command.
func (s *Server) testOperations() {
	onProject(s, endpoint{
		id: "list-tests", method: http.MethodGet, path: "/tests", tag: "past", summary: "The results of tests, the oldest first",
		description: "The newest checkpoint at which a command passed and none failed is @green, which stands wherever a hash does.",
	}, func(ctx context.Context, p *Project, _ *InProject) ([]cairn.TestResult, error) {
		list, err := p.Repo.TestResults(ctx)
		return append([]cairn.TestResult{}, list...), err
	})
}
