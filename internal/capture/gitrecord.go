package capture

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/keep"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// GitNote is what a store remembers of the newest record of the user's git repository.
type GitNote struct {
	GitDir string          `json:"gitDir"`
	Record string          `json:"record"`
	Index  string          `json:"index,omitempty"` // sum of the entries of the index, without stat data
	Stamps gitstate.Stamps `json:"stamps"`
	Left   string          `json:"left,omitempty"`  // why objects are not kept alive; "" = they are
	Retry  time.Time       `json:"retry,omitzero"`  // when a capture tries again to keep them
	Never  bool            `json:"never,omitempty"` // paths that are never to be stored keep objects out
	Nested []nestedNote    `json:"nested,omitempty"`
	Looked bool            `json:"looked,omitempty"` // for nested repositories, in all captured directories
}

// retryAfter is how long a capture that could not keep objects counts, if git does not change.
const retryAfter = 10 * time.Minute

// gitMemory keeps the note of a Capturer that stays open, so that its file need not be parsed.
type gitMemory struct {
	mu   sync.Mutex
	at   git.Stamp // of the file
	note GitNote
}

// GitNote returns the note of the newest record, an empty one for none.
func (r *Capturer) GitNote() GitNote {
	m := &r.git
	m.mu.Lock()
	defer m.mu.Unlock()
	at := git.StampOf(r.DB.PrivatePath(string(odb.PrivateGit)))
	if at == m.at {
		return m.note
	}
	m.at, m.note = at, GitNote{}
	if data, err := r.DB.ReadPrivate(odb.PrivateGit); err != nil || json.Unmarshal(data, &m.note) != nil {
		m.note = GitNote{}
	}
	return m.note
}

// recordsGit reports whether captures record the state of a repository.
func (r *Capturer) recordsGit(repo *git.Repo) bool { return repo != nil && !r.Opt.NoGit }

// gitUnchanged reports whether the user's repository is as the newest record says.
func (r *Capturer) gitUnchanged() bool {
	repo := r.Repository()
	if !r.recordsGit(repo) {
		return true
	}
	note := r.GitNote()
	return r.isCurrent(&note, repo)
}

// retries reports whether it is time to try again what could not be kept. A time further away than a pause is that of
// another clock.
func (n *GitNote) retries(now time.Time) bool {
	wait := n.Retry.Sub(now)
	return !n.Retry.IsZero() && (wait <= 0 || wait > retryAfter)
}

// isCurrent reports whether the repository has not changed since a note, and the vault has its objects.
func (r *Capturer) isCurrent(note *GitNote, repo *git.Repo) bool {
	never := r.NeverID() != ""
	return note.GitDir == repo.GitDir && note.Never == never && (never || r.Vault().Exists()) &&
		!note.retries(r.Now()) && note.Looked && note.Stamps.Hold() && note.nestedHold()
}

// gitRecord is the record of a capture.
type gitRecord struct {
	id   string // "" = none
	note *GitNote
	refs []odb.RefUpdate
}

// recordGit reads the state of the user's repository, unless it is as the last record says, and keeps
// alive what it leads to. A failure costs the record, not the capture.
func (c *Snapshot) recordGit(ctx context.Context) {
	r, repo := c.repo, c.repo.Repository()
	if !r.recordsGit(repo) {
		return
	}
	note := r.GitNote()
	last, err := object.ParseID(note.Record)
	if err == nil && note.GitDir == repo.GitDir && r.hasRecord(last) {
		if r.isCurrent(&note, repo) && c.allNestedKnown(&note) {
			c.git.id = note.Record
			return
		}
	} else {
		note, last = GitNote{}, object.ID{}
	}
	if err := c.newGitRecord(ctx, repo, note, last); err != nil {
		r.Log.Warn("state of git not recorded", "error", err)
		c.git = gitRecord{}
	}
}

// hasRecord reports whether a ref leads to a record.
func (r *Capturer) hasRecord(id object.ID) bool {
	at, err := r.DB.Ref(history.RefGit + id.String())
	return err == nil && at == id
}

