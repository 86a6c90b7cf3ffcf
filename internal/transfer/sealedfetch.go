package transfer

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/envelope"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// sealedNotes are the notes of stores that push sealed to a remote.
type sealedNotes struct {
	open   []*envelope.Note
	closed int   // notes that the identities do not open
	why    error // the reason, with the next step
}

// remark names the notes and parts that were not read.
func (n *sealedNotes) remark() string {
	return fmt.Sprintf("%s there cannot be read: %v", wording.Count(n.closed, "sealed store"), n.why)
}

// errNoIdentity: a remote has sealed lines, and no identity is set.
var errNoIdentity = errors.New("no identity is given (--identity FILE, or the setting identity, names the file with the key)")

// errLostKey says what a lost key means.
var errLostKey = errors.New("they are sealed for other keys; without one of these nothing of them can be read, and no other program can " +
	"help. A machine that still has the checkpoints can seal them for a new key: cairn push --encrypt RECIPIENT")

// notesSpec is the refspec of the sealed notes of all stores.
const notesSpec = "+" + envelope.RefNotes + "*:" + envelope.RefNotes + "*"

// sealedNotes opens the notes that came, as far as the identities do.
func (r *Transport) sealedNotes(came *odb.Quarantine) (*sealedNotes, error) {
	refs, identities, none, err := r.noteRefs(came)
	if err != nil || none != nil {
		return none, err
	}
	return r.openNotes(came, refs, identities)
}

// noteRefs lists the notes that came, with the identities that may open them. none is the answer where nothing opens
// one.
func (r *Transport) noteRefs(came *odb.Quarantine) (refs []odb.Ref, identities []byte, none *sealedNotes, err error) {
	refs, err = came.Refs(envelope.RefNotes)
	if err != nil || len(refs) == 0 {
		return nil, nil, &sealedNotes{}, err
	}
	if r.Opt.Sealer == nil {
		return nil, nil, &sealedNotes{closed: len(refs), why: errNoSealer}, nil
	}
	identities, err = r.Opt.ReadIdentity()
	if err == nil && identities == nil {
		return nil, nil, &sealedNotes{closed: len(refs), why: errNoIdentity}, nil
	}
	return refs, identities, nil, err
}

func (r *Transport) openNotes(came *odb.Quarantine, refs []odb.Ref, identities []byte) (*sealedNotes, error) {
	seen, err := r.seenNotes()
	if err != nil {
		return nil, err
	}
	notes := &sealedNotes{}
	for _, ref := range refs {
		id := strings.TrimPrefix(ref.Name, envelope.RefNotes)
		if !envelope.IsID(id) {
			continue
		}
		note, err := r.openNote(came, id, ref, identities)
		switch {
		case errors.Is(err, settings.ErrKey):
			notes.closed, notes.why = notes.closed+1, errLostKey
			continue
		case errors.Is(err, envelope.ErrLater):
			r.Log.Warn("a sealed store is left out, which this release cannot read", "note", id, "error", err)
			continue
		case errors.Is(err, settings.ErrIdentity):
			return nil, fmt.Errorf("%s: %w", r.Opt.Identity, err)
		case err == nil:
			err = seen.Check(note)
		}
		if err != nil {
			return nil, fmt.Errorf("sealed note %s: %w", id, err)
		}
		notes.open = append(notes.open, note)
	}
	slices.SortFunc(notes.open, func(a, b *envelope.Note) int { return cmp.Compare(a.Number, b.Number) })
	return notes, nil
}

func (r *Transport) openNote(came *odb.Quarantine, id string, ref odb.Ref, identities []byte) (*envelope.Note, error) {
	if ref.Err != nil {
		return nil, foreign(ref.Err)
	}
	kind, size, err := came.Stat(ref.ID)
	if err != nil {
		return nil, foreign(err)
	}
	if kind != object.Blob || size > envelope.MaxNote {
		return nil, fmt.Errorf("%s of %d bytes is no note of a store", kind, size)
	}
	_, data, err := came.Read(ref.ID)
	if err != nil {
		return nil, foreign(err)
	}
	return envelope.Open(r.Opt.Sealer, id, data, identities)
}

// sealedFetch opens what sealed notes list into a quarantine, as if git had fetched it.
type sealedFetch struct {
	*Transport
	m     *remote
	want  *wanted
	q     *odb.Quarantine
	all   bool // also the parts that have come before, and those of this store
	notes *sealedNotes

	seen  envelope.Seen
	named map[string]bool // refs of the quarantine that notes have set
	again bool            // with all parts, or a little later, it could end another way
	mine  bool            // lines of this store itself lie sealed there
	shown bool            // lines of other stores of the project were opened
}

// wanted says what a fetch brings: refspecs of open lines, and sealed lines of the project's keys.
type wanted struct {
	specs []string
	keys  []string
	only  func(store, name string) bool // nil = all that come
}

// bring opens the sealed lines of the project. own is the id of this store.
func (f *sealedFetch) bring(ctx context.Context, own string) (err error) {
	carrier, err := f.DB.QuarantineAlone()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, carrier.Discard()) }()
	if f.seen, err = f.seenNotes(); err != nil {
		return err
	}
	for _, note := range f.notes.open {
		ours := slices.Contains(f.want.keys, note.Key)
		f.mine = f.mine || ours && note.Store == own
		if !ours || note.Store == own && !f.all {
			continue
		}
		if err := f.store(ctx, carrier, note); err != nil {
			return fmt.Errorf("sealed lines of store %s: %w", note.Store, err)
		}
		f.shown = f.shown || note.Store != own
	}
	return err
}

