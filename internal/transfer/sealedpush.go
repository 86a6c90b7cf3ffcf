package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/envelope"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// errMoved: the note on the remote is not the one that this store knows.
var errMoved = errors.New("the sealed lines of this store have been moved by another program")

// errTidied: see tidiedMeanwhile.
var errTidied = errors.New("the remote could not keep what came")

// sealedPush is one try of a sealed push.
type sealedPush struct {
	*Transport
	m          *remote
	recipients []string
	check      bool // compare with the remote first
	rewrite    bool // write everything again, without the lines that the store no longer has

	lines      []odb.Ref
	key, store string
	about      []byte
	at         *envelope.Pushed
	held       []thereRef // parts on the remote, as far as is known
}

// pushSealed seals all lines, and the note about them, for the recipients. It tries again where another program has
// pushed for this store meanwhile. The lines are read when no other process makes a sealed push: one that has ended
// since may have sent later states.
func (r *Transport) pushSealed(ctx context.Context, m *remote, recipients []string, check, rewrite bool) (pushed []string, err error) {
	end, err := r.oneSealing(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := r.sealFromNow(m.url, recipients); err != nil {
		return nil, err
	}
	lines, err := r.ownLines()
	if err != nil {
		return nil, err
	}
	s := &sealedPush{Transport: r, m: m, recipients: recipients, check: check, rewrite: rewrite, lines: lines}
	for range 3 {
		if pushed, err = s.try(ctx); !errors.Is(err, errMoved) && !errors.Is(err, errTidied) {
			return pushed, err
		}
		s.check = true
	}
	return pushed, err
}

func (s *sealedPush) try(ctx context.Context) (pushed []string, err error) {
	if err := s.describe(ctx); err != nil {
		return nil, err
	}
	s.at = s.sealedNow(s.m.url)
	carrier, err := s.DB.QuarantineAlone()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, carrier.Discard()) }()
	was, err := s.state(ctx, carrier)
	if err != nil {
		return nil, err
	}
	tips, err := s.moved(ctx, was)
	if err != nil {
		return nil, err
	}
	if len(tips) == 0 && !s.rewritten(was) && was.About == hashOf(s.about) {
		return nil, s.done(ctx, carrier, was)
	}
	next, specs, err := s.seal(ctx, carrier, was, tips)
	if err != nil {
		return nil, err
	}
	if err := s.send(ctx, carrier, was, next, specs); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(tips)) {
		if !strings.HasPrefix(history.RefRoot+name, history.RefSignatures) {
			pushed = append(pushed, name)
		}
	}
	return pushed, s.done(ctx, carrier, next)
}

// describe sets what the note says of the store.
func (s *sealedPush) describe(ctx context.Context) error {
	store, project, err := s.ensureIdentity(ctx)
	if err != nil {
		return err
	}
	s.key, s.store = project.Key(s.Root), store
	s.about, err = s.note(ctx, project, s.lines)
	return err
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// state returns what this store has on the remote. After a push of whose end nothing is known, and where the
// caller wants it, the remote is asked.
func (s *sealedPush) state(ctx context.Context, carrier *odb.Quarantine) (*envelope.State, error) {
	last := s.at.There
	switch {
	case s.at.Begun != nil:
		last = s.at.Begun
	case last == nil:
		return &envelope.State{ID: envelope.NewID(), Proof: envelope.NewID()}, nil
	case !s.check:
		for i := range last.Parts {
			s.held = append(s.held, thereRef{partName, last.Parts[i].Ref(last.ID), last.Parts[i].Tree})
		}
		return last, nil
	}
	there, err := s.m.sealedThere(ctx, carrier.Dir(), last.ID)
	if err != nil {
		return nil, err
	}
	return s.stateThere(last, there), nil
}

// stateThere returns the state that the remote has: the last push may have been cut short.
func (s *sealedPush) stateThere(last *envelope.State, there map[string]string) *envelope.State {
	s.held = nil
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if strings.HasPrefix(name, envelope.RefParts) {
			s.held = append(s.held, thereRef{partName, name, there[name]})
		}
	}
	note, foreign := there[envelope.RefNotes+last.ID], true
	for _, known := range []*envelope.State{s.at.Begun, s.at.There} {
		if known == nil || known.ID != last.ID || known.Note != note {
			continue
		}
		if hasParts(known, there) {
			return known
		}
		foreign = false
	}
	foreign = foreign && note != ""
	if foreign && last.Again { // a copy of this store pushes there, too
		s.held = nil
		return &envelope.State{ID: envelope.NewID(), Proof: envelope.NewID()}
	}
	if s.at.There != nil {
		s.Log.Warn("the remote does not have what was pushed there: everything is sealed again")
	}
	return &envelope.State{ID: last.ID, Proof: last.Proof, Number: last.Number, Note: note, Again: foreign}
}

// partName stands for a part among the names of lines.
const partName = "a part"

// sealedThere lists the refs of one id on a remote.
func (m *remote) sealedThere(ctx context.Context, dir, id string) (map[string]string, error) {
	out, err := m.Run(ctx, dir, []string{"ls-remote", "--quiet", "--refs"}, []string{envelope.RefNotes + id, envelope.RefParts + id + "/*"})
	there := make(map[string]string)
	for line := range strings.Lines(out) {
		if at, name, ok := strings.Cut(strings.TrimRight(line, "\n"), "\t"); ok {
			there[name] = at
		}
	}
	return there, err
}

