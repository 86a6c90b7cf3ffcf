package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

// maxAsked bounds how many sessions are read for a hint.
const maxAsked = 10

// withTurn adds to "nothing to undo" which turn of an agent can be taken back, and how:
// after an agent's turn there is no restore or revert, which cairn undo takes back.
func (c *cli) withTurn(ctx context.Context, repo *cairn.Repo, err error) error {
	if !errors.Is(err, cairn.ErrNotFound) || !strings.Contains(err.Error(), "nothing to undo") {
		return err
	}
	all := session.New(repo)
	list, lerr := all.List(ctx)
	if lerr != nil {
		return err
	}
	slices.SortFunc(list, func(a, b *session.Session) int { return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(b.ID, a.ID)) })
	for _, s := range list[:min(len(list), maxAsked)] {
		if s.Parent != "" {
			continue // goes back with the session that called it
		}
		if turn := c.newestTurn(ctx, all, s); turn != "" {
			return fmt.Errorf("%w: %s can be taken back: cairn session undo %s", err, turn, shellWord(s.ID))
		}
	}
	return err
}

// newestTurn names what session undo would take back, "" for nothing.
func (c *cli) newestTurn(ctx context.Context, all *session.Sessions, s *session.Session) string {
	history, err := all.History(ctx, s.ID)
	if err != nil {
		return ""
	}
	for _, m := range slices.Backward(history) {
		files := make(map[string]bool)
		for _, step := range m.Steps {
			for _, file := range step.Patch.Files {
				files[file] = true
			}
		}
		if m.Reverted || len(files) == 0 {
			continue
		}
		prompt, _, _ := strings.Cut(strings.TrimSpace(m.Prompt), "\n")
		what := "the newest turn of " + printable(cmp.Or(s.Meta["agent"], "session "+s.ID))
		if prompt != "" {
			what += fmt.Sprintf(", %s,", printable(fmt.Sprintf("%q", firstRunes(prompt, 60))))
		}
		return fmt.Sprintf("%s (%s, %s)", what, wording.Count(len(files), "file"), ageText(c.console.now().Sub(m.Created)))
	}
	return ""
}

func firstRunes(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return text
}
