package capture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// MaxMessage is the length of the longest message of a Track, in characters. Checkpoints of earlier releases may
// have longer ones.
const MaxMessage = 64 << 10

// ErrMessage: the message is longer than MaxMessage. There is no new checkpoint.
var ErrMessage = errors.New("message too long")

// TrackOptions controls a Track. The zero value is the usual way.
type TrackOptions struct {
	Message string // description of the checkpoint, up to MaxMessage; a message always makes a new one
	Author  string // author of the changes since the checkpoint before; "" = "user"
	Verify  bool   // read every file, whatever the stat cache says

	// Paths are hints: they are read first, and files among them are captured although ignored.
	// They may be absolute or relative to the root; one outside it is an ErrOutside. A directory means
	// everything in it that is not ignored.
	Paths []string

	// OnlyPaths reads nothing but Paths. The checkpoint holds these and vouches for nothing else:
	// going back to it leaves all other paths alone.
	OnlyPaths bool

	// AllowPartial makes Track return a checkpoint of the paths that were read when the context's
	// deadline passes, and not ErrDeadline. Unread paths are skipped as "unread": going back leaves
	// them alone.
	AllowPartial bool
}

// TrackResult is the answer of Repo.Track.
type TrackResult struct {
	Hash       string          `json:"hash"`              // id of the tree: equal files have equal hashes, see Checkpoint
	Checkpoint string          `json:"checkpoint"`        // id of the commit: tells permission bits and empty directories, too
	Files      int             `json:"files"`             // number of captured files
	Changed    int             `json:"changed"`           // number of paths that differ from the checkpoint before
	Skipped    []state.Skipped `json:"skipped"`           // present, but not captured
	TimedOut   bool            `json:"partial,omitempty"` // the deadline passed: some paths are skipped as unread
	Extent     state.Extent    `json:"scope,omitempty"`   // ExtentPaths if only TrackOptions.Paths were read

	// Secrets lists the credentials in the captured files, and in those that are skipped as "secret", by
	// their places. Contents that the store held before are not looked at.
	Secrets []state.Secret `json:"secrets,omitempty"`

	// Reasons holds the system's errors for paths that could not be read.
	Reasons Reasons `json:"reasons,omitempty"`
}

// Reasons maps paths to errors. The JSON form of an error is its text. A decoded error has the text
// only.
type Reasons map[string]error

// MarshalJSON implements json.Marshaler.
func (r Reasons) MarshalJSON() ([]byte, error) {
	texts := make(map[string]string, len(r))
	for path, err := range r {
		texts[pathtext.Encode(path)] = err.Error()
	}
	return json.Marshal(texts)
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Reasons) UnmarshalJSON(data []byte) error {
	var texts map[string]string
	if err := json.Unmarshal(data, &texts); err != nil {
		return err
	}
	*r = make(Reasons, len(texts))
	for key, text := range texts {
		path, err := pathtext.Decode(key)
		if err != nil {
			return err
		}
		(*r)[path] = errors.New(text)
	}
	return nil
}

// Complete reports whether the checkpoint holds every path that the rules admit.
func (t *TrackResult) Complete() bool {
	return !slices.ContainsFunc(t.Skipped, func(s state.Skipped) bool { return !s.Policy() })
}

// Track records the present state of the root as a checkpoint. If nothing has changed since the
// day's last checkpoint, and no session has a newer one of another state, it returns that one and
// writes nothing. On error there is no new checkpoint.
func (r *Capturer) Track(ctx context.Context, opt TrackOptions) (*TrackResult, error) {
	if err := checkMessage(opt.Message); err != nil {
		return nil, err
	}
	if err := r.Enabled(); err != nil {
		return nil, err
	}
	if t := r.unchanged(ctx, opt); t != nil {
		return t, nil
	}
	var t *TrackResult
	err := r.Capturing(ctx, func(l *history.Locked) (err error) {
		t, err = r.TrackHeld(ctx, l, opt)
		return err
	})
	return t, err
}

func checkMessage(text string) error {
	if n := utf8.RuneCountInString(text); n > MaxMessage {
		return fmt.Errorf("%w: it has %d characters, at most %d can be", ErrMessage, n, MaxMessage)
	}
	return nil
}

