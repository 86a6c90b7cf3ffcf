package history

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// The refs of a store.
const (
	RefRoot       = "refs/cairn/"
	RefTracks     = RefRoot + "tracks/"    // one line per day of checkpoints outside a session
	RefOperations = RefRoot + "operations" // the newest operation
	RefDisk       = RefRoot + "disk"       // tree of the last capture, kept alive for the stat cache
	RefHeld       = RefRoot + "held"       // tree of the last complete capture, while the stat cache holds a partial one
	RefPins       = RefRoot + "pins/"      // one per name, see pinRef
	RefImported   = RefRoot + "imported/"  // checkpoints from bundles, by id
	RefRemotes    = RefRoot + "remotes/"   // lines of other stores, below the stores' ids

	// RefOutside begins the refs to records of paths outside the root, one for each record, named by the
	// id that checkpoints and operations name it by: that of its tree when it was made. A ref goes with
	// the last checkpoint that names its record.
	RefOutside = RefRoot + "outside/"

	// RefBefore keeps the state before an unfinished operation alive.
	RefBefore = RefRoot + "before"

	// RefLost is the prefix of refs that keep the older parts of lines that a repair has cut at a lost
	// checkpoint. The rest of the ref is the name of the line.
	RefLost = RefRoot + "lost/"

	// RefSignatures is the prefix of refs that lead to signed statements. The rest of the ref is the name of
	// the line below refs/cairn/ that a statement is about.
	RefSignatures = RefRoot + "signatures/"
)

// Checkpoint is one recorded state.
//
// A Checkpoint from elsewhere than a Repo, for instance from JSON, has only the exported fields.
// Its methods return an error that wraps ErrNotFound. Repo.Lookup of its ID returns the whole
// checkpoint.
type Checkpoint struct {
	ID      string    `json:"id" doc:"Of the commit."`
	Hash    string    `json:"hash" doc:"Of the tree."`
	Message string    `json:"message"`
	Parent  string    `json:"parent,omitempty"` // the checkpoint before it on its line, "" for the first
	Author  string    `json:"author" doc:"Who made the changes since the one before."`
	When    time.Time `json:"time"`

	// Thinned is set for a checkpoint without a state: a cleaning has kept another one in its place.
	Thinned *Thinning `json:"thinnedBy,omitempty"`

	// ThinnedBefore is the number of thinned checkpoints between Parent and this one.
	ThinnedBefore int `json:"thinnedBefore,omitempty" doc:"Thinned ones between the parent and this one."`

	before   object.ID // the commit before it on its line, thinned or not; zero = none
	id, tree object.ID
	commit   *object.CommitData
	meta     *state.Metadata
	at       int64   // of the commit, in nanoseconds since 1970
	line     int     // place among the refs of the line on which a walk met it
	compared *string // see ComparedWith; nil = the parent
	from     *Machine
}

// From returns whose checkpoint this is, if Repo.Log has listed it by LogOptions.Fetched. The zero Machine stands for
// one that was imported. ok is false for all others.
func (c *Checkpoint) From() (m Machine, ok bool) {
	if c.from == nil {
		return Machine{}, false
	}
	return *c.from, true
}

// ComparedWith returns the id of the checkpoint whose difference from this one is what this one
// changed: that before it on its line, "" for none. For a checkpoint that Repo.Log selected by paths
// or a text and whose line shows no change of them, and for a fetched one that is the first of its line, it is the one
// before it on any line of its store.
func (c *Checkpoint) ComparedWith() string {
	if c.compared != nil {
		return *c.compared
	}
	return c.Parent
}

// TimeOf returns the time of a checkpoint's or an operation's commit in nanoseconds since 1970. Commits keep whole
// seconds. A header or a record keeps the rest, which orders commits of the same second; one of another second is not
// believed. That of an earlier release has whole seconds.
func TimeOf(c *object.CommitData) int64 {
	for _, h := range fineTimes {
		if at, ok := h.read(c.Header(h.key)); ok && at/int64(time.Second) == c.Committer.When.Unix() {
			return at
		}
	}
	return c.Committer.When.UnixNano()
}

