package history

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// Tip returns the newest checkpoint of a line. It returns nil for a line that does not exist or is
// damaged: that must not stop new checkpoints. A line that the system does not let this process read
// now is an error: a new line in its place would lose its checkpoints.
func (r *Store) Tip(line string) (*Checkpoint, error) {
	id, err := r.DB.Ref(line)
	if errors.Is(err, odb.ErrNotFound) {
		return nil, nil
	}
	if err == nil {
		var c *Checkpoint
		if c, err = r.ReadCheckpoint(id); err == nil {
			return c, nil
		}
	}
	if IsRefusal(err) {
		return nil, err
	}
	r.Log.Warn("line begun anew", "ref", line, "error", err)
	return nil, nil
}

// IsRefusal reports whether the system has refused to read a file that may be whole: the process has no permission,
// or too many open files. A directory in the place of a file is damage.
func IsRefusal(err error) bool {
	var refusal syscall.Errno
	return errors.As(err, &refusal) && !slices.Contains([]syscall.Errno{syscall.ENOENT, syscall.ENOTDIR, syscall.EISDIR, syscall.ELOOP}, refusal)
}

// Newest returns the newest checkpoint outside of sessions, nil if there is none.
func (r *Store) Newest(ctx context.Context) (*Checkpoint, error) {
	for c, err := range r.checkpointsOf(ctx, lines{prefixes: []string{RefTracks}}, false) {
		return c, err
	}
	return nil, nil
}

// Today returns the ref of the day's line of checkpoints outside a session. Days are in UTC.
func (r *Store) Today() string { return RefTracks + r.Now().UTC().Format(time.DateOnly) }

// CurrentLine returns the ref of the line that the next checkpoint outside a session goes to: the day's, or a later
// one that was begun while the clock was ahead. Else the checkpoints of that one would stay the newest until its day.
// The next day has a line of its own again, because what came after them is the newest then. Where the lines cannot be
// listed it is the day's.
func (r *Store) CurrentLine() string {
	line := r.Today()
	today := line
	later, err := r.DB.RefsOf(RefTracks, func(name string) bool { return name > today })
	if err != nil {
		r.Log.Warn("lines not listed", "error", err)
	}
	for _, ref := range later {
		if _, err := time.Parse(time.DateOnly, strings.TrimPrefix(ref.Name, RefTracks)); err != nil {
			continue
		}
		if tip, err := r.Tip(ref.Name); err == nil && tip != nil && RefTracks+tip.When.UTC().Format(time.DateOnly) >= today {
			line = max(line, ref.Name)
		}
	}
	return line
}
