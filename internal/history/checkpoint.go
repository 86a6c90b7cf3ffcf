package history

import (
	"bytes"
	"container/heap"
	"context"
	"fmt"
	"iter"
	"slices"
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
)

// Checkpoint is one recorded state.
//
// A Checkpoint from elsewhere than a Repo, for instance from JSON, has only the exported fields.
// Its methods return an error that wraps ErrNotFound. Repo.Lookup of its ID returns the whole
// checkpoint.
type Checkpoint struct {
	ID      string    `json:"id"`   // of the commit
	Hash    string    `json:"hash"` // of the tree
	Message string    `json:"message"`
	Parent  string    `json:"parent,omitempty"` // the checkpoint before it on its line, "" for the first
	Author  string    `json:"author"`           // of the changes since Parent
	When    time.Time `json:"time"`

	id, tree object.ID
	commit   *object.CommitData
	meta     *state.Metadata
}

// Identity is the signature of commits that cairn makes on its own.
var Identity = object.Signature{Name: "cairn", Email: "cairn@localhost"}

// ReadCheckpoint reads a commit that cairn made. The metadata is decoded on demand.
func (r *Store) ReadCheckpoint(id object.ID) (*Checkpoint, error) {
	kind, data, err := r.DB.Read(id)
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
	if r.DB.EndsLine(id) {
		c.Parents = nil // cleaned away
	}
	parent := ""
	if len(c.Parents) > 0 {
		parent = c.Parents[0].String()
	}
	return &Checkpoint{
		Parent: parent, ID: id.String(), Hash: c.Tree.String(), Message: strings.TrimSuffix(c.Message, "\n"),
		Author: c.Author.Name, When: c.Committer.When, id: id, tree: c.Tree, commit: c,
	}, nil
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

// SetMetadata sets metadata that the caller has decoded before, so that it is not decoded again.
func SetMetadata(c *Checkpoint, m *state.Metadata) { c.meta = m }

// KnownCheckpoint returns a partial Checkpoint: enough to compare the next one with. text is the
// metadata as the commit stores it.
func KnownCheckpoint(id, tree object.ID, m *state.Metadata, text string) *Checkpoint {
	return &Checkpoint{
		ID: id.String(), Hash: tree.String(), id: id, tree: tree, meta: m,
		commit: &object.CommitData{Tree: tree, Extra: []object.Header{{Key: state.MetadataHeader, Value: text}}},
	}
}

// Skipped lists the paths that were present at the checkpoint and not captured.
func (c *Checkpoint) Skipped() ([]state.Skipped, error) {
	m, err := MetadataOf(c)
	if err != nil {
		return nil, err
	}
	return m.Skipped, nil
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

// refsBelow lists the refs with the prefixes.
func (r *Store) refsBelow(prefixes ...string) (all []odb.Ref, err error) {
	for _, prefix := range prefixes {
		refs, err := r.DB.Refs(prefix)
		if err != nil {
			return nil, err
		}
		all = append(all, refs...)
	}
	return all, nil
}

// readTips reads the commits that refs name, except the known ones. Damage to one line does not
// hide the others: a ref that cannot be read is logged and left out, and its Err is set.
func (r *Store) readTips(refs []odb.Ref, read checkpointReader, known func(object.ID) bool) (tips []*Checkpoint) {
	for i := range refs {
		ref := &refs[i]
		if ref.Err == nil && known(ref.ID) {
			continue
		}
		if ref.Err == nil {
			c, err := read(ref.ID)
			if err == nil {
				tips = append(tips, c)
				continue
			}
			ref.Err = err
		}
		r.Log.Warn("line left out", "ref", ref.Name, "error", ref.Err)
	}
	return tips
}

// nothing is the empty set of known checkpoints: a walk with it visits every checkpoint.
func nothing(object.ID) bool { return false }

// Checkpoints yields the checkpoints of all lines, newest first. Of a session it yields only those
// whose state differs from the one before. An error ends the iteration.
func (r *Store) Checkpoints(ctx context.Context) iter.Seq2[*Checkpoint, error] {
	return r.checkpointsOf(ctx, r.ReadCheckpoint, RefTracks, RefSessions, RefLost)
}

// checkpointsOf yields the checkpoints of all lines whose refs have one of the prefixes, as read
// returns them.
func (r *Store) checkpointsOf(ctx context.Context, read checkpointReader, prefixes ...string) iter.Seq2[*Checkpoint, error] {
	return func(yield func(*Checkpoint, error) bool) {
		refs, err := r.refsBelow(prefixes...)
		if err != nil {
			yield(nil, err)
			return
		}
		r.walk(ctx, refs, read, nothing)(yield)
	}
}

// walk yields the checkpoints that lead to refs, newest first. It stops at known checkpoints and
// does not yield them.
func (r *Store) walk(ctx context.Context, refs []odb.Ref, read checkpointReader, known func(object.ID) bool) iter.Seq2[*Checkpoint, error] {
	return func(yield func(*Checkpoint, error) bool) {
		var tips []*Checkpoint
		seen := make(map[object.ID]bool) // forks share ancestors
		for _, tip := range r.readTips(refs, read, known) {
			c, err := skipUnchanged(tip, read, known)
			if err != nil {
				yield(nil, err)
				return
			}
			tips = append(tips, unseen(c, seen)...)
		}
		ancestors(ctx, tips, yield, func(c *Checkpoint) ([]*Checkpoint, error) {
			if len(c.commit.Parents) == 0 || known(c.commit.Parents[0]) {
				return nil, nil
			}
			parent, err := read(c.commit.Parents[0])
			if err != nil {
				return nil, err
			}
			before, err := skipUnchanged(parent, read, known)
			return unseen(before, seen), err
		})
	}
}

// skipUnchanged goes back from a line's event to the oldest one with the same state. It returns
// nothing if that leads to a known checkpoint.
func skipUnchanged(c *Checkpoint, read checkpointReader, known func(object.ID) bool) ([]*Checkpoint, error) {
	for c.commit.Header(LineHeader) != "" && len(c.commit.Parents) > 0 {
		before, err := read(c.commit.Parents[0])
		if err != nil {
			return nil, err
		}
		if before.tree != c.tree || before.commit.Header(state.MetadataHeader) != c.commit.Header(state.MetadataHeader) {
			break
		}
		if known(before.id) {
			return nil, nil
		}
		c = before
	}
	return []*Checkpoint{c}, nil
}

// ancestors yields the tips and, by the function parents, their ancestors, newest first.
func ancestors(ctx context.Context, tips []*Checkpoint, yield func(*Checkpoint, error) bool, parents func(*Checkpoint) ([]*Checkpoint, error)) {
	queue := newestFirst(tips)
	heap.Init(&queue)
	for queue.Len() > 0 {
		c := heap.Pop(&queue).(*Checkpoint)
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		if !yield(c, nil) {
			return
		}
		before, err := parents(c)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, p := range before {
			heap.Push(&queue, p)
		}
	}
}

// newestFirst is a heap of checkpoints by time. Commits keep whole seconds. Within one second a
// line keeps its own order, because a parent is pushed after its child was popped.
type newestFirst []*Checkpoint

func (q newestFirst) Len() int { return len(q) }

func (q newestFirst) Less(i, j int) bool { return q[i].When.After(q[j].When) }

func (q newestFirst) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *newestFirst) Push(x any) { *q = append(*q, x.(*Checkpoint)) }

func (q *newestFirst) Pop() any {
	last := (*q)[len(*q)-1]
	*q = slices.Delete(*q, len(*q)-1, len(*q))
	return last
}

// unseen leaves out checkpoints that came before, and notes the others.
func unseen(list []*Checkpoint, seen map[object.ID]bool) []*Checkpoint {
	return slices.DeleteFunc(list, func(c *Checkpoint) bool {
		was := seen[c.id]
		seen[c.id] = true
		return was
	})
}
