package diff

import (
	"cmp"
	"context"
	"path"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// FileChange is a change that may be a rename: then From is the path before, and the old side of the
// change is that of the source.
type FileChange struct {
	history.Change
	From       string // "" for any other change
	Similarity int    // in percent
}

// Limits of the search for renames with an edit: the number of files that disappeared and appeared,
// and their size in bytes.
const (
	maxRenames    = 200
	maxRenameSize = 4 << 20
	minScore      = maxScore / 2
	maxScore      = 60000
)

// Renames pairs deletions with additions as git diff -M does: first those with equal contents,
// files with the same name before others, then those of which half of the bytes are common, the
// most similar first.
func (r *Differ) Renames(ctx context.Context, list []history.Change) ([]FileChange, error) {
	p := &pairing{Differ: r, ctx: ctx, list: list, source: make(map[int]int), score: make(map[int]int), used: make(map[int]bool)}
	for i := range list {
		switch {
		case list[i].OldMode == 0 && object.Mode(list[i].NewMode) != object.Gitlink:
			p.made = append(p.made, i)
		case list[i].NewMode == 0 && object.Mode(list[i].OldMode) != object.Gitlink:
			p.gone = append(p.gone, i)
		}
	}
	p.exact()
	if err := p.similar(); err != nil {
		return nil, err
	}
	return p.result(), nil
}

// pairing is one search. Indexes are those of list.
type pairing struct {
	*Differ
	ctx        context.Context
	list       []history.Change
	gone, made []int
	source     map[int]int  // by the index of the addition: that of the deletion
	score      map[int]int  // of the pair, by the same
	used       map[int]bool // deletions
}

func (p *pairing) pair(gone, made, score int) {
	p.source[made], p.score[made], p.used[gone] = gone, score, true
}

// sameKind reports whether two sides are both files or both symlinks.
func (p *pairing) sameKind(gone, made int) bool {
	return object.Mode(p.list[gone].OldMode).IsFile() == object.Mode(p.list[made].NewMode).IsFile()
}

func (p *pairing) sameName(gone, made int) bool {
	return path.Base(p.list[gone].Path) == path.Base(p.list[made].Path)
}

// exact pairs equal contents.
func (p *pairing) exact() {
	byID := make(map[string][]int)
	for _, gone := range p.gone {
		byID[p.list[gone].OldID] = append(byID[p.list[gone].OldID], gone)
	}
	for _, made := range p.made {
		best := -1
		for _, gone := range byID[p.list[made].NewID] {
			if p.used[gone] || !p.sameKind(gone, made) {
				continue
			}
			if best < 0 || !p.sameName(best, made) && p.sameName(gone, made) {
				best = gone
			}
		}
		if best >= 0 {
			p.pair(best, made, maxScore)
		}
	}
}

// similar pairs the rest by the part of their bytes that they have in common.
func (p *pairing) similar() error {
	gone := slices.DeleteFunc(slices.Clone(p.gone), func(i int) bool { return p.used[i] || !object.Mode(p.list[i].OldMode).IsFile() })
	made := slices.DeleteFunc(slices.Clone(p.made), func(i int) bool {
		_, found := p.source[i]
		return found || !object.Mode(p.list[i].NewMode).IsFile()
	})
	if len(gone) == 0 || len(made) == 0 || len(gone) > maxRenames || len(made) > maxRenames {
		return nil
	}
	type match struct{ gone, made, score int }
	var matches []match
	chunks := make(map[string]chunked)
	for _, m := range made {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		is, err := p.chunked(chunks, history.NewEntry(&p.list[m]))
		if err != nil {
			return err
		}
		for _, g := range gone {
			was, err := p.chunked(chunks, history.OldEntry(&p.list[g]))
			if err != nil {
				return err
			}
			if score := was.score(is); score >= minScore {
				matches = append(matches, match{g, m, score})
			}
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int {
		return cmp.Or(b.score-a.score, named(p.sameName(b.gone, b.made))-named(p.sameName(a.gone, a.made)))
	})
	for _, m := range matches {
		if _, found := p.source[m.made]; !found && !p.used[m.gone] {
			p.pair(m.gone, m.made, m.score)
		}
	}
	return nil
}

func named(same bool) int {
	if same {
		return 1
	}
	return 0
}

// result is the list without the deletions that are halves of renames.
func (p *pairing) result() []FileChange {
	var out []FileChange
	for i := range p.list {
		c := FileChange{Change: p.list[i]}
		if p.used[i] {
			continue
		}
		if gone, ok := p.source[i]; ok {
			from := &p.list[gone]
			c.From, c.Similarity = from.Path, p.score[i]*100/maxScore
			c.OldMode, c.OldPerm, c.OldID, c.Status = from.OldMode, from.OldPerm, from.OldID, history.Modified
		}
		out = append(out, c)
	}
	return out
}

// chunked is a content as the bytes of its lines, cut at 64 bytes.
type chunked struct {
	bytes map[string]int // by chunk
	size  int
}

// maxChunk is the largest chunk, in bytes.
const maxChunk = 64

func (p *pairing) chunked(known map[string]chunked, e *object.Entry) (chunked, error) {
	if c, ok := known[e.ID.String()]; ok {
		return c, nil
	}
	size, err := p.BlobSize(e)
	if err != nil {
		return chunked{}, err
	}
	c := chunked{size: int(size)}
	if size <= maxRenameSize {
		content, err := p.Blob(e)
		if err != nil {
			return c, err
		}
		c.bytes = chunksOf(content)
	}
	known[e.ID.String()] = c
	return c, nil
}

// chunksOf cuts a content into chunks. As in git, the CR of a CRLF does not count in a text.
func chunksOf(content []byte) map[string]int {
	chunks := make(map[string]int)
	text := !linediff.Binary(content)
	var chunk []byte
	for i, c := range content {
		if text && c == '\r' && i+1 < len(content) && content[i+1] == '\n' {
			continue
		}
		chunk = append(chunk, c)
		if len(chunk) == maxChunk || c == '\n' {
			chunks[string(chunk)] += len(chunk)
			chunk = chunk[:0]
		}
	}
	if len(chunk) > 0 {
		chunks[string(chunk)] += len(chunk)
	}
	return chunks
}

// score returns how similar another content is, maxScore for an equal one.
func (c chunked) score(other chunked) int {
	larger, smaller := max(c.size, other.size), min(c.size, other.size)
	if c.bytes == nil || other.bytes == nil || smaller == 0 || larger*(maxScore-minScore) < (larger-smaller)*maxScore {
		return 0
	}
	copied := 0
	for chunk, n := range c.bytes {
		copied += min(n, other.bytes[chunk])
	}
	return copied * maxScore / larger
}
