package gitrestore

import (
	"fmt"
	"os"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
)

// indexFiles returns the index files of the plan, none for a state without an index. An index that the record has by
// the name of its tree is made of that tree, which the repository has. present is the path of the present index, "" for
// none: entries in both keep their stat data, so that git need not read their files again.
func (r *run) indexFiles(present string) (map[string][]byte, error) {
	if r.target.IndexTree == "" {
		return only(r.target, gitstate.IsIndex), nil
	}
	list, err := r.git("", "ls-tree", "-r", "-z", "--full-tree", r.target.IndexTree)
	if err != nil {
		return nil, fmt.Errorf("%w: the index: %w", ErrRefused, err)
	}
	var like *git.Index
	if present != "" {
		like, _ = git.ReadIndex(present, r.target.SHA256) // one that cannot be read knows no file
	}
	data, err := git.IndexOfTree(list, like, r.target.SHA256)
	return map[string][]byte{"index": data}, err
}

// backdate gives an index file the time of the youngest file that it knows. Git looks again at files that are as young
// as the index, because a change within the same tick of the clock does not show in their stat data. With the time of
// now it would take such files for unchanged.
func (r *run) backdate(path string, files map[string][]byte) error {
	x, err := git.ParseIndex(files["index"], r.target.SHA256, func(name string) []byte { return files[name] })
	if err != nil {
		return nil // git refuses it whatever its time
	}
	var youngest time.Time
	now := time.Now()
	for e := range x.All() {
		if at := time.Unix(int64(e.Stat.MTimeSec), int64(e.Stat.MTimeNsec)); at.After(youngest) && at.Before(now) {
			youngest = at
		}
	}
	if youngest.Unix() <= 0 {
		return nil // it knows no file
	}
	return os.Chtimes(path, youngest, youngest)
}
