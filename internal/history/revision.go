package history

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// revision is a parsed text that names a checkpoint:
//
//	@     the newest checkpoint
//	@~N   the Nth before it
//	@green  the newest checkpoint whose tests passed, see Verdicts
//	hash  the id of a commit or of a tree, or a prefix of at least MinPrefix hexadecimal
//	      digits of one, in either case. A tree stands for the newest checkpoint with
//	      that tree. Only one checkpoint may match.
//	name  the name of a pin: any other text
type revision struct {
	kind revisionKind
	text string // the digits in lower case, or the name
	back int    // how many checkpoints before the newest
}

type revisionKind int

const (
	byAge revisionKind = iota
	byHash
	byName
	byResult
)

// MinPrefix is the shortest prefix of an id that is looked up, as in git.
const MinPrefix = 4

// hashPrefix reports whether a text has the form of an id or of a prefix of one.
func hashPrefix(text string) bool {
	return len(text) >= MinPrefix && len(text) <= 2*len(object.ID{}) &&
		strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

// parseRevision reads a revision. The error wraps ErrNotFound.
func parseRevision(spec string) (revision, error) {
	age, ok := strings.CutPrefix(spec, "@")
	switch {
	case !ok && hashPrefix(spec):
		return revision{kind: byHash, text: strings.ToLower(spec)}, nil
	case !ok:
		return revision{kind: byName, text: spec}, nil
	case age == "":
		return revision{kind: byAge}, nil
	case spec == green:
		return revision{kind: byResult}, nil
	}
	back, err := strconv.ParseUint(strings.TrimPrefix(age, "~"), 10, 31)
	if err != nil || age[0] != '~' {
		return revision{}, state.NotFound("checkpoint %q (want @, @~N or @green)", spec)
	}
	return revision{kind: byAge, back: int(back)}, nil
}

// Lookup finds a checkpoint by the id of its tree (the newest with that tree) or of
// its commit, a unique prefix of either, @ (the newest), @~N (N before it), @green (the
// newest whose tests passed) or the name of a pin, of this store or else of another one that was fetched.
// Errors wrap ErrNotFound or ErrAmbiguous.
func (r *Store) Lookup(ctx context.Context, spec string) (*Checkpoint, error) {
	rev, err := parseRevision(spec)
	if err != nil {
		return nil, err
	}
	switch rev.kind {
	case byHash:
		return r.lookupHash(ctx, rev.text)
	case byName:
		return r.lookupName(rev.text)
	case byResult:
		return r.lookupGreen(ctx)
	default:
		return r.lookupAge(ctx, spec, rev.back)
	}
}

// lookupAge finds the checkpoint that lies back before the newest.
func (r *Store) lookupAge(ctx context.Context, spec string, back int) (*Checkpoint, error) {
	n := 0
	for c, err := range r.Checkpoints(ctx) {
		if err != nil {
			return nil, err
		}
		if n == back {
			return c, nil
		}
		n++
	}
	return nil, state.NotFound("checkpoint %s: there are only %d", spec, n)
}

// lookupName finds the checkpoint of a pin. Those of this store come first.
func (r *Store) lookupName(name string) (*Checkpoint, error) {
	id, err := object.ID{}, checkName(name)
	if err == nil {
		id, err = r.DB.Ref(pinRef(name))
	}
	if err != nil && errors.Is(err, odb.ErrNotFound) {
		id, err = r.fetchedPin(name)
	}
	switch {
	case errors.Is(err, odb.ErrNotFound), errors.Is(err, ErrName):
		return nil, state.NotFound("checkpoint %q (want a hash, at least %d hex digits of one, @ or @~N, or a pinned name)", name, MinPrefix)
	case err != nil:
		return nil, err
	}
	return r.ReadCheckpoint(id)
}

// maxCandidates bounds how many objects a short prefix is allowed to match.
const maxCandidates = 1000

// lookupHash finds the checkpoint whose commit or tree has an id with a prefix.
func (r *Store) lookupHash(ctx context.Context, prefix string) (*Checkpoint, error) {
	ids, err := r.DB.Prefix(prefix, maxCandidates)
	if err != nil {
		return nil, err
	}
	if ids, err = r.withReplaced(ctx, prefix, ids); err != nil {
		return nil, err
	}
	c, err := r.lookupIDs(ctx, prefix, r.withoutLost(ids))
	if !errors.Is(err, state.ErrNotFound) || errors.Is(err, ErrThinned) {
		return c, err
	}
	if t, failed := r.thinnedWith(prefix); t != nil || failed != nil {
		return nil, errors.Join(failed, t.thinnedError())
	}
	if why := r.LossOf(prefix); why != "" {
		err = state.NotFound("%s", why)
	}
	return c, err
}

// withReplaced puts replacements in the place of replaced objects. It adds the replacements of objects
// that are gone, if their ids had the prefix. A replaced object may be in the store until the next
// cleaning. A tree is replaced only as long as no checkpoint has it again: after purge --lift the same files
// give the same id.
func (r *Store) withReplaced(ctx context.Context, prefix string, ids []object.ID) ([]object.ID, error) {
	all := r.presentReplaced(func(id object.ID) bool { return strings.HasPrefix(id.String(), prefix) })
	again := make(map[object.ID]bool) // trees that checkpoints may have
	for _, id := range ids {
		if _, was := all[id]; !was {
			continue
		}
		if kind, _, err := r.DB.Stat(id); err == nil && kind == object.Tree {
			again[id] = true
		}
	}
	if len(again) > 0 {
		found, err := r.newestWithTree(ctx, again)
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			delete(all, c.tree)
		}
	}
	ids = slices.DeleteFunc(ids, func(id object.ID) bool { _, was := all[id]; return was })
	for _, now := range all {
		if !slices.Contains(ids, now) {
			ids = append(ids, now)
		}
	}
	return ids, nil
}

