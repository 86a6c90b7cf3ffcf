package operation

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/reviewed"
	"github.com/seed-fb9cbc17/cairn/internal/signature"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// LineUpdate changes lines while the store is locked. All its captures are one: the
// disk as it was at the first.
type LineUpdate struct {
	repo      *Operator
	lock      *history.Locked
	disk      *capture.Snapshot
	published bool
	compared  bool // the capture was compared before it is published
	purpose   capture.Purpose
	joint     *Joint // of the operations of the update, nil for operations of this root alone
}

// UpdateLines calls f with the store locked. Every append in f is complete when it
// returns, so an error of f undoes nothing. f must not use the Repo for anything that
// captures the disk. It is called again where there was no space and a cleaning has made
// some.
func (r *Operator) UpdateLines(ctx context.Context, f func(*LineUpdate) error) error {
	if err := r.Enabled(); err != nil {
		return err
	}
	return r.Capturing(ctx, func(l *history.Locked) error {
		u := &LineUpdate{repo: r, lock: l}
		defer u.discardCapture()
		if err := f(u); err != nil {
			return err
		}
		return u.publishCompared(ctx)
	})
}

// ForgetDisk drops the capture, so that the next step of the update reads the disk again.
func (u *LineUpdate) ForgetDisk() {
	u.discardCapture()
	u.disk, u.published, u.compared = nil, false, false
}

// GoBack says that the update is a way back, which may use more of a disk than a capture.
func (u *LineUpdate) GoBack() { u.purpose = capture.ForWayBack }

// Join makes the operations of the update shares of a joint operation, or with nil operations of this
// root alone.
func (u *LineUpdate) Join(j *Joint) { u.joint = j }

func (u *LineUpdate) discardCapture() {
	if u.disk != nil {
		u.disk.Discard()
	}
}

// LineAppend describes a checkpoint to be appended to a line.
type LineAppend struct {
	Record  json.RawMessage
	Message string
	Author  string // who made the changes since the checkpoint before; "" = "user"

	// Capture takes the state from the disk; otherwise it is that of the checkpoint
	// before. Paths are hints for it, see TrackOptions.
	Capture bool
	Paths   []string

	// Parent is the checkpoint that it follows, from another line, "" for the newest of the line. The
	// caller has checked that Parent comes after that, or names the newest of the line as Beside: a further
	// parent, so that the line still leads to it. State is one whose state it has.
	Parent, Beside, State string

	Outside []string // ids of records of paths outside the root that the event names
}

// Append adds a checkpoint to a line, which begins with it if there is none.
func (u *LineUpdate) Append(ctx context.Context, id string, a LineAppend) (*history.LineEvent, error) {
	ref := history.LineRef(id)
	s, parents, err := u.appended(ref, &a)
	if err != nil {
		return nil, err
	}
	var c *capture.Snapshot
	batch := u.repo.DB.NewBatch()
	defer batch.Discard()
	if a.Capture {
		if err := u.repo.Enabled(); err != nil {
			return nil, err
		}
		if c, err = u.capture(ctx, a.Paths); err == nil {
			err = c.Refused()
		}
		if err != nil {
			return nil, err
		}
		s = c.State()
	}
	into := batch
	if c != nil && !u.published {
		into = c.Batch
	}
	commit, err := u.repo.addLineCommit(into, s, parents, history.StateLabel{Message: a.Message, Author: a.Author}, &history.LineRecord{Captured: a.Capture, Record: a.Record, Outside: a.Outside})
	if err != nil {
		return nil, err
	}
	if err := u.commit(ctx, into, odb.RefUpdate{Name: ref, ID: commit}); err != nil {
		return nil, err
	}
	return u.repo.ReadLineEvent(commit)
}

// appended returns the parents of a new checkpoint, and its state if that is not captured.
func (u *LineUpdate) appended(ref string, a *LineAppend) (s state.State, parents []object.ID, err error) {
	from, err := u.repo.Tip(ref)
	if err != nil {
		return s, nil, err
	}
	if a.Parent != "" {
		if from, err = u.byID(a.Parent); err != nil {
			return s, nil, err
		}
	}
	like := from
	if a.State != "" {
		if like, err = u.byID(a.State); err != nil {
			return s, nil, err
		}
	}
	if from != nil {
		parents = []object.ID{history.IDOf(from)}
	}
	if a.Beside != "" {
		beside, err := u.byID(a.Beside)
		if err != nil {
			return s, nil, err
		}
		parents = append(parents, history.IDOf(beside))
	}
	if like == nil {
		return state.State{Tree: object.EmptyTree, Meta: &state.Metadata{Version: state.MetadataVersion}}, parents, nil
	}
	s, err = history.StateOf(like)
	return s, parents, err
}

func (u *LineUpdate) byID(id string) (*history.Checkpoint, error) {
	parsed, err := object.ParseID(id)
	if err != nil {
		return nil, err
	}
	e, err := u.repo.ReadLineEvent(parsed)
	if err != nil {
		return nil, err
	}
	return e.Checkpoint, nil
}

