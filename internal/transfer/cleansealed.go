package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/envelope"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// cleanSealed seals the lines again without those that this store has not. Where pushes are open since, the sealed lines
// go as a whole: the store has pushed openly all lines that it has.
func (r *Transport) cleanSealed(ctx context.Context, m *remote, dryRun bool) (dropped []string, err error) {
	recipients, err := r.recipients(m.url)
	at := r.sealedNow(m.url)
	if err != nil || at.There == nil || len(recipients) == 0 && len(at.Recipients) > 0 {
		return nil, err
	}
	heads := envelope.Heads(at.There.Listed())
	stay, dropped, err := r.sealedSurplus(heads)
	if err != nil || len(dropped) == 0 {
		return nil, err
	}
	if err := r.wholeHere(ctx, stay, heads); err != nil || dryRun {
		return dropped, err
	}
	if len(recipients) == 0 {
		return dropped, r.dropSealed(ctx, m)
	}
	_, err = r.pushSealed(ctx, m, recipients, true, true)
	return dropped, err
}

// sealedSurplus returns the sealed lines that stay, and the names of the others.
func (r *Transport) sealedSurplus(heads map[string]envelope.Head) (stay []thereRef, dropped []string, err error) {
	var there, replaced []thereRef
	for name, head := range heads {
		switch here, err := r.hasHead(head.ID); {
		case err != nil:
			return nil, nil, err
		case strings.HasPrefix(history.RefRoot+name, history.RefSignatures):
		case here:
			there = append(there, thereRef{name: name, id: head.ID.String()})
		default: // a purge has rewritten the line, or it was begun again
			replaced = append(replaced, thereRef{name: name, id: head.ID.String()})
		}
	}
	surplus, err := r.surplus(there)
	if dropped = append(namesOf(surplus), namesOf(replaced)...); err != nil || len(dropped) == 0 {
		return nil, nil, err
	}
	if _, harmed, err := r.splitHarmed(append(surplus[:len(surplus):len(surplus)], replaced...)); err != nil || len(harmed) > 0 {
		return nil, nil, cmp.Or(err, errHarmed)
	}
	return slices.DeleteFunc(there, func(ref thereRef) bool { return slices.Contains(surplus, ref) }), dropped, nil
}

// dropSealed deletes all that this store has sealed on a remote, the note first: a fetch needs the parts that a note
// lists.
func (r *Transport) dropSealed(ctx context.Context, m *remote) (err error) {
	end, err := r.oneSealing(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	at := r.sealedNow(m.url)
	if at.There == nil || len(at.Recipients) > 0 {
		return nil // another process has pushed meanwhile
	}
	q, err := r.DB.QuarantineAlone()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	there, err := m.sealedThere(ctx, q.Dir(), at.There.ID)
	if err != nil {
		return err
	}
	var refs []thereRef
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(there))) { // refs/cairn/sealed/ comes after refs/cairn/parts/
		refs = append(refs, thereRef{partName, name, there[name]})
	}
	if _, err := m.drop(ctx, q.Dir(), refs); err != nil {
		return err
	}
	return r.writeSealed(m.url, new(envelope.Pushed))
}

// errHarmed: the sealed lines go as one, so none is dropped.
var errHarmed = errors.New("a repair has lost a part of a line here, and it may be whole there: nothing is sealed again " +
	"(cairn doctor --fix --from REMOTE looks there)")

// hasHead reports whether a commit is in the store, thinned or not.
func (r *Transport) hasHead(id object.ID) (bool, error) {
	here, err := r.DB.Has(id)
	if err == nil && !here {
		_, missing := r.ReadCheckpoint(id)
		here = missing == nil
	}
	return here, err
}

// wholeHere returns an error if the store cannot seal lines again that are on a remote: their beginnings are only
// there.
func (r *Transport) wholeHere(ctx context.Context, lines []thereRef, heads map[string]envelope.Head) error {
	line := r.ancestry(ctx, nil)
	for _, ref := range lines {
		whole, err := r.whole(line, ref.name, heads[ref.name].ID)
		if err != nil {
			return err
		}
		if !whole {
			return fmt.Errorf("line %s goes on, and its beginning is only there: nothing is sealed again "+
				"(cairn push --encrypt for other recipients does it without the line)", ref.name)
		}
	}
	return nil
}
