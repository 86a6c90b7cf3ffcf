package session

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

var (
	// ErrNotFound: no such session, message, part or step. It wraps cairn.ErrNotFound.
	ErrNotFound = fmt.Errorf("session: %w", cairn.ErrNotFound)

	// ErrBusy: a step of the session, or of one of its children, is open. End it, or
	// say that its agent is gone (MoveOptions.EndOpen).
	ErrBusy = errors.New("session is busy")

	// ErrID: an id that is empty, longer than MaxID bytes or not UTF-8, or
	// Newest.
	ErrID = errors.New("unusable id")

	// ErrFetched: the session was fetched from another store. It can be read, restored and forked; Resume
	// makes it one of this store.
	ErrFetched = errors.New("the session was fetched")

	// ErrExpired: the requested state has been cleaned away.
	ErrExpired = errors.New("expired")
)

// MaxID is the longest id, in bytes.
const MaxID = 1024

// RoleUser is the role of a message with which a turn begins. Reverting goes back to
// the beginning of a turn; other roles are opaque.
const RoleUser = "user"

// Types of parts that matter here. Others are opaque.
const (
	PartText  = "text"
	PartTool  = "tool"
	PartPatch = "patch" // what its step changed, at this place among the parts
)

// Session is the work of an agent on one root. The counts include only visible messages, not
// reverted ones.
type Session struct {
	ID       string            `json:"id"`
	Parent   string            `json:"parentID,omitempty"` // whose sub-agent it is
	Title    string            `json:"title,omitempty"`    // the host's, else the beginning of the first prompt
	Agent    string            `json:"agent,omitempty"`    // that of Meta
	Model    string            `json:"model,omitempty"`    // that of Latest, else that of Meta
	Meta     map[string]string `json:"meta,omitempty"`     // the host's, opaque but for MetaAgent and MetaModel
	Root     cairn.Path        `json:"root"`
	Further  cairn.Paths       `json:"furtherRoots,omitempty"` // other roots of the session
	Missing  []Missing         `json:"missingIn,omitempty"`    // other roots in which a call did nothing
	Created  time.Time         `json:"created"`
	Updated  time.Time         `json:"updated"`
	Children []string          `json:"children,omitempty"`
	Fork     *ForkPoint        `json:"fork,omitempty"`

	Messages int       `json:"messages"`
	Steps    int       `json:"steps"`
	Summary  *Summary  `json:"summary,omitempty"` // nil in the answer of List
	Open     string    `json:"open,omitempty"`    // the step that is running
	Revert   *Boundary `json:"revert,omitempty"`  // nil: nothing is reverted
	Latest   *Work     `json:"latest,omitempty"`  // the newest step or prompt that is visible

	// Fetched says where the session comes from if another store has it and this one does not; nil
	// otherwise. Such a session can be read, restored and forked, and Resume goes on with it.
	Fetched *Origin `json:"fetched,omitempty"`

	// NotPushed: the remote that Repo.RemoteStatus names lacks the newest state of the session. It is
	// false where no remote is known, and in answers other than that of List.
	NotPushed bool `json:"notPushed,omitempty"`

	// Truncated: the beginning of the session has been cleaned away. The rest can be
	// reverted and forked; the counts are of the rest.
	Truncated bool `json:"truncated,omitempty"`
}

// Summary counts the changes in the visible part of a session, from before its first step to after
// its last. Of a session with thinned states, see cairn.KeepRules, only the files that its steps recorded are counted.
type Summary struct {
	Files     int `json:"files"`
	Additions int `json:"additions"` // lines
	Deletions int `json:"deletions"`
}

// ForkPoint says where a session comes from.
type ForkPoint struct {
	Session    string `json:"sessionID"`
	Message    string `json:"messageID,omitempty"` // the first one that it does not share; "" = it shares all
	Checkpoint string `json:"checkpoint"`          // the state at that point
}

// Boundary is the boundary of what is reverted.
type Boundary struct {
	Message  string `json:"messageID"`
	Part     string `json:"partID,omitempty"`
	Snapshot string `json:"snapshot"` // tree of the state before the first revert, to which Unrevert goes
	Diff     string `json:"diff"`     // what reverting did to the files, as git prints it

	// Checkpoint is the checkpoint of Snapshot.
	Checkpoint string `json:"checkpoint"`
}