func hasParts(known *envelope.State, there map[string]string) bool {
	for i := range known.Parts {
		if p := &known.Parts[i]; there[p.Ref(known.ID)] != p.Tree {
			return false
		}
	}
	return true
}

// seal adds what the push sends to the carrier: the new part, which takes the place of some, and the note.
func (s *sealedPush) seal(
	ctx context.Context, carrier *odb.Quarantine, was *envelope.State, tips map[string]object.ID,
) (next *envelope.State, specs []string, err error) {
	next = &envelope.State{
		ID: was.ID, Proof: was.Proof, Number: max(was.Number+1, s.Now().UnixMilli()), Again: was.Again,
		About: hashOf(s.about), For: envelope.Fingerprint(s.recipients),
	}
	stay := 0
	if !s.rewritten(was) {
		if stay, err = s.stay(ctx, was); err != nil {
			return nil, nil, err
		}
	}
	next.Parts = slices.Clone(was.Parts[:stay])
	batch := carrier.NewBatch()
	defer batch.Discard()
	if all := s.tipsOf(was, stay, tips); len(all) > 0 {
		part, err := s.part(ctx, batch, all, next.Listed())
		if err != nil {
			return nil, nil, err
		}
		next.Parts = append(next.Parts, part)
		specs = append(specs, part.Tree+":"+part.Ref(next.ID))
	}
	note := envelope.Note{
		ID: next.ID, Proof: next.Proof, Number: next.Number, Key: s.key, Store: s.store,
		About: s.about, Parts: next.Listed(),
	}
	data, err := note.Seal(s.Opt.Sealer, s.recipients)
	if err != nil {
		return nil, nil, err
	}
	id, err := batch.Add(object.Blob, data)
	if err != nil {
		return nil, nil, err
	}
	next.Note = id.String()
	return next, append(specs, next.Note+":"+envelope.RefNotes+next.ID), batch.Commit()
}

// lost lists the lines that a state has and the next one has not: this store no longer has them as a whole.
func lost(was, next *envelope.State) (names []string) {
	heads := envelope.Heads(next.Listed())
	for _, name := range slices.Sorted(maps.Keys(envelope.Heads(was.Listed()))) {
		if _, ok := heads[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

// sealedArgs make git send without searching in sealed bytes for what could be made smaller.
var sealedArgs = []string{
	"-c", "core.compression=0", "-c", "pack.window=0",
	"push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--atomic",
}

// send moves the refs, all or none. The store keeps that the push has begun before, so that it finds out
// later what has become of it.
func (s *sealedPush) send(ctx context.Context, carrier *odb.Quarantine, was, next *envelope.State, specs []string) error {
	if was.For != "" && was.For != next.For {
		s.Log.Warn("the recipients have changed: everything is sealed again")
		if names := lost(was, next); len(names) > 0 {
			s.Log.Warn("lines go from the remote, because they are not here as a whole", "lines", strings.Join(names, " "))
		}
	}
	at := &envelope.Pushed{Recipients: s.recipients, There: s.at.There, Begun: next}
	if err := s.writeSealed(s.m.url, at); err != nil {
		return err
	}
	lease := "--force-with-lease=" + envelope.RefNotes + next.ID + ":" + was.Note
	out, err := s.m.Run(ctx, carrier.Dir(), append(slices.Clone(sealedArgs), lease), specs)
	for line := range strings.Lines(out) {
		flag, to, why, ok := parsePushed(line)
		switch {
		case !ok || flag != '!' || strings.Contains(why, "atomic"):
		case to == envelope.RefNotes+next.ID && movedMeanwhile(why):
			return fmt.Errorf("%w (%s)", errMoved, why)
		case tidiedMeanwhile(why):
			return fmt.Errorf("%w (%s)", errTidied, why)
		default:
			return errors.New(why)
		}
	}
	return err
}

// movedMeanwhile reports whether git refused to move a ref because it is not what it was.
func movedMeanwhile(why string) bool {
	return slices.ContainsFunc([]string{
		"stale info", "failed to update ref", "incorrect old value", "cannot lock ref", "reference already exists", "reference does not exist",
	}, func(text string) bool { return strings.Contains(why, text) })
}

// done keeps what the remote has now, and deletes the parts there that no note lists any more.
func (s *sealedPush) done(ctx context.Context, carrier *odb.Quarantine, now *envelope.State) error {
	if err := s.writeSealed(s.m.url, &envelope.Pushed{Recipients: s.recipients, There: now}); err != nil {
		return err
	}
	stale := slices.DeleteFunc(s.held, func(ref thereRef) bool {
		return slices.ContainsFunc(now.Parts, func(p envelope.Sent) bool { return p.Ref(now.ID) == ref.to })
	})
	if len(stale) == 0 {
		return nil
	}
	if _, err := s.m.drop(ctx, carrier.Dir(), stale); err != nil {
		s.Log.Warn("old parts stay on the remote, where former recipients can read them", "parts", len(stale), "error", err)
	}
	return nil
}
