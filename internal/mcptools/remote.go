package mcptools

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// addRemote adds the tools that speak with the remote of the working directory. No argument names a remote:
// a model that could would write to any path and any host.
func (t *tools) addRemote(s *mcp.Server) {
	add(s, &mcp.Tool{
		Name: "remote", Description: "Ask the remote of the working directory: how many checkpoints it lacks, and the machines, users and sessions that pushed there. " +
			"The remote is the one that the user pushed to last or has set.",
		Annotations: remote(readOnly("Look at the remote")),
	}, t.remote)
	add(s, &mcp.Tool{
		Name: "push", Description: "Send the checkpoints of the working directory to its remote. Nothing is deleted there. " +
			"The remote is the one that the user pushed to last or has set.",
		Annotations: remote(adds("Push checkpoints")),
	}, t.push)
	add(s, &mcp.Tool{
		Name: "fetch", Description: "Bring the checkpoints and sessions that other machines have pushed to the remote, or one session. " +
			"No file of the working directory changes; resume goes on with a session.",
		Annotations: remote(adds("Fetch checkpoints")),
	}, t.fetch)
	add(s, &mcp.Tool{
		Name: "resume", Description: "Go on with a session, also one of another machine: the files go to the state of its newest checkpoint. A session that is not here is fetched. " +
			"With dryRun it only lists what it would do and gives a plan id. Everything overwritten or deleted is saved first; undo takes it back.",
		Annotations: remote(destroys("Resume a session")),
	}, t.resume)
}

type remoteArgs struct {
	All bool `json:"all,omitempty" jsonschema:"list every project on the remote, not only this one"`
}

type remoteAnswer struct {
	answers.Remote
	Unlisted int `json:"unlisted" jsonschema:"further projects, stores and sessions for which there was no room"`
}

type pushed struct {
	Lines    cairn.Paths `json:"lines" jsonschema:"the remote did not have them in this state"`
	Unlisted int         `json:"unlisted" jsonschema:"further lines for which there was no room"`
}

type fetchArgs struct {
	Session string `json:"sessionID,omitempty" jsonschema:"only this session: an id, the beginning of one, or @ for the newest of another machine"`
}

type fetched struct {
	answers.Fetched
	Unlisted int `json:"unlisted" jsonschema:"further lines for which there was no room"`
}

type resumeArgs struct {
	Session string `json:"sessionID,omitempty" jsonschema:"id of the session, the beginning of one, or @ for the one that was changed last, which is the default"`
	Fetch   bool   `json:"fetch,omitempty" jsonschema:"fetch the session first, although it is here; @ is then the newest of another machine"`
	KeepNew bool   `json:"keepNew,omitempty" jsonschema:"leave alone what was created since"`
	planArgs
}

func (t *tools) remote(ctx context.Context, args remoteArgs) (out remoteAnswer, text string, err error) {
	about, err := answers.AboutRemote(ctx, t.repo, args.All)
	if err != nil {
		return out, "", err
	}
	out.Remote = *about
	out.Projects, out.Unlisted = boundProjects(about.Projects)
	var b strings.Builder
	fmt.Fprintf(&b, "%s lacks %s\n", wording.Printable(out.Status.Remote), wording.Count(out.Status.Behind, "checkpoint"))
	lines(&b, answers.RemoteLines(out.Projects), func(line string) string { return line })
	return out, strings.ToValidUTF8(strings.TrimSuffix(b.String(), "\n"), "\uFFFD"), nil
}

// boundProjects cuts projects, stores and sessions to what an answer has room for, and counts the rest.
func boundProjects(list []cairn.RemoteProject) (out []cairn.RemoteProject, unlisted int) {
	room := maxPaths
	take := func(n int) int {
		taken := min(room, n)
		room, unlisted = room-taken, unlisted+n-taken
		return taken
	}
	out = list[:take(len(list))]
	for i := range out {
		p := &out[i]
		p.Stores = p.Stores[:take(len(p.Stores))]
		for j := range p.Stores {
			p.Stores[j].Sessions = p.Stores[j].Sessions[:take(len(p.Stores[j].Sessions))]
		}
	}
	return out, unlisted
}

func (t *tools) push(ctx context.Context, _ struct{}) (out pushed, text string, err error) {
	list, err := t.repo.Push(ctx, "")
	if err != nil {
		return out, "", err
	}
	out.Lines = some(&out.Unlisted, list)
	return out, movedText("pushed", list), nil
}

func (t *tools) fetch(ctx context.Context, args fetchArgs) (out fetched, text string, err error) {
	out.Fetched, err = answers.Fetch(ctx, t.repo, "", args.Session)
	if err != nil {
		return out, "", err
	}
	text = movedText("fetched", out.Lines)
	out.Lines = some(&out.Unlisted, out.Lines)
	return out, text, nil
}

func movedText(verb string, list []string) string {
	if len(list) == 0 {
		return "nothing was " + verb + ": everything is there already"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", verb, wording.Count(len(list), "line"))
	lines(&b, list, pathtext.Quote)
	return strings.TrimSuffix(b.String(), "\n")
}

func (t *tools) resume(ctx context.Context, args resumeArgs) (outcome, string, error) {
	what := answers.Resuming{Spec: cmp.Or(args.Session, session.Newest), First: args.Fetch}
	id, err := answers.SessionToResume(ctx, t.repo, t.sessions, what)
	if err != nil {
		return outcome{}, "", err
	}
	return answer(t.sessions.Resume(ctx, id, cairn.RestoreOptions{KeepNew: args.KeepNew, DryRun: args.DryRun, Plan: args.Plan}))
}
