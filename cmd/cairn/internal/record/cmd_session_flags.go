package record

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/goback"
)

// sessionFlags are the flags of all verbs; each verb has some of them.
type sessionFlags struct {
	message, turn, part, role, prompt, title, parent             string
	steps, paths, meta, further                                  []string
	start, restore, endOpen, async, gone, ids, hunkIDs, reverted bool
	thisRoot, outside                                            bool
	owner                                                        int
	lease                                                        time.Duration
	policy                                                       string
	plan                                                         goback.PlanFlags
	hunks                                                        goback.HunkFlags
	git                                                          goback.GitFlags
	conversation                                                 bool
}

func (f *sessionFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	for _, text := range []struct {
		to         *string
		name, what string
	}{
		{&f.message, "message", "a message"}, {&f.turn, "turn", "a turn"}, {&f.part, "part", "a part of a message"},
		{&f.role, "role", "of a new message"}, {&f.prompt, "prompt", "of a new message"}, {&f.title, "title", "of the session"},
		{&f.parent, "parent", "session that this one is a sub-agent of"},
	} {
		flags.StringVar(text.to, text.name, "", text.what)
		if text.to != &f.message {
			cli.CompleteFlag(cmd, text.name)
		}
	}
	flags.StringArrayVar(&f.steps, stepFlag, nil, "a step")
	flags.StringArrayVar(&f.paths, "path", nil, "what the step's tools change; of revert: only these")
	flags.StringArrayVar(&f.meta, "meta", nil, "KEY=TEXT to be kept")
	flags.BoolVar(&f.async, "async", false, "of step begin: print a ticket, work in the background")
	flags.BoolVar(&f.gone, "gone", false, "of step end: its agent is gone")
	flags.IntVar(&f.owner, "owner", 0, "process whose step it is")
	flags.DurationVar(&f.lease, "lease", 0, "how long a step counts as running after the last event")
	cli.CompleteFlag(cmd, "owner")
	cli.CompleteFlag(cmd, "lease")
	flags.BoolVar(&f.start, "start", false, "before the first message")
	flags.BoolVar(&f.restore, "restore", false, "bring the root to the point of the fork")
	flags.BoolVar(&f.endOpen, "end-open", false, "end a step that is still open")
	flags.BoolVar(&f.thisRoot, goback.ThisRootFlag, false, "only in this directory, of several")
	goback.RegisterOutside(cmd, &f.outside)
	flags.StringArrayVar(&f.further, "add-dir", nil, "of begin: another directory that the session works in")
	flags.BoolVar(&f.ids, "ids", false, "also ids")
	flags.BoolVar(&f.hunkIDs, goback.HunkIDsFlag, false, "of diff: name the hunks")
	flags.BoolVar(&f.reverted, revertedFlag, false, "of diff: what the reverts in effect took back")
	flags.BoolVar(&f.conversation, goback.ConversationFlag, false, "of undo and revert: the agent's conversation goes back, too")
	f.hunks.Register(cmd)
	goback.RegisterPolicy(cmd, &f.policy)
	f.plan.Register(cmd)
	f.git.Register(cmd)
}
