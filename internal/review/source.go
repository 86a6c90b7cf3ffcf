package review

import (
	"context"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/reviewed"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Session is what the list says above the turns of a session. The range of two checkpoints is shown
// as a session without an id.
type Session struct {
	ID, Title, Agent string
	Updated          time.Time
	Turns            int // messages, as far as that is known before they are read
}

// Turn is the work that answers one prompt, or the range between two checkpoints.
type Turn struct {
	Session *Session
	ID      string // of the message, or FROM..TO with the ids of checkpoints
	Number  int    // from 1; 0 for a range
	Prompt  string
	Agent   string
	When    time.Time
	Last    time.Time // of its newest event
	Steps   int
	Later   int      // turns of the session after it
	Paths   []string // changed by its steps, from the root

	Reverted bool
	Open     bool // one of its steps is running

	Range cairn.Range // of a turn without a session
}

// ended reports whether the turn has all hunks of its steps: no step runs, and it is no range up to the present.
func (t *Turn) ended() bool { return !t.Open && (t.Session.ID != "" || t.Range.To != "") }

// File is one changed file of a turn.
type File struct {
	Change               cairn.Change
	Additions, Deletions int
	Note                 string // why it is not compared line by line

	own *session.OwnChanges // of a turn of a session: what can read the change
}

// Verb is what a plan does.
type Verb int

// The verbs.
const (
	TakeBack Verb = iota // chosen hunks of a turn; later turns stay
	GoBack               // to before a turn; all later turns of the session go, too
	Undo
	Redo
)

// Action is a change of the directory that a person has asked for.
type Action struct {
	Verb  Verb
	Turn  *Turn
	Hunks []reviewed.Mark // to take back
	Files int             // that these are of
	Whole bool            // they are all hunks of the turn
	Plan  string          // id of the plan to carry out; "" = make a plan
}

// Source is the store as the interface sees it. All methods may take long, and end with ctx.
type Source interface {
	// Sessions lists the sessions, the one that was changed last first.
	Sessions(ctx context.Context) ([]*Session, error)

	// Turns lists the turns of a session, newest first.
	Turns(ctx context.Context, s *Session) ([]*Turn, error)

	// Files lists the changed files of a turn, without counts.
	Files(ctx context.Context, t *Turn) ([]File, error)

	// Count fills the counts of a file in.
	Count(f *File) error

	// Diff returns a file with its hunks.
	Diff(ctx context.Context, f *File) (*cairn.FileDiff, error)

	// Taken lists the names of the hunks of a file that operations have taken back since the turn.
	Taken(ctx context.Context, t *Turn, f *File, d *cairn.FileDiff) ([]string, error)

	// Marks lists the decisions of this review and earlier ones. A hunk whose taking back was
	// undone is not among those that were taken back.
	Marks(ctx context.Context) ([]reviewed.Mark, error)

	// ChangeMarks removes some decisions and adds others.
	ChangeMarks(ctx context.Context, remove, add []reviewed.Mark) error

	// Do makes the plan of an action, or carries it out.
	Do(ctx context.Context, a Action) (*cairn.Result, error)
}
