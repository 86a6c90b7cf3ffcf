package verify

import (
	"errors"
	"fmt"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// commit checks a commit with its state. It returns nil for a commit that is too old, is not there or
// cannot be read.
func (v *verifier) commit(id object.ID) *commit {
	if rec := v.ends.Thinned(id); rec != nil {
		return v.thinned(id, rec)
	}
	data, ok := v.read(object.Commit, id)
	if !ok {
		return nil
	}
	c, err := object.ParseCommit(data)
	if err != nil {
		v.fault(FindObject, id, "commit %s: %v", id, err)
		return nil
	}
	if c.Committer.When.Before(v.since) {
		return nil
	}
	v.report.Objects++
	if err := checkMetadata(c); err != nil {
		v.fault(FindCheckpoint, id, "commit %s: %v", id, err)
	}
	v.tree(c.Tree, id)
	out := &commit{data: c, parents: c.Parents}
	if v.ends.Has(id, c.Parents) {
		if len(c.Parents) > 0 {
			v.gap(Note{
				Kind: GapCleaned, Checkpoint: id.String(),
				Text: fmt.Sprintf("the line begins with %s: what came before was cleaned away", id),
			})
		}
		out.parents = nil
	} else if len(c.Parents) > 0 && v.ends.Thinned(c.Parents[0]) != nil {
		v.noteThinned(id)
	}
	return out
}

// noteThinned notes how many thinned checkpoints precede one.
func (v *verifier) noteThinned(id object.ID) {
	c, err := v.ReadCheckpoint(id)
	if err != nil {
		return // a finding
	}
	v.gap(Note{
		Kind: GapThinned, Checkpoint: id.String(),
		Text: fmt.Sprintf("%s before %s without a state: a cleaning has thinned the line", wording.Count(c.ThinnedBefore, "checkpoint"), id),
	})
}

// thinned checks a thinned commit: its bytes are those of its id, so the chain is whole. Its state and what
// lay beside it are gone.
func (v *verifier) thinned(id object.ID, rec *thinned.Record) *commit {
	c, err := object.ParseCommit(rec.Commit)
	if err != nil {
		v.fault(FindObject, id, "thinned commit %s: %v", id, err)
		return nil
	}
	if c.Committer.When.Before(v.since) {
		return nil
	}
	v.report.Objects++
	if err := checkMetadata(c); err != nil {
		v.fault(FindCheckpoint, id, "thinned commit %s: %v", id, err)
	}
	out := &commit{data: c, gone: true}
	if before := v.BeforeThinned(v.ends, rec); !before.IsZero() {
		out.parents = []object.ID{before}
	}
	return out
}

// checkMetadata checks what only cairn writes.
func checkMetadata(c *object.CommitData) error {
	header := c.Header(state.MetadataHeader)
	if header == "" {
		return errors.New("it is no checkpoint of cairn")
	}
	m, err := state.DecodeMetadata(header)
	if err == nil {
		err = m.CheckPaths()
	}
	return err
}

// read reads an object. The store compares its bytes with its name.
func (v *verifier) read(want object.Kind, id object.ID) (data []byte, ok bool) {
	kind, data, err := v.DB.Read(id)
	switch {
	case errors.Is(err, odb.ErrNotFound):
		v.fault(FindMissing, id, "%s %s is missing", want, id)
	case err != nil:
		v.fault(FindObject, id, "%s %s: %v", want, id, err)
	case kind != want:
		v.fault(FindObject, id, "%s is a %s, not a %s", id, kind, want)
	default:
		return data, true
	}
	return nil, false
}

func (v *verifier) fault(kind string, id object.ID, format string, args ...any) {
	v.finding(Note{Kind: kind, Checkpoint: id.String(), Text: fmt.Sprintf(format, args...)})
}

// tree checks a tree and everything below it, each once.
func (v *verifier) tree(id, of object.ID) {
	if v.trees[id] || v.ctx.Err() != nil {
		return
	}
	v.trees[id] = true
	if id == object.EmptyTree { // not every store holds it
		return
	}
	data, ok := v.read(object.Tree, id)
	if !ok {
		return
	}
	v.report.Objects++
	entries, err := object.ParseTree(data)
	if err != nil {
		v.fault(FindObject, id, "tree %s of checkpoint %s: %v", id, of, err)
		return
	}
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Mode == object.Dir:
			v.tree(e.ID, of)
		case e.Mode == object.Gitlink:
			v.fault(FindCheckpoint, of, "checkpoint %s holds a submodule, which no checkpoint holds as such", of)
		default:
			v.blob(e.ID, of)
		}
	}
}

// blob reads the contents of a file to their end, where the store compares them with their name.
func (v *verifier) blob(id, of object.ID) {
	if v.blobs[id] || v.ctx.Err() != nil {
		return
	}
	v.blobs[id] = true
	kind, _, in, err := v.DB.Open(id)
	if err == nil {
		_, err = io.Copy(io.Discard, in)
		in.Close()
		if err == nil && kind != object.Blob {
			err = fmt.Errorf("it is a %s", kind)
		}
	}
	switch {
	case errors.Is(err, odb.ErrNotFound):
		v.fault(FindMissing, id, "file %s of checkpoint %s is missing", id, of)
	case err != nil:
		v.fault(FindObject, id, "file %s of checkpoint %s: %v", id, of, err)
	default:
		v.report.Objects++
	}
}

// holds reports whether an object that a record names is in the store.
func (v *verifier) holds(text string) bool {
	id, err := object.ParseID(text)
	if err != nil {
		return false
	}
	ok, err := v.DB.Has(id)
	return ok && err == nil || v.ends.Thinned(id) != nil
}

// stateOf returns the id of the tree of a commit.
func (v *verifier) stateOf(text string) (tree string, ok bool) {
	id, err := object.ParseID(text)
	if err != nil {
		return "", false
	}
	c, err := v.ReadCheckpoint(id)
	if err != nil {
		return "", false
	}
	return history.TreeOf(c).String(), true
}
