package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/identity"
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
	"fetch", "--no-tags", "--recurse-submodules=no",
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
	if where, err = r.remoteOr(where); err != nil {
		return nil, err
	}
	if specs, err := r.storeSpecs(where); err != nil || specs != nil {
		if err != nil {
			return nil, fmt.Errorf("fetch from %s: %w", where, err)
		}
		return r.fetchLines(ctx, where, &wanted{specs: specs})
	}
	p, why, err := r.Project(ctx)
	if err != nil {
		return nil, err
	}
	want := &wanted{keys: p.Keys(r.Root)}
	for _, key := range want.keys {
		want.specs = append(want.specs, lineSpec(key), aboutSpec(key), signedSpec(key+"/*"))
	}
	fetched, err = r.fetchLines(ctx, where, want)
	if errors.Is(err, state.ErrNotFound) && why != nil {
		err = fmt.Errorf("%w; the project is known by its path only, because %w; cairn adopt --id gives it an id", err, why)
	}
	return fetched, err
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
	in, err := r.judgeIncoming(ctx, q, own)
	if err = sealed.explained(err); err != nil {
		return nil, sealed.again, err
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
func (r *Transport) adopt(ctx context.Context, q *odb.Quarantine, in *incoming, sealed *sealedFetch, found []object.ID) (fetched []string, err error) {
	if len(in.lines)+len(in.signatures)+len(found) == 0 {
		if len(sealed.seen) == 0 {
			return nil, nil
		}
		return nil, r.Exclusive(ctx, sealed.keepSeen)
	}
	err = r.Exclusive(ctx, func(l *history.Locked) error {
		if err := q.Adopt(); err != nil {
			return err
		}
		if err := r.keepMachines(l, in.machines); err != nil {
			return err
		}
		if fetched, err = r.adoptIncoming(l, in); err != nil {
			return err
		}
		return errors.Join(r.adoptSignatures(l, in.signatures), sealed.keepSeen(l))
	})
	for _, id := range found {
		fetched = append(fetched, "lost object "+id.String())
	}
	return fetched, err
}

// quarantine makes a quarantine for a fetch. If the store lacks objects, the quarantine does not
// show git the store's refs: git would leave out the objects that these refs reach.
func (r *Transport) quarantine(alone bool) (*odb.Quarantine, error) {
	if alone {
		return r.DB.QuarantineAlone()
	}
	return r.DB.Quarantine()
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

// incoming is the result of a fetch after the audit.
type incoming struct {
	lines    []incomingLine
	machines map[string]history.Machine

	signatures []odb.Ref // lists of signed statements, under their names here

	audit   *audit
	commits map[object.ID]bool // checked
}

type incomingLine struct {
	name    string // <store id>/<line>
	id      object.ID
	forward bool // a descendant of the line's old value
}

func (r *Transport) judgeIncoming(ctx context.Context, q *odb.Quarantine, own string) (*incoming, error) {
	refs, err := q.Refs(RefIncoming)
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 {
		return nil, state.NotFound("no checkpoint of this project there (cairn fetch --list --all shows what is there)")
	}
	in := &incoming{audit: newAudit(q), commits: make(map[object.ID]bool)}
	if in.machines, err = r.machinesOf(q); err != nil {
		return nil, err
	}
	if in.signatures, err = r.signaturesOf(q, own); err != nil {
		return nil, err
	}
	trusted, err := r.trusted(ctx)
	if err != nil {
		return nil, err
	}
	places := make(map[string]int) // a store has pushed a line under two keys: the later release's counts
	for _, ref := range byKey(refs) {
		key, name, _ := strings.Cut(strings.TrimPrefix(ref.Name, RefIncoming), "/")
		store, line, ok := strings.Cut(name, "/")
		if ref.Err != nil {
			return nil, fmt.Errorf("line %s: %w", name, foreign(ref.Err))
		}
		if !ok || line == "" || !identity.IsKey(key) || !isStoreID(store) {
			return nil, fmt.Errorf("line %s: no store of cairn has such a line", name)
		}
		old, err := r.DB.Ref(history.RefRemotes + name)
		if err == nil && old == ref.ID {
			continue
		}
		met, err := in.judge(ctx, ref.ID, old, trusted)
		if err != nil {
			return nil, fmt.Errorf("line %s: %w", name, err)
		}
		if store == own { // lines of this store itself are not taken; their objects were audited like the others
			continue
		}
		found := incomingLine{name, ref.ID, met || old.IsZero() || strings.HasPrefix(line, "pins/")}
		if at, again := places[name]; again {
			in.lines[at] = found
			continue
		}
		places[name] = len(in.lines)
		in.lines = append(in.lines, found)
	}
	return in, nil
}

// byKey puts refs under keys that were made from paths first.
func byKey(refs []odb.Ref) []odb.Ref {
	old := func(ref odb.Ref) bool {
		key, _, _ := strings.Cut(strings.TrimPrefix(ref.Name, RefIncoming), "/")
		return identity.ByPath(key)
	}
	slices.SortStableFunc(refs, func(a, b odb.Ref) int {
		switch x, y := old(a), old(b); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	return refs
}

// machinesOf reads the notes that came. A note that cannot be read is logged: the lines count.
func (r *Transport) machinesOf(q *odb.Quarantine) (map[string]history.Machine, error) {
	notes, err := aboutRefs(q)
	if err != nil {
		return nil, err
	}
	machines := make(map[string]history.Machine)
	for _, note := range notes {
		a, err := readAbout(q, note.id)
		if err != nil {
			r.Log.Warn("note of a store left out", "store", note.store, "error", err)
			continue
		}
		machines[note.store] = history.Machine{Machine: a.Machine, User: a.User, Root: a.Root}
	}
	return machines, nil
}

// judge audits a commit and its ancestors, up to those that are trusted, and reports whether it met
// old.
func (in *incoming) judge(ctx context.Context, tip, old object.ID, trusted map[object.ID]bool) (met bool, err error) {
	seen := map[object.ID]bool{tip: true}
	for queue := []object.ID{tip}; len(queue) > 0; {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		met = met || id == old
		if trusted[id] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		var c *object.CommitData
		if in.commits[id] {
			if c, err = in.reread(id); err != nil {
				return false, err
			}
		} else if c, err = in.audit.checkpoint(id); err != nil {
			return false, err
		}
		in.commits[id] = true
		for _, parent := range c.Parents {
			if !seen[parent] {
				seen[parent] = true
				queue = append(queue, parent)
			}
		}
	}
	return met, nil
}

func (in *incoming) reread(id object.ID) (*object.CommitData, error) {
	data, err := in.audit.read(object.Commit, id)
	if err != nil {
		return nil, err
	}
	return object.ParseCommit(data)
}

// trusted returns every commit that is reachable from a ref of this store.
func (r *Transport) trusted(ctx context.Context) (map[object.ID]bool, error) {
	refs, err := r.DB.Refs(history.RefRoot)
	if err != nil {
		return nil, err
	}
	known := make(map[object.ID]bool)
	var queue []object.ID
	for _, ref := range refs {
		if ref.Err == nil && ref.Name != history.RefDisk {
			queue = append(queue, ref.ID)
		}
	}
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if known[id] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c, err := r.ReadCheckpoint(id); err == nil {
			known[id] = true
			queue = append(queue, history.CommitOf(c).Parents...)
		}
	}
	return known, nil
}

// adoptIncoming sets the refs of the audited lines. Their objects are in the store now, unless a
// cleaning has removed some that the store had before.
func (r *Transport) adoptIncoming(l *history.Locked, in *incoming) (fetched []string, err error) {
	r.Holds(l)
	if err := r.hasAll(in); err != nil {
		return nil, err
	}
	for _, line := range in.lines {
		ref := history.RefRemotes + line.name
		if old, err := r.DB.Ref(ref); err == nil && !line.forward {
			// The other store has begun its line again: the old value stays under another name.
			if err := r.DB.SetRef(ref+"-"+old.String()[:BeginningDigits], old); err != nil {
				return fetched, err
			}
		}
		if err := r.DB.SetRef(ref, line.id); err != nil {
			return fetched, err
		}
		fetched = append(fetched, line.name)
	}
	return fetched, nil
}

func (r *Transport) hasAll(in *incoming) error {
	holds := func(id object.ID) error {
		ok, err := r.DB.Has(id)
		if err == nil && !ok {
			err = fmt.Errorf("object %s has gone meanwhile (fetch again)", id)
		}
		return err
	}
	for id := range in.commits {
		if err := holds(id); err != nil {
			return err
		}
	}
	for id := range in.audit.trees {
		if err := holds(id); err != nil {
			return err
		}
	}
	for id := range in.audit.blobs {
		if err := holds(id); err != nil {
			return err
		}
	}
	return nil
}
