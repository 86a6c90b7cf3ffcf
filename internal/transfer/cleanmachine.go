package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/envelope"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// CleanRemoteMachine deletes what another store has on a remote. cairn.Repo.CleanRemoteMachine states the contract.
func (r *Transport) CleanRemoteMachine(ctx context.Context, where, machine string, dryRun bool) (dropped []string, err error) {
	if where, err = r.remoteOr(where); err != nil {
		return nil, err
	}
	m, err := r.open(where)
	if err != nil {
		return nil, err
	}
	if dropped, err = r.cleanMachine(ctx, m, machine, dryRun); err != nil {
		err = fmt.Errorf("clean %s: %w", m, err)
	}
	return dropped, err
}

func (r *Transport) cleanMachine(ctx context.Context, m *remote, machine string, dryRun bool) (dropped []string, err error) {
	p, _, err := r.Project(ctx)
	if err != nil {
		return nil, err
	}
	list, err := r.listRemote(ctx, m, p.Keys(r.Root), false)
	if err != nil {
		return nil, err
	}
	store, err := pickStore(list, machine)
	if err != nil {
		return nil, err
	}
	q, err := r.DB.QuarantineAlone()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	refs, err := r.allOf(ctx, m, q, store)
	if err != nil || dryRun {
		return namesOf(refs), err
	}
	return m.drop(ctx, q.Dir(), refs)
}

// allOf lists all refs of a store, under every key. The notes are last: until they go, an interrupted call can be made
// again.
func (r *Transport) allOf(ctx context.Context, m *remote, q *odb.Quarantine, store string) (list []thereRef, err error) {
	if err := m.fetchInto(ctx, q, []string{notesSpec}); err != nil {
		return nil, err
	}
	notes, err := r.sealedNotes(q)
	if err != nil {
		return nil, err
	}
	sealed := make(map[string]bool) // ids of its notes
	for _, note := range notes.open {
		sealed[note.ID] = sealed[note.ID] || note.Store == store
	}
	refs, err := m.refs(ctx, q.Dir())
	var last []thereRef
	for _, ref := range refs {
		ref.name = strings.TrimPrefix(ref.to, history.RefRoot)
		part, isPart := strings.CutPrefix(ref.to, envelope.RefParts)
		id, _, _ := strings.Cut(part, "/")
		note, isNote := strings.CutPrefix(ref.to, envelope.RefNotes)
		switch p := placeOf(ref.to); {
		case isNote && sealed[note], p.store == store && p.kind == refAbout && p.line == "":
			last = append(last, ref)
		case isPart && sealed[id], p.store == store && p.kind != refAbout && p.line != "":
			list = append(list, ref)
		}
	}
	return append(list, last...), err
}

// pickStore finds the one store of this project whose id or machine is given.
func pickStore(list []RemoteProject, machine string) (store string, err error) {
	var found []string
	for _, p := range list {
		for _, s := range p.Stores {
			switch {
			case !p.Here || s.Store != machine && s.Machine != machine:
			case s.Own:
				err = fmt.Errorf("%s is this machine (cairn gc --remote drops what this store no longer has)", machine)
			case !slices.Contains(found, s.Store):
				found = append(found, s.Store)
			}
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("%w: %s has %s (give the id of one)", state.ErrAmbiguous, machine, strings.Join(found, " and "))
	case err != nil:
		return "", err
	}
	return "", state.NotFound("no store of this project there has the id or the machine %q (cairn fetch --list shows them)", machine)
}