// store opens the lines of one note.
func (f *sealedFetch) store(ctx context.Context, carrier *odb.Quarantine, note *envelope.Note) error {
	heads := envelope.Heads(note.Parts)
	end := 0
	for name, head := range heads {
		if f.want.only != nil && !f.want.only(note.Store, name) {
			delete(heads, name)
			continue
		}
		if f.all || !f.here(note.Store, name, head.ID) {
			end = max(end, head.Part+1)
		}
	}
	before := f.seen[note.ID]
	parts := note.Parts[:end]
	if !f.all {
		parts = before.Without(note.Parts, end)
	}
	f.again = f.again || len(parts) < end
	if err := f.parts(ctx, carrier, note, parts); err != nil {
		return err
	}
	now := envelope.SeenNote{Proof: note.Proof, Number: note.Number, Parts: before.Parts}
	if f.want.only == nil { // what else came with a session is not kept for long
		now.Parts = nil
		for _, p := range note.Parts {
			now.Parts = append(now.Parts, p.Name())
		}
	}
	f.seen[note.ID] = now
	if len(heads) == 0 {
		return nil
	}
	return f.refs(ctx, note, heads)
}

// here reports whether a line is in the store as it is.
func (f *sealedFetch) here(store, name string, id object.ID) bool {
	line, signed := strings.CutPrefix(history.RefRoot+name, history.RefSignatures)
	to := history.RefRemotes + store + "/" + name
	if signed {
		to = history.RefSignatures + strings.TrimPrefix(history.RefRemotes, history.RefRoot) + store + "/" + line
	}
	old, err := f.DB.Ref(to)
	return err == nil && old == id
}

// parts brings parts and opens them, in their order: each may need those before it.
func (f *sealedFetch) parts(ctx context.Context, carrier *odb.Quarantine, note *envelope.Note, parts []envelope.Part) error {
	if len(parts) == 0 {
		return nil
	}
	var specs []string
	for _, p := range parts {
		specs = append(specs, "+"+p.Ref(note.ID)+":"+p.Ref(note.ID))
	}
	for some := range slices.Chunk(specs, maxDropped) {
		if err := f.m.fetchInto(ctx, carrier, some); err != nil {
			f.again = f.again || strings.Contains(err.Error(), "couldn't find remote ref") // a push has merged parts meanwhile
			return err
		}
	}
	identities, err := f.Opt.ReadIdentity()
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err := f.part(ctx, carrier, note.ID, p, identities); err != nil {
			return fmt.Errorf("part %s: %w", p.Name(), err)
		}
	}
	f.q.PackNames() // lists what git has written
	return nil
}

// part opens one part into the quarantine. git checks it as it checks what it fetches.
func (f *sealedFetch) part(ctx context.Context, carrier *odb.Quarantine, id string, p envelope.Part, identities []byte) error {
	tree, err := carrier.Ref(p.Ref(id))
	if err != nil {
		return foreign(err)
	}
	plain, err := envelope.NewReader(carrier, f.Opt.Sealer, tree, p, identities)
	if err != nil {
		return err
	}
	in := &kept{in: bufio.NewReader(plain)}
	if head, err := in.in.Peek(packHead); err == nil && objectsIn(head) == 0 {
		_, err = io.Copy(io.Discard, in) // all that its tips lead to was there before
		return err
	}
	err = f.m.local(ctx, f.q.Dir(), openArgs, in, io.Discard, "GIT_ALLOC_LIMIT="+maxExpanded)
	if in.err != nil {
		return in.err // git complains about what it did not get
	}
	if err == nil {
		_, err = io.Copy(io.Discard, in) // to the end, where the sum is compared
	}
	return err
}

// packHead is the size in bytes of the beginning of a pack, with the number of its objects at its end.
const packHead = 12

// objectsIn returns the number of objects of a pack with this beginning.
func objectsIn(head []byte) uint32 { return binary.BigEndian.Uint32(head[8:packHead]) }

// kept keeps the error of a reader whose consumer is another program.
type kept struct {
	in  *bufio.Reader
	err error
}

// Read implements io.Reader.
func (k *kept) Read(p []byte) (int, error) {
	n, err := k.in.Read(p)
	if err != nil && err != io.EOF {
		k.err = err
	}
	return n, err
}

// openArgs make git check a pack as fetchArgs do, and complete it with the bases of its deltas.
var openArgs = []string{
	"-c", "core.bigFileThreshold=16m", "-c", "pack.threads=1",
	"index-pack", "-v", "--stdin", "--fix-thin",
	"--strict=gitmodulesBlob=ignore,gitmodulesLarge=ignore,gitmodulesMissing=ignore,gitmodulesName=ignore,gitmodulesParse=ignore," +
		"gitmodulesPath=ignore,gitmodulesSymlink=ignore,gitmodulesUpdate=ignore,gitmodulesUrl=ignore",
}

// writeSeen records the numbers of the notes that were read, and the parts that have come.
func (f *sealedFetch) writeSeen(l *history.Locked) error {
	if f == nil || f.seen == nil {
		return nil
	}
	f.Holds(l)
	now, err := f.seenNotes() // another fetch may have seen newer ones meanwhile
	if err != nil || !now.Add(f.seen) {
		return err
	}
	data, err := now.Encode()
	if err != nil {
		return err
	}
	return f.DB.WritePrivate(odb.PrivateSeen, data)
}

// explained adds the unreadable notes and parts to an error, and to the log.
func (f *sealedFetch) explained(err error) error {
	if f == nil || f.notes == nil || f.notes.closed == 0 {
		return err
	}
	if errors.Is(err, state.ErrNotFound) {
		return state.NotFound("no checkpoint of this project there that can be read; %s", f.notes.remark())
	}
	f.Log.Warn(f.notes.remark())
	return err
}
