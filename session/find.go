package session

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Newest is the id that means the session that was changed last. Newest+"~1" means the one that
// was changed last before it, and so on.
const Newest = "@"

// Find returns the id of the session that spec names. A spec is the whole id, or else
// Newest, alone or with ~N, or else a prefix that one id alone has. The error wraps
// cairn.ErrNotFound or cairn.ErrAmbiguous.
func (s *Sessions) Find(ctx context.Context, spec string) (string, error) {
	all, err := s.named(ctx)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(all, func(d digest) bool { return d.ID == spec }) {
		return spec, nil
	}
	if n, ok := newestBut(spec); ok {
		return s.newestBut(ctx, n)
	}
	var found []choice
	for i := range all {
		if d := &all[i]; spec != "" && strings.HasPrefix(d.ID, spec) {
			found = append(found, choice{d.ID, d.title()})
		}
	}
	return pick("session "+name(spec), found)
}

// newestBut reads Newest, alone or with ~N.
func newestBut(spec string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(spec, Newest+"~")
	if spec == Newest {
		return 0, true
	}
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0
}

// newestBut returns the id of the session that was changed last but n.
func (s *Sessions) newestBut(ctx context.Context, n int) (string, error) {
	list, err := s.List(ctx)
	switch {
	case err != nil:
		return "", err
	case len(list) == 0:
		return "", notFound("no session yet")
	case n >= len(list):
		return "", notFound("session @~%d: there are only %d", n, len(list))
	}
	return list[n].ID, nil
}

// choice is one of the things that a name could mean.
type choice struct{ id, title string }

// shownChoices is the number of choices that an error lists.
const shownChoices = 4

// pick returns the only choice. The error about several ones lists them by their titles.
func pick(what string, found []choice) (string, error) {
	slices.SortFunc(found, func(a, b choice) int { return strings.Compare(a.id, b.id) })
	switch len(found) {
	case 0:
		return "", notFound("%s", what)
	case 1:
		return found[0].id, nil
	}
	var list []string
	for _, c := range found[:min(len(found), shownChoices)] {
		text := name(c.id)
		if c.title != "" {
			text += ` "` + wording.FirstLine(c.title, titleColumns) + `"`
		}
		list = append(list, text)
	}
	text := strings.Join(list, " or ")
	if more := len(found) - len(list); more > 0 {
		text += fmt.Sprintf(" or one of %d more", more)
	}
	return "", fmt.Errorf("%w: %s could be %s (give more of the id)", cairn.ErrAmbiguous, what, text)
}

// Place is the spec of a session by its index in the answer of List.
func Place(index int) string {
	if index == 0 {
		return Newest
	}
	return Newest + "~" + strconv.Itoa(index)
}
