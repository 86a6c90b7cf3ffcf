package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// RefIncoming is the prefix of fetched refs in a quarantine.
const RefIncoming = history.RefRoot + "incoming/"

// fetchArgs make git check incoming objects. Git's checks of .gitmodules and .gitattributes are
// off: here these are files like others.
var fetchArgs = []string{
	"-c", "fetch.fsckObjects=true", "-c", "transfer.fsckObjects=true", "-c", "fetch.unpackLimit=1",
	"-c", "fetch.fsck.gitmodulesBlob=ignore", "-c", "fetch.fsck.gitmodulesLarge=ignore", "-c", "fetch.fsck.gitmodulesMissing=ignore",
	"-c", "fetch.fsck.gitmodulesName=ignore", "-c", "fetch.fsck.gitmodulesParse=ignore", "-c", "fetch.fsck.gitmodulesPath=ignore",
	"-c", "fetch.fsck.gitmodulesSymlink=ignore", "-c", "fetch.fsck.gitmodulesUpdate=ignore", "-c", "fetch.fsck.gitmodulesUrl=ignore",
	"-c", "core.bigFileThreshold=16m", "-c", "pack.threads=1", // larger blobs are streamed
	"fetch", "--no-tags", "--recurse-submodules=no", "--update-shallow", // else git leaves out lines that begin later there
}

// maxExpanded is the size of the largest piece of memory that git may ask for while it checks what
// comes. A larger object that cannot be streamed ends the fetch before git expands it.
const (
	maxExpanded     = "256m"
	maxExpandedText = "256 MiB"
)

// fetchInto lets git fetch refs into a quarantine.
func (m *remote) fetchInto(ctx context.Context, q *odb.Quarantine, specs []string) error {
	if _, err := m.run(ctx, q.Dir(), fetchArgs, specs, "GIT_ALLOC_LIMIT="+maxExpanded); err != nil {
		return err
	}
	q.PackNames() // lists what git has written
	return nil
}

// lineSpec and aboutSpec are the refspecs of a project's lines, and of the notes about their stores.
func lineSpec(key string) string {
	return "+" + history.RefRoot + key + "/*:" + RefIncoming + key + "/*"
}
func aboutSpec(key string) string { return "+" + refAbout + key + "/*:" + refAbout + key + "/*" }

// Fetch brings the lines that other stores of this project have pushed to a git repository, a URL
// or a path. cairn.Repo.Fetch states the contract.
func (r *Transport) Fetch(ctx context.Context, where string) (fetched []string, err error) {
	if where, err = given(where, r.Source); err != nil {
		return nil, err
	}
	if specs, err := r.storeSpecs(where); err != nil || specs != nil {
		if err != nil {
			return nil, fmt.Errorf("fetch from %s: %w", where, err)
		}
		return r.fetchLines(ctx, where, &wanted{specs: specs})
	}
	p, _, err := r.Project(ctx)
	if err != nil {
		return nil, err
	}
	want := &wanted{keys: p.Keys(r.Root)}
	for _, key := range want.keys {
		want.specs = append(want.specs, lineSpec(key), aboutSpec(key), signedSpec(key+"/*"))
	}
	m, err := r.open(where)
	if err != nil {
		return nil, err
	}
	if fetched, err = r.fetchFrom(ctx, m, want); err != nil {
		return fetched, r.unknown(ctx, err)
	}
	return fetched, r.keep(ctx, odb.PrivateSource, m)
}

// unknown adds a reason to an error that nothing was found: the project may be known by its path only.
func (r *Transport) unknown(ctx context.Context, err error) error {
	if !errors.Is(err, state.ErrNotFound) {
		return err
	}
	if _, why, _ := r.Project(ctx); why != nil {
		err = fmt.Errorf("%w; the project is known by its path only, because %w; cairn adopt --id gives it an id", err, why)
	}
	return err
}

// storeSpecs returns the refspecs that bring the lines of another store on this machine, nil where
// the directory is no store.
func (r *Transport) storeSpecs(where string) (specs []string, err error) {
	if !IsLocal(where) {
		return nil, nil
	}
	db, err := odb.Open(where, "", odb.Options{})
	if errors.Is(err, odb.ErrNotStore) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if db.Dir() == r.DB.Dir() {
		return nil, fmt.Errorf("%w: it is the store of this project itself", state.ErrRoot)
	}
	id, err := db.Identity(false)
	if errors.Is(err, odb.ErrNotFound) {
		id, err = odb.ProjectID(db.Dir()), nil
	}
	to := RefIncoming + odb.ProjectID(db.Root()) + "/" + id + "/"
	for _, name := range []string{"tracks/*", "sessions/*", "pins/*", "imported/*", "lost/*"} {
		specs = append(specs, "+"+history.RefRoot+name+":"+to+name)
	}
	return specs, err
}

