package webui

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"

	"github.com/seed-fb9cbc17/cairn"
)

// counts sums up a change for one line of a list.
type counts struct {
	Files      int
	Names      []string // of the first files
	Add, Del   int      // lines, of text files
	Incomplete bool     // there are more lines than were counted
	Gone       bool     // a checkpoint has been cleaned away
}

// Rest is how many files there are besides the names.
func (c *counts) Rest() int { return c.Files - len(c.Names) }

// Limits of what is counted for one line of a list: a first look at a hundred large
// steps has to be quick, too. The page of the step itself counts everything.
const (
	countedFiles = 20
	countedBytes = 256 << 10 // a file's size
	namedFiles   = 3
	countsKept   = 20000 // a counts takes about 300 bytes
)

// countCache remembers counts. States never change, so it is never wrong; when it is
// full it begins anew.
type countCache struct {
	mu    sync.Mutex
	known map[string]*counts
}

func newCountCache() *countCache { return &countCache{known: make(map[string]*counts)} }

func (c *countCache) of(ctx context.Context, p *Project, from, to string) (*counts, error) {
	key := p.ID + from + to
	c.mu.Lock()
	known := c.known[key]
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	fresh, err := countChanges(ctx, p.Repo, from, to)
	if errors.Is(err, cairn.ErrNotFound) {
		return &counts{Gone: true}, nil
	}
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= countsKept {
		clear(c.known)
	}
	c.known[key] = fresh
	return fresh, nil
}

func countChanges(ctx context.Context, repo Repo, from, to string) (*counts, error) {
	list, err := repo.Changes(ctx, from, to)
	if err != nil {
		return nil, err
	}
	sum := &counts{Files: len(list), Incomplete: len(list) > countedFiles}
	for i := range list[:min(len(list), countedFiles)] {
		if i < namedFiles {
			sum.Names = append(sum.Names, list[i].Path)
		}
		add, del, note, err := repo.Stat(&list[i], cairn.DiffOptions{MaxFileSize: countedBytes})
		if err != nil {
			return nil, err
		}
		sum.Add += add
		sum.Del += del
		sum.Incomplete = sum.Incomplete || note == "too large"
	}
	return sum, nil
}

// hash is a short name for a text of any bytes.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
