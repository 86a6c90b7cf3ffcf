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
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// staysHere reports whether only this store needs a ref, or whether it is of another store.
func staysHere(ref string) bool {
	switch ref {
	case history.RefDisk, history.RefBefore, history.RefTests, history.RefForked, thinned.Ref:
		return true
	}
	for _, prefix := range []string{history.RefRemotes, history.RefGit, history.RefForks, history.RefOutside, history.RefSignatures} {
		if strings.HasPrefix(ref, prefix) {
			return true
		}
	}
	return false
}

// ownRefs lists the refs of checkpoints except those that only this store needs and those of other
// stores.
func (r *Transport) ownRefs() (own []odb.Ref, err error) {
	refs, err := r.DB.Refs(history.RefRoot)
	for _, ref := range refs {
		if staysHere(ref.Name) {
			continue
		}
		own = append(own, ref)
	}
	return own, err
}

// ownLines lists the refs to push. Damaged ones are left out and logged.
func (r *Transport) ownLines() (own []odb.Ref, err error) {
	refs, err := r.ownRefs()
	for _, ref := range refs {
		if err := r.sound(ref); err != nil {
			r.Log.Warn("line not pushed", "ref", ref.Name, "error", err)
			continue
		}
		own = append(own, ref)
	}
	return own, err
}

// sound returns the damage of a line that keeps it from being pushed.
func (r *Transport) sound(ref odb.Ref) error {
	if ref.Err != nil {
		return ref.Err
	}
	_, err := r.ReadCheckpoint(ref.ID)
	return err
}

// Push sends the lines of this store, with pins, operations and imported checkpoints, to a git
// repository: a URL or a path. cairn.Repo.Push states the contract.
func (r *Transport) Push(ctx context.Context, where string) (pushed []string, err error) {
	if where, err = r.remoteOr(where); err != nil {
		return nil, err
	}
	m, err := r.open(where)
	if err != nil {
		return nil, err
	}
	pushed, err = r.pushAndNote(ctx, m)
	if err == nil {
		err = r.remember(ctx, m)
	}
	if err != nil {
		err = fmt.Errorf("push to %s: %w", m, err)
	}
	return pushed, err
}

// pushAndNote pushes, and notes for later what has become of it.
func (r *Transport) pushAndNote(ctx context.Context, m *remote) (pushed []string, err error) {
	began, before := r.Now().UTC(), r.standingOf(m.url)
	lines, err := r.ownLines()
	if err != nil {
		return nil, err
	}
	pushed, err = r.pushTo(ctx, m, lines, true, func(odb.Ref) bool { return true })
	switch known, _ := r.Remembered(); {
	case err == nil:
		return pushed, r.noteStanding(m.url, succeeded(began, lines, m.left))
	case ctx.Err() == nil && plainRemote(known) == plainRemote(m.url): // another remote may be a slip of the pen
		err = errors.Join(err, r.noteStanding(m.url, before.failed(began, err)))
	}
	return pushed, err
}

// pushTo sends some of the lines and the note about all of them, sealed where the remote has recipients. With
// check, the remote may have lost what it had.
func (r *Transport) pushTo(
	ctx context.Context, m *remote, lines []odb.Ref, check bool, wanted func(odb.Ref) bool,
) (pushed []string, err error) {
	if err := noStore(m.url); err != nil {
		return nil, err
	}
	recipients, err := r.recipients(m.url)
	switch {
	case err != nil:
		return nil, err
	case len(recipients) > 0:
		return r.pushSealed(ctx, m, recipients, check, false)
	}
	if pushed, err = r.pushOpen(ctx, m, lines, wanted); err == nil {
		err = r.openFromNow(ctx, m.url)
	}
	return pushed, err
}

// noStore refuses a store of this machine as a remote: git would write there beside the lock of the store.
func noStore(where string) error {
	if !IsLocal(where) {
		return nil
	}
	db, err := odb.Open(where, "", odb.Options{})
	if err != nil {
		return nil
	}
	return errors.Join(errors.New("it is a store of cairn, which takes no push (cairn fetch brings its lines to another one)"), db.Close())
}