// TrackHeld is Track for a caller that holds the lock and has found captures to be enabled. It writes
// objects and commit in one pack, then the refs, then the stat cache. A crash leaves either no
// checkpoint or a complete one.
func (r *Capturer) TrackHeld(ctx context.Context, l *history.Locked, opt TrackOptions) (*TrackResult, error) {
	hints, err := r.HintPaths(opt)
	if err != nil {
		return nil, err
	}
	c, err := r.Capture(ctx, l, Options{verify: opt.Verify, Hints: hints, only: opt.OnlyPaths, partial: opt.AllowPartial})
	if err != nil {
		return nil, err
	}
	defer c.Discard()
	if err := c.Refused(); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // the rest is short and must not stop half-way
	line := r.CurrentLine()
	previous, err := r.Tip(line)
	if err != nil {
		return nil, err
	}
	label := history.StateLabel{Message: opt.Message, Author: opt.Author}
	label.Again = previous != nil && history.TreeOf(previous) == c.Tree && r.movedSince(c, previous) && r.newerDiffers(ctx, c.Tree)
	id, err := r.AddState(c.Batch, c.State(), previous, label)
	if err != nil {
		return nil, err
	}
	before := previous
	if before == nil {
		if before, err = r.Newest(ctx); err != nil {
			return nil, err
		}
	}
	var refs []odb.RefUpdate
	if previous == nil || id != history.IDOf(previous) {
		refs = append(refs, odb.RefUpdate{Name: line, ID: id})
	}
	if err := c.Publish(ctx, l, refs...); err != nil {
		return nil, err
	}
	changed, ok := c.changedSince(before)
	if !ok {
		if changed, err = r.countChanged(ctx, before, c); err != nil {
			return nil, err
		}
	}
	t := &TrackResult{
		Hash: c.Tree.String(), Checkpoint: id.String(), Files: c.files, Changed: changed,
		Skipped: c.skipped(), Reasons: c.reasons,
		TimedOut: len(c.unread) > 0, Secrets: c.secrets.answered(c.covered),
	}
	if opt.OnlyPaths {
		t.Extent = state.ExtentPaths
	}
	if c.covered == nil {
		r.remember(t, line, id)
	}
	return t, nil
}

// movedSince reports whether the disk may have had another state since a checkpoint of its present one: the
// last capture was another one, or an operation has changed files. It spares tracks a look at all lines.
func (r *Capturer) movedSince(c *Snapshot, previous *history.Checkpoint) bool {
	if c.from != c.Tree {
		return true
	}
	operation, err := r.Tip(history.RefOperations)
	return err != nil || operation != nil && operation.At() >= previous.At()
}

// newerDiffers reports whether the newest checkpoint of all lines has another tree: that of a session. A
// line that cannot be read does not stop a capture.
func (r *Capturer) newerDiffers(ctx context.Context, tree object.ID) bool {
	for newest, err := range r.Checkpoints(ctx) {
		return err == nil && history.TreeOf(newest) != tree
	}
	return false
}

// HintPaths returns the paths of the options as clean, sorted paths from the root.
func (r *Capturer) HintPaths(opt TrackOptions) ([]string, error) {
	if opt.OnlyPaths && len(opt.Paths) == 0 {
		return nil, errors.New("no paths given to look at")
	}
	hints := make([]string, len(opt.Paths))
	for i, p := range opt.Paths {
		var err error
		if hints[i], err = r.Rel(p); err != nil {
			return nil, err
		}
	}
	slices.Sort(hints)
	return slices.Compact(hints), nil
}

// changedSince returns the count of the scan if the scan compared with the state of before. If an
// operation came in between and nothing has happened since, it returns the operation's count.
func (c *Snapshot) changedSince(before *history.Checkpoint) (n int, ok bool) {
	if before == nil || c.covered != nil || c.differs < 0 {
		return 0, false
	}
	n = c.differs
	if history.TreeOf(before) != c.from {
		then := c.rules.before.Counted
		if n != 0 || then == nil || then.From != history.TreeOf(before).String() || then.To != c.from.String() {
			return 0, false
		}
		n = then.Paths
	}
	m, err := history.MetadataOf(before)
	return n, err == nil && m.Partial == ""
}

// aux returns the part of the stat cache that belongs to this package. After an operation it has
// the number of paths that the operation changed, so that the next Track need not compare trees.
func (c *Snapshot) aux() auxiliary {
	aux, last := c.rules.aux, c.rules.before.Counted
	switch {
	case c.covered != nil || c.from.IsZero() || c.differs < 0:
	case c.recording && c.differs > 0:
		aux.Counted = &counted{c.from.String(), c.Tree.String(), c.differs}
	case last != nil && last.To == c.Tree.String():
		aux.Counted = last
	}
	return aux
}

// countChanged counts the paths that differ between the checkpoint before and this tree; for a
// first checkpoint, all paths.
func (r *Capturer) countChanged(ctx context.Context, before *history.Checkpoint, c *Snapshot) (int, error) {
	if before == nil && c.covered == nil {
		return c.Index.Files(), nil // the number of files in the tree, which need not be read
	}
	from, then, now := object.EmptyTree, (*state.Coverage)(nil), (*state.Coverage)(nil)
	if before != nil {
		from = history.TreeOf(before)
		if m, err := history.MetadataOf(before); err == nil && m.Partial != "" {
			then = state.NewCoverage(m)
		}
	}
	if c.covered != nil {
		now = c.covered
	}
	n := 0
	for change, err := range (&history.Comparison{Repo: r.Store, Ctx: ctx, Known: c.entries}).Between(from, c.Tree) {
		if err != nil {
			return 0, err
		}
		if !then.Unread(change.Path) && !now.Unread(change.Path) {
			n++
		}
	}
	return n, nil
}
