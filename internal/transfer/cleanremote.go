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
)

// CleanRemote deletes lines of this store on a remote. cairn.Repo.CleanRemote states the contract.
func (r *Transport) CleanRemote(ctx context.Context, where string, dryRun bool) (dropped []string, err error) {
	if where, err = r.remoteOr(where); err != nil {
		return nil, err
	}
	m, err := r.open(where)
	if err != nil {
		return nil, err
	}
	if err := r.purgeEnded(); err != nil {
		return nil, fmt.Errorf("clean %s: %w", m, err)
	}
	if dropped, err = r.cleanRemote(ctx, m, dryRun); err == nil {
		var more []string
		more, err = r.cleanSealed(ctx, m, dryRun)
		dropped = append(dropped, more...)
	}
	if err != nil {
		err = fmt.Errorf("clean %s: %w", m, err)
	}
	return dropped, err
}

// purgeEnded returns an error if a purge was interrupted. The store may still have the states that it replaces then, so
// that their lines would stay on the remote, or come back with the next push.
func (r *Transport) purgeEnded() error {
	unfinished, err := r.PurgeUnfinished()
	if err == nil && unfinished {
		err = errors.New("a purge has not ended here (the same cairn purge again finishes it)")
	}
	return err
}

func (r *Transport) cleanRemote(ctx context.Context, m *remote, dryRun bool) (dropped []string, err error) {
	own, err := r.DB.Identity(false)
	if errors.Is(err, odb.ErrNotFound) {
		return nil, nil // this store has pushed nothing
	}
	if err != nil {
		return nil, err
	}
	q, err := r.DB.QuarantineAlone()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	there, notes, err := r.ownThere(ctx, m, q.Dir(), own)
	if err != nil {
		return nil, err
	}
	surplus, err := r.surplus(there)
	if err != nil {
		return nil, err
	}
	surplus, harmed, err := r.splitHarmed(append(surplus, r.rewritten(there, surplus)...))
	if err != nil {
		return nil, err
	}
	for _, ref := range harmed {
		r.Log.Warn("line stays on the remote: a repair has lost a part of it here (cairn doctor --fix --from REMOTE)", "line", ref.name)
	}
	if dryRun {
		return namesOf(surplus), nil
	}
	if dropped, err = m.drop(ctx, q.Dir(), surplus); err == nil && len(dropped) > 0 {
		there = slices.DeleteFunc(there, func(ref thereRef) bool { return slices.Contains(surplus, ref) })
		err = r.noteAgain(ctx, m, there, notes)
	}
	return dropped, err
}

// noteAgain writes the notes about this store again: they name sessions that have been dropped. Where the lines lie
// sealed there, an open note would tell about them.
func (r *Transport) noteAgain(ctx context.Context, m *remote, lines, notes []thereRef) (err error) {
	recipients, err := r.recipients(m.url)
	if err != nil || len(recipients) > 0 {
		return err
	}
	_, project, err := r.ensureIdentity(ctx)
	if err != nil {
		return err
	}
	q, err := r.DB.Quarantine()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	here, err := r.ownLines()
	if err != nil {
		return err
	}
	id, err := r.addNote(ctx, q, project, here)
	if err != nil {
		return err
	}
	specs, stale := notesAgain(id, project.Key(r.Root), lines, notes)
	if _, _, err = m.push(ctx, q.Dir(), specs); err == nil {
		_, err = m.drop(ctx, q.Dir(), stale)
	}
	return err
}

// notesAgain says which notes on a remote get another text. A note under a former key goes with the last line there.
func notesAgain(id object.ID, key string, lines, notes []thereRef) (specs []pushSpec, stale []thereRef) {
	for _, note := range notes {
		of := placeOf(note.to).key
		if of == key || slices.ContainsFunc(lines, func(line thereRef) bool { return placeOf(line.to).key == of }) {
			specs = append(specs, pushSpec{name: noteName, id: id, to: note.to, force: true})
		} else {
			stale = append(stale, note)
		}
	}
	return specs, stale
}

