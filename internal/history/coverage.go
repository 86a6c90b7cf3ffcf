package history

import (
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// ScopeWithin limits a scope to the paths that a checkpoint of some paths holds.
func ScopeWithin(s *state.PathScope, m *state.Metadata, c *Checkpoint) (*state.PathScope, error) {
	if m.Partial != state.ExtentPaths {
		return s, nil
	}
	seen := state.NewPathScope(pathtext.Plain(m.Seen))
	if s == nil {
		return seen, nil
	}
	var paths []string
	for _, path := range s.Paths {
		switch {
		case seen.Covers(path):
			paths = append(paths, path)
		case !seen.Leads(path):
			return nil, state.NotFound("path %s at checkpoint %s, which looked only at some paths", path, c.Hash)
		default:
			for _, inside := range seen.Paths {
				if s.Covers(inside) {
					paths = append(paths, inside)
				}
			}
		}
	}
	return state.NewPathScope(paths), nil
}

// Extent says for how much of the root the checkpoint vouches.
// Comparisons and operations leave out its unread paths.
func (c *Checkpoint) Extent() (state.Extent, error) {
	m, err := MetadataOf(c)
	if err != nil {
		return "", err
	}
	return m.Partial, nil
}

// Seen lists the paths that a checkpoint of ExtentPaths holds, each with everything below it.
func (c *Checkpoint) Seen() ([]string, error) {
	m, err := MetadataOf(c)
	if err != nil {
		return nil, err
	}
	return pathtext.Plain(m.Seen), nil
}
