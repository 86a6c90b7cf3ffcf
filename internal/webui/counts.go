package webui

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/seed-fb9cbc17/cairn"
)

// counts sums up a change for one line of a list.
type counts struct {
	Files     int
	Names     []string // of the first files
	Add, Del  int      // lines, of text files
	Uncounted bool     // the lines were not counted: there are too many files, or one is too large
	Gone      bool     // a checkpoint has been cleaned away
}

// Rest is the number of files that Names leaves out.
func (c *counts) Rest() int { return c.Files - len(c.Names) }

// countedFiles is the largest number of files whose lines a list counts. Nearly all
// steps are smaller. A larger step has no numbers of lines in a list, because numbers
// of some files alone would mislead. The page of the step counts all files.
const (
	countedFiles = 2000
	namedFiles   = 3
)

// countsOf sums up what differs between two states.
func (h *handler) countsOf(ctx context.Context, p *Project, from, to string) (*counts, error) {
	sum, err := h.counts.of(p, from, to, func() (*counts, error) { return countChanges(ctx, p.Repo, from, to) })
	if errors.Is(err, cairn.ErrNotFound) {
		return &counts{Gone: true}, nil
	}
	return sum, err
}

func countChanges(ctx context.Context, repo Repo, from, to string) (*counts, error) {
	list, err := repo.Changes(ctx, from, to)
	if err != nil {
		return nil, err
	}
	sum := &counts{Files: len(list), Uncounted: len(list) > countedFiles}
	for i := range list[:min(len(list), namedFiles)] {
		sum.Names = append(sum.Names, list[i].Path)
	}
	for i := 0; i < len(list) && !sum.Uncounted; i++ {
		add, del, note, err := repo.CountLines(&list[i], cairn.DiffOptions{})
		if err != nil {
			return nil, err
		}
		sum.Add += add
		sum.Del += del
		sum.Uncounted = note == "too large"
	}
	if sum.Uncounted {
		sum.Add, sum.Del = 0, 0
	}
	return sum, nil
}

// hash is a short name for a text of any bytes.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
