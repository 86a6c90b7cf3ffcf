package hooks

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// gitPart is the type of the part that tells what a step did to HEAD, to the branch and
// to the stash. cairn changes nothing in .git, so going back leaves them where they are.
const gitPart = "git"

// position reads where git stands, nil where there is no repository.
func (h *hook) position() *git.Position {
	if h.root == "" {
		return nil
	}
	repo, err := git.FindNamed(h.root, h.namedGit)
	if err != nil || repo == nil || repo.Top == "" {
		return nil
	}
	p := repo.Position()
	return &p
}

// moved is the part of a step that moved git, if it did.
func (h *hook) moved(w *work) []session.Part {
	from, to := w.Git, h.position()
	if from == nil || to == nil || *from == *to {
		return nil
	}
	was, err1 := json.Marshal(from)
	is, err2 := json.Marshal(to)
	if err1 != nil || err2 != nil {
		return nil
	}
	return []session.Part{{ID: w.Step + "/git", Type: gitPart, Meta: map[string]string{"from": string(was), "to": string(is)}}}
}

// reverted lists the messages that are taken back.
func (h *hook) reverted(ctx context.Context) map[string]bool {
	history, err := h.history(ctx)
	if err != nil {
		return nil // the undo is done; only the lines about git are missing
	}
	return h.revertedIn(history)
}

func (h *hook) revertedIn(history []session.Message) map[string]bool {
	if h.root == "" {
		return nil
	}
	list := make(map[string]bool)
	for i := range history {
		if history[i].Reverted {
			list[history[i].ID] = true
		}
	}
	return list
}

// gitStays names the moves of HEAD, branch and stash that an undo has left, and the
// commands that take them back. before are the messages that were taken back earlier.
func (h *hook) gitStays(ctx context.Context, before map[string]bool) string {
	now := h.position()
	if now == nil || before == nil {
		return ""
	}
	history, err := h.history(ctx)
	if err != nil {
		return ""
	}
	var from, to *git.Position
	for i := range history {
		m := &history[i]
		if !m.Reverted || before[m.ID] {
			continue
		}
		for s := range m.Steps {
			for _, p := range m.Steps[s].Parts {
				var was, is git.Position
				if p.Type != gitPart || json.Unmarshal([]byte(p.Meta["from"]), &was) != nil || json.Unmarshal([]byte(p.Meta["to"]), &is) != nil {
					continue
				}
				if from == nil {
					from = &was
				}
				to = &is
			}
		}
	}
	if from == nil {
		return ""
	}
	return wayBack(*from, *to, *now)
}

// wayBack is the text about git after an undo, "" if git stands where it stood before.
// The commands move HEAD, the branch and the index and touch no file: the files are back
// already.
func wayBack(from, to, now git.Position) string {
	var what, how []string
	if from.Under != now.Under && now.Under != "" {
		what, how = append(what, "a "+now.Under+" is under way"), append(how, "git "+now.Under+" --quit")
	}
	switch {
	case from.Branch == now.Branch && from.Commit == now.Commit:
	case from.Branch != now.Branch && from.Branch != "":
		what = append(what, "HEAD was on "+from.Branch+" and is on "+place(now))
		how = append(how, "git symbolic-ref HEAD refs/heads/"+wording.ShellWord(from.Branch))
		if from.Commit != "" {
			how = append(how, "git reset "+short(from.Commit))
		}
	case from.Branch != now.Branch:
		what, how = append(what, "HEAD was at "+short(from.Commit)+" and is on "+place(now)), append(how, "git update-ref --no-deref HEAD "+short(from.Commit), "git reset")
	case from.Commit == "":
		what, how = append(what, "the first commit was made"), append(how, "git update-ref -d HEAD")
	default:
		what = append(what, place(from)+" was at "+short(from.Commit)+" and is at "+short(now.Commit))
		how = append(how, "git reset "+short(from.Commit))
	}
	switch {
	case from.Stash == now.Stash:
	case from.Stash == "" || now.Stash == to.Stash && now.Stash != "":
		what, how = append(what, "a stash was made"), append(how, "git stash drop")
	default:
		what, how = append(what, "a stash was taken"), append(how, "git stash store -m 'taken by an agent' "+short(from.Stash))
	}
	if len(what) == 0 {
		return ""
	}
	return "git stays as the agent left it: " + strings.Join(what, ", ") + "; this takes it back: " + strings.Join(how, " && ")
}

func place(p git.Position) string {
	if p.Branch == "" {
		return "commit " + short(p.Commit)
	}
	return p.Branch
}

func short(commit string) string { return commit[:min(len(commit), 12)] }