// fineTimes read times in nanoseconds. A commit has one of these headers.
var fineTimes = [...]struct {
	key  string
	read func(string) (int64, bool)
}{{AtHeader, headerTime}, {LineHeader, lineTime}, {OperationHeader, operationTime}}

// headerTime reads the value of AtHeader.
func headerTime(text string) (int64, bool) {
	at, err := strconv.ParseInt(text, 10, 64)
	return at, err == nil
}

// At returns the time of a checkpoint in nanoseconds since 1970, as far as its commit has them.
func (c *Checkpoint) At() int64 { return c.at }

// Identity is the signature of commits that cairn makes on its own.
var Identity = object.Signature{Name: "cairn", Email: "cairn@localhost"}

// ReadCheckpoint reads a commit that cairn made. The metadata is decoded on demand.
func (r *Store) ReadCheckpoint(id object.ID) (*Checkpoint, error) {
	return r.readBy(id, r.Ends())
}

// readBy is ReadCheckpoint with the ends of lines.
func (r *Store) readBy(id object.ID, ends Ends) (*Checkpoint, error) {
	kind, data, err := r.readCommit(ends, id)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w", id, err)
	}
	if kind != object.Commit {
		return nil, state.NotFound("%s is a %s, not a checkpoint", id, kind)
	}
	c, err := object.ParseCommit(data)
	if err != nil && !bytes.Contains(data, []byte("\n"+state.MetadataHeader+" ")) {
		return nil, state.NotFound("commit %s is not a checkpoint", id) // a malformed commit that was borrowed or fetched
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w: %w", id, state.ErrCorrupt, err)
	}
	if c.Header(state.MetadataHeader) == "" {
		return nil, state.NotFound("commit %s is not a checkpoint", id)
	}
	out := &Checkpoint{
		ID: id.String(), Hash: c.Tree.String(), Message: strings.TrimSuffix(c.Message, "\n"),
		Author: c.Author.Name, When: c.Committer.When, id: id, tree: c.Tree, commit: c, at: TimeOf(c),
	}
	r.setBefore(out, ends)
	return out, nil
}

// MetadataOf returns the checkpoint's metadata, decoded at the first call.
func MetadataOf(c *Checkpoint) (*state.Metadata, error) {
	if c.meta == nil && c.commit == nil {
		return nil, state.NotFound("the contents of checkpoint %q: it was not read from a store (look it up by its id)", c.ID)
	}
	if c.meta == nil {
		m, err := state.DecodeMetadata(c.commit.Header(state.MetadataHeader))
		if err != nil {
			return nil, fmt.Errorf("checkpoint %s: %w", c.ID, err)
		}
		c.meta = m
	}
	return c.meta, nil
}

// Skipped lists the paths that were present at the checkpoint and not captured.
func (c *Checkpoint) Skipped() ([]state.Skipped, error) {
	m, err := MetadataOf(c)
	if err != nil {
		return nil, err
	}
	return m.Skipped, nil
}

// Secrets lists the credentials that captures found in the files of the checkpoint, by their places.
// Contents that the store held already are not looked at.
func (c *Checkpoint) Secrets() ([]state.Secret, error) {
	m, err := MetadataOf(c)
	if err != nil {
		return nil, err
	}
	return m.Secrets, nil
}

// CommitRequest describes a checkpoint to write.
type CommitRequest struct {
	Tree    object.ID
	Meta    string
	Parents []object.ID
	Author  object.Signature
	Message string
	When    time.Time
	Extra   []object.Header
}

// AddCommit adds a checkpoint's commit to a batch.
func AddCommit(b *odb.Batch, q CommitRequest) (object.ID, error) {
	committer := Identity
	committer.When = q.When
	if q.Author.Name == "" {
		q.Author = Identity
	}
	q.Author.When = q.When
	data, err := object.AppendCommit(nil, &object.CommitData{
		Tree: q.Tree, Parents: q.Parents, Author: q.Author, Committer: committer,
		Extra:   append([]object.Header{{Key: state.MetadataHeader, Value: q.Meta}}, q.Extra...),
		Message: strings.ReplaceAll(q.Message, "\x00", "") + "\n",
	})
	if err != nil {
		return object.ID{}, err
	}
	return b.Add(object.Commit, data)
}
