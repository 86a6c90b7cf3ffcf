package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/envelope"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

// recipients returns those that pushes to a remote are sealed for, none for open pushes: those of
// Options.Encrypt, else those of the last push there. A push that names no recipient must not show to a
// host what it was not to see.
func (r *Transport) recipients(where string) (list []string, err error) {
	if slices.Equal(r.Opt.Encrypt, []string{settings.EncryptNone}) {
		return nil, nil
	}
	if list = r.Opt.Encrypt; len(list) == 0 {
		pushes, err := r.sealedPushes()
		if err != nil {
			return nil, fmt.Errorf("%w (--encrypt names the recipients again)", err)
		}
		at := pushes[sealedAs(pushes, where)]
		if at == nil && pushes[envelope.Others] != nil {
			return nil, errForgotten
		}
		if at != nil && at.Shown && len(at.Recipients) == 0 {
			return nil, errShown
		}
		if at != nil {
			list = at.Recipients
		}
	}
	switch {
	case len(list) == 0:
		return nil, nil
	case r.Opt.Sealer == nil:
		return nil, errNoSealer
	}
	return list, r.Opt.Sealer.Check(list)
}

// errNoSealer: the options have recipients or the remote has sealed lines, and no Sealer is given.
var errNoSealer = errors.New("nothing can be sealed or opened without Options.Sealer")

// errShown: an open push would show the host lines that came sealed from it, as those of a resumed session.
var errShown = errors.New("lines of this project lie sealed there, and this store has opened them: " +
	"--encrypt RECIPIENT, or the setting encrypt, seals those of this store, too, and --encrypt none sends them openly")

// errForgotten: a damaged file has said whether pushes to a remote are sealed.
var errForgotten = errors.New("it is not known any more whether pushes to this remote are sealed, because a file of the store was damaged " +
	"(--encrypt RECIPIENT seals them, --encrypt none sends openly)")

// sealedPushes reads the record of sealed pushes.
func (r *Transport) sealedPushes() (envelope.Pushes, error) {
	data, err := r.DB.ReadPrivate(odb.PrivateSealed)
	if errors.Is(err, odb.ErrNotFound) {
		return make(envelope.Pushes), nil
	}
	if err != nil {
		return nil, err
	}
	return envelope.DecodePushes(data)
}

// sealedAs returns the name under which a remote is known. A spelling whose pushes are sealed goes before one whose
// pushes are open.
func sealedAs(pushes envelope.Pushes, where string) string {
	return spelled(pushes, where, func(at *envelope.Pushed) bool { return at != nil && len(at.Recipients) > 0 })
}

// writeSealed writes the record of one remote. The caller holds the mark of oneSealing.
func (r *Transport) writeSealed(where string, at *envelope.Pushed) error {
	pushes, err := r.sealedPushes()
	if err != nil { // a push to another remote must not go open because a damaged file does not name it
		pushes = envelope.Pushes{envelope.Others: new(envelope.Pushed)}
	}
	pushes[sealedAs(pushes, where)] = at
	data, err := pushes.Encode()
	if err != nil {
		return err
	}
	return r.DB.WritePrivate(odb.PrivateSealed, data)
}

// sealedNow returns the record of one remote. It is never nil.
func (r *Transport) sealedNow(where string) *envelope.Pushed {
	pushes, err := r.sealedPushes()
	if err != nil {
		r.Log.Warn("everything is sealed again", "error", err)
	}
	if at := pushes[sealedAs(pushes, where)]; at != nil {
		return at
	}
	return new(envelope.Pushed)
}

// sealFromNow notes for which recipients pushes to a remote are sealed, before the first of them ends: one in the
// background must not go open after one that has failed.
func (r *Transport) sealFromNow(where string, recipients []string) error {
	at := r.sealedNow(where)
	if slices.Equal(at.Recipients, recipients) {
		return nil
	}
	at.Recipients = recipients
	return r.writeSealed(where, at)
}

// openFromNow notes that pushes to a remote are open.
func (r *Transport) openFromNow(ctx context.Context, where string) (err error) {
	pushes, err := r.sealedPushes()
	switch at := pushes[sealedAs(pushes, where)]; {
	case err != nil:
	case at == nil && pushes[envelope.Others] == nil, at != nil && len(at.Recipients) == 0 && !at.Shown:
		return nil
	}
	end, err := r.oneSealing(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	at := r.sealedNow(where)
	at.Recipients, at.Shown = nil, false
	return r.writeSealed(where, at)
}

// shownFrom notes that sealed lines of other stores came from a remote, unless it is known how this store pushes there.
func (r *Transport) shownFrom(ctx context.Context, where string) (err error) {
	settled := func() bool { // a damaged record refuses open pushes by itself
		pushes, err := r.sealedPushes()
		return err != nil || pushes[sealedAs(pushes, where)] != nil
	}
	if settled() {
		return nil
	}
	end, err := r.oneSealing(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if settled() { // by a push meanwhile
		return nil
	}
	return r.writeSealed(where, &envelope.Pushed{Shown: true})
}

// fingerprint stands for the recipients of pushes to a remote, "" for open ones.
func (r *Transport) fingerprint(where string) string {
	list, err := r.recipients(where)
	if err != nil {
		return "?"
	}
	return envelope.Fingerprint(list)
}

// sealingName is the private file that carries the kernel lock of the one sealed push.
const sealingName = "sealing"

// sealingEvery is the time between two tries for that lock.
const sealingEvery = 50 * time.Millisecond

// oneSealing waits until no other process of this store makes a sealed push. end lets the next one.
func (r *Transport) oneSealing(ctx context.Context) (end func() error, err error) {
	mark, err := r.mark(sealingName)
	if err != nil {
		return nil, err
	}
	if _, err := mark.TryLockContext(ctx, sealingEvery); err != nil {
		return nil, errors.Join(err, mark.Close())
	}
	return mark.Close, nil
}

// seenNotes reads the record of the notes of other stores.
func (r *Transport) seenNotes() (envelope.Seen, error) {
	data, err := r.DB.ReadPrivate(odb.PrivateSeen)
	if errors.Is(err, odb.ErrNotFound) {
		return make(envelope.Seen), nil
	}
	if err != nil {
		return nil, err
	}
	seen, err := envelope.DecodeSeen(data)
	if err != nil {
		err = fmt.Errorf("%s: %w (without the file, the next fetch trusts what the remote shows)", r.DB.PrivatePath(string(odb.PrivateSeen)), err)
	}
	return seen, err
}
