package usergit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Scratch is a directory in which commits are prepared.
type Scratch struct {
	// Output gets what git commit and its hooks print. If it is nil, Made.Output has that.
	Output io.Writer

	repo     *Repo
	dir      string
	idLength int
	layers   int
	reader   *blobReader
}

// NewScratch makes a Scratch below a directory, for a repository with such a head. Close removes it.
func (r *Repo) NewScratch(within string, head Head) (*Scratch, error) {
	if err := os.MkdirAll(within, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(within, scratchPrefix)
	if err != nil {
		return nil, err
	}
	s := &Scratch{repo: r, dir: dir, idLength: len(head.Tree)}
	if err := s.note(Head{}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	info := filepath.Join(dir, "objects", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := os.WriteFile(filepath.Join(info, "alternates"), []byte(r.objects()+"\n"), 0o600); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// indexFile begins the variable that names an index in the place of the user's.
const indexFile = "GIT_INDEX_FILE="

// Close removes the directory.
func (s *Scratch) Close() error {
	var err error
	if s.reader != nil {
		err = s.reader.close()
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

func (s *Scratch) env(more ...string) []string {
	return append(more, "GIT_OBJECT_DIRECTORY="+filepath.Join(s.dir, "objects"))
}

// publish copies the blobs of a commit into the repository, unless it has them.
func (s *Scratch) publish(ctx context.Context, w *Wanted) error {
	var ids strings.Builder
	for _, list := range []map[string]Entry{w.Entries, w.Staged} {
		for _, e := range list {
			if e.ID != "" {
				ids.WriteString(e.ID + "\n")
			}
		}
	}
	if ids.Len() == 0 {
		return nil
	}
	pack, err := s.repo.output(ctx, call{
		args: []string{"pack-objects", "-q", "--local", "--stdout"}, env: s.env(),
		stdin: strings.NewReader(ids.String()),
	})
	if err != nil {
		return err
	}
	_, err = s.repo.output(ctx, call{args: []string{"unpack-objects", "-q"}, stdin: bytes.NewReader(pack)})
	return err
}