// Message is one message of a session. Its steps are in the order of their beginnings.
type Message struct {
	ID       string            `json:"id"`
	Role     string            `json:"role,omitempty"`
	Prompt   string            `json:"prompt,omitempty"`
	Agent    string            `json:"agent,omitempty"` // that of Meta
	Meta     map[string]string `json:"meta,omitempty"`
	Created  time.Time         `json:"created"`
	Steps    []Step            `json:"steps"`
	Parts    []Part            `json:"parts,omitempty"` // that came with the message, before those of its steps
	Reverted bool              `json:"reverted,omitempty"`

	// Truncated: the beginning of the message has been cleaned away, with its prompt and
	// its first steps.
	Truncated bool `json:"truncated,omitempty"`

	// Commits are the commits of the user's repository that CommitTurns made of the turn that begins
	// with the message.
	Commits []string `json:"commits,omitempty"`

	Missing []Missing `json:"missingIn,omitempty"` // other roots in which AddMessage did nothing

	// Children are the sessions that sub-agents of this message began.
	Children []string `json:"children,omitempty"`
}

// Step is the work between two checkpoints.
type Step struct {
	ID       string            `json:"id"`
	Session  string            `json:"sessionID"`
	Message  string            `json:"messageID"`
	Before   CheckpointRef     `json:"before"`
	After    CheckpointRef     `json:"after,omitzero"` // zero while the step is open
	Began    time.Time         `json:"began"`
	Ended    time.Time         `json:"ended,omitzero"`
	Paths    cairn.Paths       `json:"paths,omitempty"` // that its tools named, from the root or absolute
	Parts    []Part            `json:"parts,omitempty"`
	Agent    string            `json:"agent,omitempty"` // that of Meta
	Model    string            `json:"model,omitempty"` // likewise
	Calls    []Call            `json:"calls,omitempty"` // of tools; from Parts, or from Meta while there are none
	Patch    cairn.Patch       `json:"patch"`           // Hash is that of Before; Files are absolute
	Meta     map[string]string `json:"meta,omitempty"`
	Reverted bool              `json:"reverted,omitempty"`

	// Owner is whose work the step is, nil for steps of earlier releases.
	Owner *Owner `json:"owner,omitempty"`

	// Elsewhere are the changes in other roots of the session. Only History and EndStep fill them in.
	Elsewhere []RootPatch `json:"inRoots,omitempty"`

	// Missing are other roots in which the step could not begin, or end. Its changes there count as the
	// user's.
	Missing []Missing `json:"missingIn,omitempty"`

	// Outside is what it changed outside all roots, as far as its tools named it. Only History fills it in.
	Outside []OutsideChange `json:"outside,omitempty"`

	// Abandoned: its owner was gone before it ended, or goes on in the directory of which this one is a
	// fork. After is the last state that is known to be the step's; what came later is not.
	Abandoned bool `json:"abandoned,omitempty"`
}

// Open reports whether the step is running.
func (s *Step) Open() bool { return s.After.ID == "" }

// CheckpointRef names a state.
type CheckpointRef struct {
	ID   string `json:"id"`   // of the commit
	Hash string `json:"hash"` // of the tree
}

// Part is a part of a message: a text, a call of a tool.
type Part struct {
	ID   string            `json:"id"`
	Type string            `json:"type"`
	Meta map[string]string `json:"meta,omitempty"`
}

// OutsideChange is what happened to a path outside all roots. One that was not saved says why, and cannot
// come back.
type OutsideChange = operation.OutsideChange

// Missing is another root of a session in which something could not be done, for instance because it
// is not mounted, and why. It was done in the root itself.
type Missing = cairn.PathReason

// RootPatch is what a step changed in another root of its session.
type RootPatch struct {
	Root  cairn.Path  `json:"root"`
	Patch cairn.Patch `json:"patch"`
}