// pushOpen sends lines as they are. git works in a quarantine, which holds the note and borrows the store's
// objects.
func (r *Transport) pushOpen(ctx context.Context, m *remote, lines []odb.Ref, wanted func(odb.Ref) bool) (pushed []string, err error) {
	id, project, err := r.ensureIdentity(ctx)
	if err != nil {
		return nil, err
	}
	q, err := r.DB.Quarantine()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	note, err := r.addNote(ctx, q, project, lines)
	if err != nil {
		return nil, err
	}
	key := project.Key(r.Root)
	var specs []pushSpec
	for _, ref := range lines {
		if !wanted(ref) {
			continue
		}
		name := strings.TrimPrefix(ref.Name, history.RefRoot)
		specs = append(specs, pushSpec{
			line: name, name: name, id: ref.ID, to: history.RefRoot + key + "/" + id + "/" + name,
			force: strings.HasPrefix(ref.Name, history.RefPins),
		})
	}
	signed, err := r.signedSpecs(key + "/" + id)
	if err != nil {
		return nil, err
	}
	if err := r.showFetched(m, key); err != nil {
		return nil, err
	}
	specs = append(specs, signed...)
	specs = append(specs, pushSpec{name: noteName, id: note, to: refAbout + key + "/" + id, force: true})
	pushed, rejected, err := r.send(ctx, m, q.Dir(), specs)
	if err == nil {
		rejected, err = r.begunAgain(ctx, rejected)
	}
	if err == nil && len(rejected) > 0 {
		var more []string
		if more, rejected, err = m.push(ctx, q.Dir(), rejected); err == nil && len(rejected) > 0 {
			err = fmt.Errorf("it refused %s, %s among them (cairn gc --remote drops there what a purge has replaced)",
				wording.Count(len(rejected), "line"), rejected[0].name)
		}
		pushed = append(pushed, more...)
	}
	return slices.DeleteFunc(pushed, func(name string) bool { return name == noteName || name == signaturesName }), err
}

// begunAgain gives second names to the lines that would have moved backward. One that has gone on here since it was
// read is left out: another push of this store has sent it further.
func (r *Transport) begunAgain(ctx context.Context, rejected []pushSpec) (list []pushSpec, err error) {
	of := r.ancestry(ctx, nil).of
	for _, s := range rejected {
		if now, err := r.DB.Ref(history.RefRoot + s.line); err == nil && now != s.id {
			on, err := of.leadTo(ctx, now, s.id)
			if err != nil {
				return nil, err
			}
			if on {
				continue
			}
		}
		suffix := "-" + r.beginning(s.id).String()[:history.BeginningDigits]
		s.name, s.to = s.name+suffix, s.to+suffix
		list = append(list, s)
	}
	return list, nil
}

// noteName stands for the note among the names of lines.
const noteName = "the note about this store"

// addNote adds the note about this store to a quarantine, and lets git see there which lines are cut.
func (r *Transport) addNote(ctx context.Context, q *odb.Quarantine, p identity.Project, lines []odb.Ref) (id object.ID, err error) {
	data, err := r.note(ctx, p, lines)
	if err != nil {
		return id, err
	}
	batch := q.NewBatch()
	defer batch.Discard()
	if id, err = batch.Add(object.Blob, data); err != nil {
		return id, err
	}
	if err := batch.Commit(); err != nil {
		return id, err
	}
	ends, err := r.DB.Shallow()
	if err != nil {
		return id, err
	}
	return id, q.SetShallow(ends)
}

// beginning returns the oldest commit that is reachable along first parents.
func (r *Transport) beginning(id object.ID) object.ID {
	for {
		c, err := r.ReadCheckpoint(id)
		if err != nil || len(history.CommitOf(c).Parents) == 0 {
			return id
		}
		id = history.CommitOf(c).Parents[0]
	}
}