// fetchLines brings lines.
func (r *Transport) fetchLines(ctx context.Context, where string, want *wanted) (fetched []string, err error) {
	m, err := r.open(where)
	if err != nil {
		return nil, err
	}
	return r.fetchFrom(ctx, m, want)
}

func (r *Transport) fetchFrom(ctx context.Context, m *remote, want *wanted) (fetched []string, err error) {
	fetched, again, err := r.fetch(ctx, m, want, false)
	if err != nil && again && ctx.Err() == nil { // a cleaning may have dropped what sealed parts need
		fetched, _, err = r.fetch(ctx, m, want, true)
	}
	if err != nil {
		err = fmt.Errorf("fetch from %s: %w", m, err)
	}
	return fetched, err
}

// fetch brings lines, with all also what has come before. again says that this could end another way with all.
func (r *Transport) fetch(ctx context.Context, m *remote, want *wanted, all bool) (fetched []string, again bool, err error) {
	own, err := r.DB.Identity(false)
	if err != nil && !errors.Is(err, odb.ErrNotFound) {
		return nil, false, err
	}
	lacks, err := r.Lacking(ctx)
	if err != nil {
		return nil, false, err
	}
	q, err := r.quarantine(len(lacks) > 0)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	sealed := &sealedFetch{Transport: r, m: m, want: want, all: all || len(lacks) > 0}
	if q, err = r.receive(ctx, q, sealed, own, len(lacks) > 0); err != nil {
		return nil, sealed.again, err
	}
	in, err := r.judgeIncoming(ctx, q, want, own, sealed.mine)
	if err = sealed.explained(err); err != nil {
		return nil, sealed.again, err
	}
	if sealed.shown { // before the lines are here: a push in the background must not be faster
		if err := r.shownFrom(ctx, m.url); err != nil {
			return nil, false, err
		}
	}
	fetched, err = r.adopt(ctx, q, in, sealed, foundIn(q, lacks))
	return fetched, sealed.again, err
}

// receive brings open lines and sealed ones into a quarantine. One connection brings the open lines and the
// sealed notes. Where no open line has come, another quarantine takes the place of the one with the notes.
func (r *Transport) receive(ctx context.Context, q *odb.Quarantine, sealed *sealedFetch, own string, alone bool) (*odb.Quarantine, error) {
	specs := sealed.want.specs
	if len(sealed.want.keys) > 0 {
		specs = append(slices.Clone(specs), notesSpec)
	}
	if err := sealed.m.fetchInto(ctx, q, specs); err != nil {
		return q, err
	}
	var err error
	if sealed.notes, err = r.sealedNotes(q); err != nil || len(sealed.notes.open) == 0 {
		return q, err
	}
	lines, err := q.Refs(RefIncoming)
	if err != nil {
		return q, err
	}
	if len(lines) == 0 {
		next, err := r.quarantine(alone)
		if err != nil {
			return q, err
		}
		if err := q.Discard(); err != nil {
			return next, err
		}
		q = next
	}
	sealed.q = q
	return q, sealed.bring(ctx, own)
}

// adopt takes over what a quarantine holds. Found are lost objects that have come back.
func (r *Transport) adopt(
	ctx context.Context, q *odb.Quarantine, in *incoming, sealed *sealedFetch, found []object.ID,
) (fetched []string, err error) {
	if len(in.lines)+len(in.signatures)+len(found) == 0 {
		if len(sealed.seen) == 0 {
			return nil, nil
		}
		return nil, r.Exclusive(ctx, sealed.writeSeen)
	}
	err = r.Exclusive(ctx, func(l *history.Locked) error {
		if err := q.Adopt(); err != nil {
			return err
		}
		if err := r.writeMachines(l, in.machines); err != nil {
			return err
		}
		if fetched, err = r.adoptIncoming(l, in); err != nil {
			return err
		}
		return errors.Join(r.adoptSignatures(l, in.signatures), sealed.writeSeen(l))
	})
	if err == nil {
		r.tellPurged(ctx, in.trees, "the fetched lines")
	}
	for _, id := range found {
		fetched = append(fetched, "lost object "+id.String())
	}
	return fetched, err
}

// quarantine makes a quarantine for a fetch. If the store lacks objects, the quarantine does not
// show git the store's refs: git would leave out the objects that these refs reach. Else git sees there, too, where
// the lines of the store end.
func (r *Transport) quarantine(alone bool) (*odb.Quarantine, error) {
	if alone {
		return r.DB.QuarantineAlone()
	}
	q, err := r.DB.Quarantine()
	if err != nil {
		return nil, err
	}
	if err := q.SetShallow(r.DB.Ends()); err != nil {
		return nil, errors.Join(err, q.Discard())
	}
	return q, nil
}

// foundIn returns the objects that a quarantine holds.
func foundIn(q *odb.Quarantine, ids []object.ID) (found []object.ID) {
	for _, id := range ids {
		if ok, err := q.DB.Has(id); err == nil && ok {
			found = append(found, id)
		}
	}
	return found
}
