package hooks

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/process"
	"github.com/seed-fb9cbc17/cairn/session"
)

// The owner of a step is the agent, not the hook, which is gone after a moment. The agent is above
// the hook, but not always its parent: agents start hooks through a shell, or through programs of
// their own. A process above two calls of one session is above all of them. So each call leaves the
// line of processes above it to the next one, and the nearest process in both lines is the agent.
// The first call of a session has nothing to compare with: there names have to do, and two
// processes are taken, because a step that is taken for dead loses the writes of its tool.

// passing are programs that start others, and are not the agent.
const passing = ` sh bash dash zsh ksh mksh fish ash busybox env timeout nice nohup setsid sudo time cairn
	cmd.exe powershell.exe pwsh pwsh.exe conhost.exe cairn.exe `

// lasting are programs that outlive every agent. The line of a call ends below the
// first of them.
const lasting = ` systemd init launchd tini dumb-init docker-init catatonit s6-svscan runsvdir
	explorer.exe services.exe svchost.exe wininit.exe `

func listed(list, program string) bool {
	return slices.Contains(strings.Fields(list), strings.ToLower(program))
}

// unconfirmed is the number of processes that own a step while only one call of the
// session is known.
const unconfirmed = 2

// lineAbove lists the processes above this one.
func lineAbove() []process.Relative { return process.Line(os.Getppid()) }

// meetAgent finds out which process the agent is. If the agent of the earlier calls is
// gone, its open step ends, because no further event will end it.
func (h *hook) meetAgent(ctx context.Context, line []process.Relative) error {
	if h.turn.ownerDied() {
		h.turn.Left = ""
		if err := h.finishAll(ctx); err != nil {
			return err
		}
	}
	h.turn.meet(line, h.kind == sessionBegin)
	return nil
}

// meet compares the line above a call with the line of the earlier calls.
func (t *turn) meet(line []process.Relative, afresh bool) {
	if end := slices.IndexFunc(line, func(r process.Relative) bool { return listed(lasting, r.Name) }); end >= 0 {
		line = line[:end]
	}
	ids := make([]process.ID, len(line))
	for i := range line {
		ids[i] = line[i].ID
	}
	if !afresh {
		common := slices.IndexFunc(ids, func(id process.ID) bool { return slices.Contains(t.Line, id) })
		if common >= 0 {
			t.Line, t.Owner = ids[common:], ids[common:common+1]
			t.prefer(line[common:])
			return
		}
	}
	t.Line, t.Owner = ids, nil
	for i := range line {
		if !listed(passing, line[i].Name) && len(t.Owner) < unconfirmed {
			t.Owner = append(t.Owner, ids[i])
		}
	}
}

// prefer passes over a shell that stays between the agent and its hooks.
func (t *turn) prefer(line []process.Relative) {
	for i := range line {
		if !listed(passing, line[i].Name) {
			t.Owner = []process.ID{line[i].ID}
			return
		}
	}
}

// ownerDied reports whether the agent of the calls before is gone.
func (t *turn) ownerDied() bool {
	return len(t.Owner) > 0 && !slices.ContainsFunc(t.Owner, func(id process.ID) bool { return id.State() != process.Dead })
}

// owner is the owner of a step that begins now.
func (t *turn) owner() *session.Owner {
	o := &session.Owner{}
	for _, id := range t.Owner {
		o.Processes = append(o.Processes, session.Process(id))
	}
	return o
}