// rewritten returns the lines, beside those that go anyway, that end with a state which a purge or a repair has
// replaced here. A line that goes on is pushed again under its name.
func (r *Transport) rewritten(there, surplus []thereRef) (list []thereRef) {
	replaced := r.ReadReplaced()
	for _, ref := range there {
		id, err := object.ParseID(ref.id)
		if _, was := replaced[id]; err == nil && was && !slices.Contains(surplus, ref) {
			list = append(list, ref)
		}
	}
	return list
}

// thereRef is a line of this store on a remote.
type thereRef struct {
	name string // as pushes print it
	to   string // the ref
	id   string
}

func namesOf(refs []thereRef) (names []string) {
	for _, ref := range refs {
		names = append(names, ref.name)
	}
	return names
}

// ownThere lists the lines of this store on a remote, and the notes about them, under every key: the project was known
// by others before it moved, got an id or became a git repository.
func (r *Transport) ownThere(ctx context.Context, m *remote, dir, own string) (lines, notes []thereRef, err error) {
	refs, err := m.refs(ctx, dir)
	for _, ref := range refs {
		switch p := placeOf(ref.to); {
		case p.store != own:
		case p.kind == "" && p.line != "":
			lines = append(lines, thereRef{p.line, ref.to, ref.id})
		case p.kind == refAbout && p.line == "":
			notes = append(notes, ref)
		}
	}
	return lines, notes, err
}

// place is what the name of a ref on a remote says.
type place struct {
	kind             string // refAbout, RefSignatures, or "" for lines
	key, store, line string
}

// placeOf reads the name of a ref on a remote. The zero place stands for other names.
func placeOf(ref string) (p place) {
	rest, ok := strings.CutPrefix(ref, history.RefRoot)
	for _, kind := range []string{refAbout, history.RefSignatures} {
		if below, of := strings.CutPrefix(ref, kind); of {
			p.kind, rest = kind, below
		}
	}
	p.key, rest, _ = strings.Cut(rest, "/")
	if p.store, p.line, _ = strings.Cut(rest, "/"); !ok || !identity.IsKey(p.key) || !isStoreID(p.store) {
		return place{}
	}
	return p
}

// refs lists the refs of cairn on a remote, without names.
func (m *remote) refs(ctx context.Context, dir string) (list []thereRef, err error) {
	out, err := m.Run(ctx, dir, []string{"ls-remote", "--quiet", "--refs"}, []string{history.RefRoot + "*"})
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		id, to, ok := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if _, err := object.ParseID(id); ok && err == nil {
			list = append(list, thereRef{to: to, id: id})
		}
	}
	return list, nil
}

// surplus returns the lines that this store has not. The second name of a line that was begun again counts
// as the line.
func (r *Transport) surplus(there []thereRef) (list []thereRef, err error) {
	refs, err := r.ownRefs()
	if err != nil {
		return nil, err
	}
	has := make(map[string]bool)
	for _, ref := range refs {
		has[strings.TrimPrefix(ref.Name, history.RefRoot)] = true
	}
	for _, ref := range there {
		if !has[ref.name] && !has[history.FirstName(ref.name)] {
			list = append(list, ref)
		}
	}
	return list, nil
}

// drop deletes refs that still are what they were.
func (m *remote) drop(ctx context.Context, gitDir string, refs []thereRef) (dropped []string, err error) {
	for part := range slices.Chunk(refs, maxDropped) {
		args := []string{"push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"}
		var gone []string
		byTarget := make(map[string]string)
		for _, ref := range part {
			args = append(args, "--force-with-lease="+ref.to+":"+ref.id)
			gone = append(gone, ":"+ref.to)
			byTarget[ref.to] = ref.name
		}
		out, err := m.Run(ctx, gitDir, args, gone)
		for line := range strings.Lines(out) {
			flag, to, why, ok := parsePushed(line)
			switch name, known := byTarget[to]; {
			case !ok || !known:
			case flag == '-':
				dropped = append(dropped, name)
			case flag == '!':
				return dropped, fmt.Errorf("%s: %s", name, why)
			}
		}
		if err != nil {
			return dropped, err
		}
	}
	return dropped, nil
}

// maxDropped bounds the refs of one command, whose arguments have a limit on Windows.
const maxDropped = 50
