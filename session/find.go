package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
)

// Newest is the id that means the session that was changed last.
const Newest = "@"

// Find returns the id of the session that spec names. A spec is the whole id, or else
// Newest, or else a prefix that one id alone has. The error wraps cairn.ErrNotFound or
// cairn.ErrAmbiguous.
func (s *Sessions) Find(ctx context.Context, spec string) (string, error) {
	all, err := s.digests(ctx)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(all, func(d digest) bool { return d.ID == spec }) {
		return spec, nil
	}
	if spec == Newest {
		list, err := s.List(ctx)
		if err == nil && len(list) == 0 {
			err = notFound("no session yet")
		}
		if err != nil {
			return "", err
		}
		return list[0].ID, nil
	}
	var found []string
	for _, d := range all {
		if spec != "" && strings.HasPrefix(d.ID, spec) {
			found = append(found, d.ID)
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 0:
		return "", notFound("session %s", name(spec))
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%w: session %s could be %s or %s (give more of the id)", cairn.ErrAmbiguous, name(spec), name(found[0]), name(found[1]))
}