// lookupIDs picks the one checkpoint among the objects that a prefix matches.
// Trees count only as the whole state of a checkpoint: restoring the tree of some
// sub-directory as if it were the root would delete everything else.
func (r *Store) lookupIDs(ctx context.Context, spec string, ids []object.ID) (*Checkpoint, error) {
	trees := make(map[object.ID]bool)
	var found []*Checkpoint
	for _, id := range ids {
		kind, _, err := r.DB.Stat(id)
		if errors.Is(err, odb.ErrNotFound) && r.ThinnedTable().Has(id) { // the replacement that a purge has made
			kind, err = object.Commit, nil
		}
		switch {
		case err != nil:
			return nil, err
		case kind == object.Tree:
			trees[id] = true
		case kind == object.Commit:
			c, err := r.ReadCheckpoint(id)
			if err != nil && !errors.Is(err, state.ErrNotFound) {
				return nil, err
			}
			if err == nil {
				found = append(found, c)
			}
		}
	}
	if len(trees) > 0 {
		byTree, err := r.newestWithTree(ctx, trees)
		if err != nil {
			return nil, err
		}
		found = append(found, byTree...)
	}
	switch len(found) {
	case 0:
		return nil, state.NotFound("checkpoint %s", spec)
	case 1:
		if err := found[0].thinnedError(); err != nil {
			return nil, err
		}
		return found[0], nil
	}
	return nil, couldBe(spec, found[0].ID, found[1].ID)
}

// couldBe is the error of a prefix that two checkpoints have.
func couldBe(prefix, one, other string) error {
	return fmt.Errorf("%w: %s could be %s or %s (give more digits)", state.ErrAmbiguous, prefix, one, other)
}

// newestWithTree finds the newest checkpoint of each tree: in the lines first, then among the states
// that operations saved, then among pins and imports.
func (r *Store) newestWithTree(ctx context.Context, trees map[object.ID]bool) (found []*Checkpoint, err error) {
	for _, source := range []iter.Seq2[*Checkpoint, error]{r.Checkpoints(ctx), r.operationStates(ctx), r.otherStates(ctx)} {
		for c, err := range source {
			if err != nil {
				return nil, err
			}
			if trees[c.tree] {
				delete(trees, c.tree)
				found = append(found, c)
			}
			if len(trees) == 0 {
				return found, nil
			}
		}
	}
	return found, nil
}

// alikeWithin bounds how many checkpoints Alike looks at.
const alikeWithin = 200

// Alike returns the newest checkpoint that has the tree of c, and other permission bits or directories without
// captured files; nil if there is none among the newest. The id of a tree cannot name it, as it cannot name c.
func (r *Store) Alike(ctx context.Context, c *Checkpoint) (*Checkpoint, error) {
	own, err := StateOf(c)
	if err != nil {
		return nil, err
	}
	n := 0
	for other, err := range r.Checkpoints(ctx) {
		if n++; err != nil || n > alikeWithin {
			return nil, err
		}
		if other.tree != c.tree {
			continue
		}
		if st, err := StateOf(other); err == nil && !st.Equals(own) {
			return other, nil
		}
	}
	return nil, nil
}
