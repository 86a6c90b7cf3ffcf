package capture

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// GitMovement compares the records of two checkpoints; to may be "" for the present state. It returns
// nil where one of the checkpoints has no record. gone reports that only the second has none.
func (r *Capturer) GitMovement(ctx context.Context, from, to string) (m *gitstate.Movement, gone bool, err error) {
	if r.Opt.NoGit {
		return nil, false, nil
	}
	id, err := r.gitRecordID(ctx, from)
	if err != nil || id.IsZero() {
		return nil, false, err
	}
	next := func() (*gitstate.Record, error) { return r.GitRecordNow(ctx) }
	if to == "" && r.isAsRecorded(id) {
		return &gitstate.Movement{}, false, nil
	}
	if to != "" {
		other, err := r.gitRecordID(ctx, to)
		if err != nil || other == id { // one record for both is not read
			return &gitstate.Movement{}, false, err
		}
		next = func() (*gitstate.Record, error) { return r.gitRecord(other) }
	}
	was, err := r.gitRecord(id)
	if err != nil || was == nil {
		return nil, false, err
	}
	is, err := next()
	if err != nil || is == nil && to != "" {
		return nil, err == nil, err
	}
	return gitstate.Compare(was, is), false, nil
}

// isAsRecorded reports whether the newest record is this one and stands for the present state. Neither
// is read then: the index in them is as large as that of the repository.
func (r *Capturer) isAsRecorded(id object.ID) bool {
	repo, err := r.findRepository()
	note := r.GitNote()
	return err == nil && repo != nil && note.Record == id.String() && r.isCurrent(&note, repo)
}

// gitRecordID is the id of the record that a checkpoint names, zero for none.
func (r *Capturer) gitRecordID(ctx context.Context, spec string) (object.ID, error) {
	c, err := r.Lookup(ctx, spec)
	if err != nil {
		return object.ID{}, err
	}
	return history.GitRecordOf(c)
}

// GitRecordNow reads the present state, nil where there is no repository.
func (r *Capturer) GitRecordNow(ctx context.Context) (*gitstate.Record, error) {
	repo, err := r.findRepository()
	if err != nil || repo == nil {
		return nil, err
	}
	reader := gitstate.Reader{Repo: repo}
	reader.Git, _ = git.LookBinary()
	record, _, err := reader.Read(ctx)
	if err != nil {
		return nil, err
	}
	note := r.GitNote()
	c := Snapshot{repo: r}
	c.readNested(ctx, record, &GitNote{Nested: note.Nested, Looked: true})
	return record, nil
}

// GitRecordAt returns the record that a checkpoint names, nil if there is none.
func (r *Capturer) GitRecordAt(ctx context.Context, spec string) (*gitstate.Record, error) {
	return r.GitRecords().At(ctx, spec)
}

// GitRecords reads the records that checkpoints name, each record once. Its callers share them and
// change none.
type GitRecords struct {
	from *Capturer
	read map[object.ID]*gitstate.Record
}

// GitRecords returns a reader that has read nothing.
func (r *Capturer) GitRecords() *GitRecords {
	return &GitRecords{r, make(map[object.ID]*gitstate.Record)}
}

// At returns the record that a checkpoint names, nil if there is none.
func (g *GitRecords) At(ctx context.Context, spec string) (*gitstate.Record, error) {
	id, err := g.from.gitRecordID(ctx, spec)
	if err != nil {
		return nil, err
	}
	if record, ok := g.read[id]; ok {
		return record, nil
	}
	record, err := g.from.gitRecord(id)
	if err == nil {
		g.read[id] = record
	}
	return record, err
}

// gitRecord reads a record, nil for the zero id and for one that was cleaned away.
func (r *Capturer) gitRecord(id object.ID) (*gitstate.Record, error) {
	if id.IsZero() {
		return nil, nil
	}
	parts, err := r.Store.GitRecord(id)
	if errors.Is(err, state.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return gitstate.Parse(parts)
}

const (
	maxCounted   = 8 // pairs of commits whose distance is counted
	countTimeout = 2 * time.Second
)

// CommitsBetween returns a function that counts the commits to which only one of two commits leads.
// It asks git in the vault, which has the commits even if the user's repository is gone.
func (r *Capturer) CommitsBetween(ctx context.Context) func(from, to string) (n int, ok bool) {
	binary, err := git.LookBinary()
	if err != nil {
		return nil
	}
	asked := 0
	return func(from, to string) (int, bool) {
		if asked++; asked > maxCounted {
			return 0, false
		}
		ctx, cancel := context.WithTimeout(ctx, countTimeout)
		defer cancel()
		out, err := binary.Command(ctx, r.Vault().Dir(), "--git-dir="+r.Vault().Dir(), "rev-list", "--count", from+"..."+to).Output()
		if err != nil {
			return 0, false
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(out)))
		return n, err == nil
	}
}