// newGitRecord reads the refs before it keeps the objects that they lead to: a ref never is older
// than its objects.
func (c *Snapshot) newGitRecord(ctx context.Context, repo *git.Repo, note GitNote, last object.ID) error {
	r := c.repo
	reader := gitstate.Reader{Repo: repo}
	if u := c.rules.user; u != nil && u.repo.GitDir == repo.GitDir {
		reader.Index = u.contents
	}
	reader.Git, _ = git.LookBinary()
	record, stamps, err := reader.Read(context.WithoutCancel(ctx)) // it is short
	if err != nil {
		return err
	}
	index := c.summing(record)
	nested, places := c.readNested(context.WithoutCancel(ctx), record, &note)
	if r.NeverID() != "" {
		withoutPatches(record)
		for _, sub := range record.Nested {
			withoutPatches(sub)
		}
	}
	if !last.IsZero() {
		r.oldIndex(record, last, index().ID != "" && index().ID == note.Index)
	}
	left, err := r.protectObjects(ctx, repo, nested, record)
	if err != nil {
		return err
	}
	if left == "" {
		nameIndexes(repo, nested, record, index())
	}
	id, err := history.AddGitRecord(c.Batch, record.Parts())
	if err != nil {
		return err
	}
	c.git.id = id.String()
	c.git.note = &GitNote{
		GitDir: repo.GitDir, Record: id.String(), Index: index().ID, Stamps: stamps, Left: left,
		Never: r.NeverID() != "", Nested: places, Looked: true,
	}
	if left != "" && !c.git.note.Never {
		c.git.note.Retry = r.Now().Add(retryAfter)
	}
	if !r.hasRecord(id) {
		c.git.refs = []odb.RefUpdate{{Name: history.RefGit + id.String(), ID: id}}
	}
	return nil
}

// withoutPatches drops the files in which an operation in progress keeps contents of the work tree:
// paths that are never stored may be among them.
func withoutPatches(record *gitstate.Record) {
	for name := range record.Files {
		dir, file, below := strings.Cut(name, "/")
		switch {
		case !below || dir+"/" == gitstate.CommonPrefix || dir == "sequencer":
		case file == "head-name" || file == "onto" || file == "orig-head":
		default:
			record.LeaveOut(name)
		}
	}
}

// protectObjects links the objects that a record leads to into the vault, so that they outlive a
// cleaning by git. It returns the reason if it cannot.
func (r *Capturer) protectObjects(
	ctx context.Context, repo *git.Repo, nested []*git.Repo, record *gitstate.Record,
) (left string, err error) {
	vault := r.Vault()
	if r.NeverID() != "" {
		if err := vault.Remove(); err != nil {
			return "", err
		}
		return "commits are not kept: they may hold paths that are never to be stored (never, purge)", nil
	}
	dirs, other := objectDirs(repo, nested)
	res, err := vault.Keep(ctx, dirs, keep.Options{
		SHA256: repo.SHA256, Copy: r.Opt.NoBorrow, Room: r.roomToKeep(),
		Beside: filepath.Join(r.DB.Dir(), "objects"),
	})
	if ctx.Err() != nil {
		return "the time ran out", nil
	}
	if err != nil {
		return "", err
	}
	if err := vault.SetShallow(shallowOf(record)); err != nil {
		return "", err
	}
	r.Log.Debug("objects of git kept", "linked", res.Linked, "copied", res.Copied, "left", res.Left)
	if res.Left > 0 {
		return fmt.Sprintf("%s of git not kept: %s", wording.Count(res.Left, "file"), res.Why), nil
	}
	if other {
		return "nested repositories have another object format", nil
	}
	return "", nil
}

// roomToKeep returns a function that allows copies within the limits of the store.
func (r *Capturer) roomToKeep() func(bytes int64) bool {
	sum := int64(0)
	return func(bytes int64) bool {
		sum += bytes
		if r.Room.MaxBytes > 0 && sum > r.Room.MaxBytes/keep.Share {
			return false
		}
		if r.Room.MinFree > 0 {
			if free, err := r.FreeSpace(); err == nil && free-bytes < r.Room.MinFree {
				return false
			}
		}
		return true
	}
}

// GitRecord returns the id of the record of git that belongs to the capture, "" for none.
func (c *Snapshot) GitRecord() string { return c.git.id }

// noteGit saves the note of a published record.
func (c *Snapshot) noteGit() {
	if c.git.note == nil {
		return
	}
	data, err := json.Marshal(c.git.note)
	if err == nil {
		err = c.repo.DB.NotePrivate(odb.PrivateGit, append(data, '\n'))
	}
	if err != nil {
		c.repo.Log.Warn("record of git not remembered", "error", err)
	}
	c.git.note = nil
}
