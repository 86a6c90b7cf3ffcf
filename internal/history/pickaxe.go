package history

import (
	"bytes"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// changesText reports whether a file contains the text more or less often than before. The contents
// of a file that only moved stay the same: its deletion and its addition take each other out.
func (l *pathLog) changesText(before, after object.ID) (bool, error) {
	moved := make(map[object.ID]int)
	for c, err := range l.repo.CompareTrees(l.ctx, before, after, l.scope) {
		if err != nil {
			return false, err
		}
		switch {
		case c.Old == nil:
			moved[c.New.ID]++
		case c.New == nil:
			moved[c.Old.ID]--
		default:
			was, err := l.count(c.Old)
			if err != nil {
				return false, err
			}
			is, err := l.count(c.New)
			if was != is || err != nil {
				return err == nil, err
			}
		}
	}
	for id, n := range moved {
		if n == 0 {
			continue
		}
		if times, err := l.count(&object.Entry{Mode: object.Regular, ID: id}); times > 0 || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// count returns how often a blob contains the text. A blob that is too large for a diff counts as
// one without it.
func (l *pathLog) count(e *object.Entry) (int, error) {
	if n, ok := l.counts[e.ID]; ok {
		return n, nil
	}
	size, err := l.repo.BlobSize(e)
	if err != nil {
		return 0, err
	}
	var content []byte
	if size <= DefaultMaxDiffSize {
		if content, err = l.repo.Blob(e); err != nil {
			return 0, err
		}
	}
	n := bytes.Count(content, []byte(l.opt.Text))
	l.counts[e.ID] = n
	return n, nil
}