// capture reads the disk once.
func (u *LineUpdate) capture(ctx context.Context, paths []string) (*capture.Snapshot, error) {
	if u.disk == nil {
		hints, err := u.repo.HintPaths(capture.TrackOptions{Paths: slices.DeleteFunc(slices.Clone(paths), u.Outside)})
		if err != nil {
			return nil, err
		}
		c, err := u.repo.Capture(ctx, u.lock, capture.Options{Hints: hints, Purpose: u.purpose})
		if err != nil {
			return nil, err
		}
		u.disk = c
	}
	return u.disk, nil
}

// Outside reports whether a path lies outside the root. Tools name such paths, too.
func (u *LineUpdate) Outside(path string) bool {
	_, err := u.repo.Rel(path)
	return err != nil
}

// Absent returns the paths at which nothing stands now, from the root, and the directories
// above them that are not there either. Paths outside the root, and those about which the
// system gives no answer, are left out.
func (u *LineUpdate) Absent(paths []string) []string {
	var absent []string
	asked := make(map[string]bool)
	for _, path := range paths {
		rel, err := u.repo.Rel(path)
		if err != nil {
			continue
		}
		for ; rel != "" && !asked[rel]; rel, _ = index.Split(rel) {
			asked[rel] = true
			if found, err := dir.Find(u.repo.Root, rel, nil); err != nil || found != nil {
				break
			}
			absent = append(absent, rel)
		}
	}
	return absent
}

// Uncaptured gives, for each path that neither a checkpoint nor the disk's capture holds,
// why they do not, and "ignored" where no capture says it. Paths count from the root. The
// capture has been taken; see Changes.
func (u *LineUpdate) Uncaptured(ctx context.Context, from string, paths []string) (map[string]string, error) {
	why := make(map[string]string)
	for _, path := range paths {
		why[path] = index.Ignored.String()
	}
	for _, id := range []string{from, ""} {
		s, err := u.stateOf(ctx, id)
		if err != nil {
			return nil, err
		}
		dirs := u.repo.LookupDirs(s)
		for path := range why {
			held, err := dirs.Holds(path)
			if err != nil {
				return nil, err
			}
			if held {
				delete(why, path)
			}
		}
		for _, skip := range s.Meta.Skipped {
			if _, asked := why[string(skip.Path)]; asked {
				why[string(skip.Path)] = skip.Reason
			}
		}
	}
	return why, nil
}

// commit writes a batch and sets the ref. The batch of the capture is published.
func (u *LineUpdate) commit(ctx context.Context, batch *odb.Batch, ref odb.RefUpdate) error {
	if u.disk != nil && batch == u.disk.Batch {
		return u.publish(ctx, ref)
	}
	if err := u.publish(ctx); err != nil {
		return err
	}
	return batch.Commit(ref)
}

func (u *LineUpdate) publish(ctx context.Context, refs ...odb.RefUpdate) error {
	if u.disk == nil || u.published {
		return nil
	}
	err := u.disk.Publish(ctx, u.lock, refs...)
	u.published = err == nil
	return err
}

// publishCompared publishes a capture that Changes has compared and no append has published.
func (u *LineUpdate) publishCompared(ctx context.Context) error {
	if !u.compared {
		return nil
	}
	return u.publish(ctx)
}

// publishFor is publish before an operation, see there.
func (u *LineUpdate) publishFor(ctx context.Context) error {
	if u.published {
		return nil
	}
	err := u.disk.PublishFor(ctx, u.lock)
	u.published = err == nil
	return err
}

// Changes lists what differs between a checkpoint and the disk. Paths are hints. A small capture is published by the
// append that follows, together with its event, so that both wait for the disk once.
func (u *LineUpdate) Changes(ctx context.Context, from string, paths []string) ([]history.Change, error) {
	c, err := u.capture(ctx, paths)
	if err != nil {
		return nil, err
	}
	before, err := u.byID(from)
	if err != nil {
		return nil, err
	}
	then, err := history.StateOf(before)
	if err != nil {
		return nil, err
	}
	if u.compared = c.Batch.Show(); !u.compared {
		if err := u.publish(ctx); err != nil {
			return nil, err
		}
	}
	return u.repo.AllChanges(ctx, then, c.State(), nil)
}

// SetAside removes a line of which a record is damaged, and keeps its checkpoints: log and restore know them.
func (u *LineUpdate) SetAside(id string) error {
	ref := history.LineRef(id)
	tip, err := u.repo.DB.Ref(ref)
	if errors.Is(err, odb.ErrNotFound) {
		return state.NotFound("line %q", id)
	}
	if err != nil {
		return err
	}
	name := strings.ReplaceAll(strings.TrimPrefix(ref, history.RefRoot), "/", "-")
	if err := u.repo.DB.SetRef(history.RefLost+name+"-"+tip.String()[:history.BeginningDigits], tip); err != nil {
		return err
	}
	return u.Delete(id)
}

// Delete removes a line and what was decided about its hunks. A later cleaning removes its
// checkpoints, unless another ref leads to them.
func (u *LineUpdate) Delete(id string) error {
	err := u.repo.DB.DeleteRef(history.LineRef(id))
	if errors.Is(err, odb.ErrNotFound) {
		return state.NotFound("line %q", id)
	}
	if err != nil {
		return err
	}
	if err := signature.Drop(u.repo.Store, strings.TrimPrefix(history.LineRef(id), history.RefRoot)); err != nil {
		return err
	}
	return reviewed.Forget(u.repo.Store, id)
}
