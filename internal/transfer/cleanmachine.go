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
	keys := p.Keys(r.Root)
	list, err := r.listRemote(ctx, m, keys, false)
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
	prefixes, err := r.placesOf(ctx, m, q, keys, store)
	if err != nil {
		return nil, err
	}
	refs, err := m.below(ctx, q.Dir(), prefixes)
	for i := range refs {
		refs[i].name = strings.TrimPrefix(refs[i].to, history.RefRoot)
	}
	if err != nil || dryRun {
		return namesOf(refs), err
	}
	return m.drop(ctx, q.Dir(), refs)
}

// placesOf lists the beginnings of all refs of a store. The notes are last: until they go, an interrupted call can be
// made again.
func (r *Transport) placesOf(
	ctx context.Context, m *remote, q *odb.Quarantine, keys []string, store string,
) (prefixes []string, err error) {
	for _, key := range keys {
		prefixes = append(prefixes, history.RefRoot+key+"/"+store+"/", history.RefSignatures+key+"/"+store+"/")
	}
	if err := m.fetchInto(ctx, q, []string{notesSpec}); err != nil {
		return nil, err
	}
	notes, err := r.sealedNotes(q)
	if err != nil {
		return nil, err
	}
	var last []string
	for _, note := range notes.open {
		if note.Store == store && slices.Contains(keys, note.Key) {
			prefixes, last = append(prefixes, envelope.RefParts+note.ID+"/"), append(last, envelope.RefNotes+note.ID)
		}
	}
	for _, key := range keys {
		last = append(last, refAbout+key+"/"+store)
	}
	return append(prefixes, last...), nil
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
