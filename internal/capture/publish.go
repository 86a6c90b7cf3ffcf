package capture

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// giveUp stores the objects of an incomplete capture, so that the next attempt continues there and
// does not run out of time at the same place.
func (c *Snapshot) giveUp(ctx context.Context, l *history.Locked) error {
	defer c.Discard()
	if err := c.Publish(context.WithoutCancel(ctx), l); err != nil {
		return err
	}
	return state.Unread("read %s (%s), left %s unread; what was read is kept for the next attempt",
		wording.Count(c.read, "file"), wording.Size(c.bytes), wording.Count(len(c.unread), "path"))
}

// Discard drops the objects of a capture that was not published.
func (c *Snapshot) Discard() { c.Batch.Discard() }

// Publish makes a capture part of the store. If the process dies after any of these steps, the
// store is valid:
//
//  1. the new objects, durably, as one pack
//  2. the refs that keep the trees of the stat cache alive, then the caller's refs
//  3. the stat cache
//
// With refs the capture counts as recorded at step 2, and a failure of step 3 is only logged: the
// stat cache stays as it was, and the next capture reads more.
func (c *Snapshot) Publish(ctx context.Context, l *history.Locked, refs ...odb.RefUpdate) error {
	c.repo.Holds(l)
	if err := c.commit(refs...); err != nil {
		return err
	}
	err := c.repo.dropHeld(c.rules)
	if err == nil {
		err = c.repo.saveIndex(ctx, l, c.Index, c.aux())
	}
	if err != nil && len(refs) == 0 {
		return err
	}
	if err != nil {
		c.repo.Log.Warn("stat cache not saved", "error", err)
	}
	c.repo.Watch.commit(c.repo, c, c.watched && len(c.unread) == 0)
	return nil
}

// commit does the first two steps of Publish.
func (c *Snapshot) commit(refs ...odb.RefUpdate) error {
	keep := append(c.rules.heldRef(), c.repo.diskRef(c.disk)...)
	keep = append(keep, c.git.refs...)
	if err := c.Batch.Commit(append(keep, refs...)...); err != nil {
		return fmt.Errorf("capture: %w", state.AsNoSpace(err))
	}
	c.noteGit()
	return nil
}

// PublishFor publishes the state before an operation without saving the stat cache. Recording the
// operation saves it. Until then the file on disk stays as it was, as if the process had died
// between the second and third step of Publish. The caller calls SaveUnlessSaved at the end.
func (c *Snapshot) PublishFor(ctx context.Context, l *history.Locked) error {
	if c.repo.Watch != nil || c.rules.leavesIncomplete() {
		return c.Publish(ctx, l)
	}
	if err := c.commit(); err != nil {
		return err
	}
	c.Index.SetPrivate(c.repo.DB.KnownPacks(), c.aux().encode())
	c.repo.rememberLast(l, c.Index, c.aux())
	return nil
}

// SaveUnlessSaved saves the stat cache, unless the recording of an operation has done so, or has
// failed.
func (c *Snapshot) SaveUnlessSaved(ctx context.Context, l *history.Locked) {
	last := &c.repo.last
	if last.index != c.Index || !c.Index.Dirty() {
		return
	}
	if err := c.repo.saveIndex(context.WithoutCancel(ctx), l, c.Index, last.aux); err != nil {
		c.repo.Log.Warn("stat cache not saved", "error", err)
	}
}

// diskRef returns the update that makes the captured tree reachable, nil if it is.
func (r *Capturer) diskRef(tree object.ID) []odb.RefUpdate {
	id, err := r.DB.Ref(history.RefDisk)
	if err == nil && id == tree {
		return nil
	}
	if err != nil && !errors.Is(err, odb.ErrNotFound) {
		r.Log.Warn("ref replaced", "ref", history.RefDisk, "error", err)
	}
	return []odb.RefUpdate{{Name: history.RefDisk, ID: tree}}
}