// JoinPatches joins what several steps changed in other roots: each root once, in the order of the list, and each file
// once, in order.
func JoinPatches(list []RootPatch) []RootPatch {
	var joined []RootPatch
	for _, o := range list {
		at := slices.IndexFunc(joined, func(known RootPatch) bool { return known.Root == o.Root })
		if at < 0 {
			at, joined = len(joined), append(joined, RootPatch{o.Root, cairn.Patch{Hash: o.Patch.Hash}})
		}
		files := append(joined[at].Patch.Files, o.Patch.Files...)
		slices.Sort(files)
		joined[at].Patch.Files = slices.Compact(files)
	}
	return joined
}

// SessionBegin describes a session that begins. Meta is kept as it is. Further are directories that
// the session works in beside the root: absolute, and neither within the root nor around it. A session
// that goes on may get more of them, and its sub-agents have them, too.
type SessionBegin struct {
	ID, Parent, Title string
	Meta              map[string]string
	Further           []string
}

// MessageBegin describes a message that holds no step, or none yet.
type MessageBegin struct {
	Session, Message, Role string
	Prompt                 string
	Parts                  []Part
	Meta                   map[string]string
}

// StepBegin describes a step that begins. An empty Message means the newest one, an
// empty Step a name that is made up. Paths, absolute or relative to the root, are
// what the step's tools are going to change, as far as that is known. Small files outside all roots
// are saved, see MoveOptions.Outside.
type StepBegin struct {
	Session, Message, Role, Step string
	Prompt                       string
	Paths                        []string
	Meta                         map[string]string

	Owner *Owner // nil: this process
}

// StepEnd describes the end of a step. An empty Step means the one that is open.
type StepEnd struct {
	Session, Step string
	Parts         []Part
	Paths         []string

	// Gone: the step's owner is gone. The step ends with the last state that is known to
	// be its own, and nothing is captured.
	Gone bool

	// Returned: the step's tools have just returned. The state of now is captured, also if the owner has gone since.
	Returned bool

	forced bool // the owner does not know
}

// Scope narrows a diff down to a message or a step. The zero value is the session.
type Scope struct {
	Message, Step string

	Turn bool // with Message: also the messages that answer it, up to the next one of the user; without any of the user it is alone
	Rest bool // with Message: also all messages after it
}

// Target is where a revert goes back to: before a part of a message, or before
// everything. A Part is looked for in all messages.
type Target struct {
	Message, Part string
	Start         bool
}

// MoveOptions controls a move of the boundary: a revert, an unrevert, an undo or redo of a turn.
type MoveOptions struct {
	OnConflict cairn.Policy // "" = cairn.Merge
	DryRun     bool         // only say what would be done; the session in the answer is as it would be
	Plan       string       // id of the plan to carry out; cairn.ErrMoved if it would be another one now
	EndOpen    bool         // end open steps first instead of failing with ErrBusy: their agent is gone

	// ThisRoot moves the session in this root alone. Otherwise it moves in all its roots, or in none.
	ThisRoot bool

	// Outside moves paths outside the root, too, that the steps named and that were saved before: files and
	// symlinks. A path that has changed since is a conflict, or what OnConflict says; nothing is merged.
	Outside bool

	// Git moves the user's git repository, too: what commands of the steps have changed there goes back,
	// or comes back with the files. A dry run shows it first.
	Git bool
}

// Unread is a session of this store of which something cannot be read. Other sessions do without it.
type Unread struct {
	ID  string // or the name of its ref where that does not tell the id
	Err error

	// Lost: its newest checkpoint is gone or damaged, which a repair of the store may mend.
	Lost bool

	at   int64 // of its newest event, forever where that is unknown
	open bool  // a step may last longer
}

// After reports whether the session may have worked after a time.
func (u *Unread) After(t time.Time) bool { return u.at > t.UnixNano() }

// UnreadOf is a session of which more than its newest record was to be read.
func UnreadOf(s *Session, err error) Unread {
	return Unread{ID: s.ID, Err: err, at: s.Updated.UnixNano(), open: s.Open != ""}
}

// Unreadable reports whether an error says that records of a session cannot be read.
func Unreadable(err error) bool {
	return errors.Is(err, cairn.ErrCorrupt) || errors.Is(err, cairn.ErrStore)
}
