package cairn

import (
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// Checkpoint is one recorded state.
//
// A Checkpoint from elsewhere than a Repo, for instance from JSON, has only the exported fields.
// Its methods return an error that wraps ErrNotFound. Repo.Lookup of its ID returns the whole
// checkpoint.
type Checkpoint = history.Checkpoint

// Checkpoints yields the checkpoints of all lines, newest first. Of a session it yields only those
// whose state differs from the one before. An error ends the iteration.
func (r *Repo) Checkpoints(ctx context.Context) iter.Seq2[*Checkpoint, error] {
	return r.store.Checkpoints(ctx)
}

// Lookup finds a checkpoint by the id of its tree (the newest with that tree; older ones may have
// other permission bits and empty directories), the id of its commit, a unique prefix of either, @
// (the newest), @~N (N before it) or the name of a pin; one of another store that was fetched counts where this one has
// none of the name. Errors wrap ErrNotFound or ErrAmbiguous.
func (r *Repo) Lookup(ctx context.Context, spec string) (*Checkpoint, error) {
	return r.store.Lookup(ctx, spec)
}

// LogOptions selects checkpoints. The zero value selects all of this store's own.
type LogOptions = history.LogOptions

// Machine says whose fetched checkpoints are, in the words of that store.
type Machine = history.Machine

// Log yields the checkpoints that Checkpoints yields and opt selects, newest first. Every change of
// the paths, or of how often the text is there, is told once: by the checkpoint on whose line it
// shows, or by the first one that has it. Of several such checkpoints those count whose author is
// named, as an agent's steps are; steps that overlap are all told. Checkpoint.ComparedWith names the
// state before the change. If no checkpoint ever had one of the paths, the last error wraps
// ErrNotFound.
func (r *Repo) Log(ctx context.Context, opt LogOptions) iter.Seq2[*Checkpoint, error] {
	return r.store.LogOf(ctx, opt)
}

// Pin is a name for a checkpoint. A pinned checkpoint is never cleaned away.
type Pin = history.Pin

// Pin gives a checkpoint a name, which is then accepted like a hash. Giving the same checkpoint the
// same name again is no error. ErrExists means that another checkpoint has the name.
//
// A name is 1 to 200 bytes of UTF-8 without control characters. It must not begin with @, contain
// "..", or be 4 to 40 hexadecimal digits: such texts have other meanings. Names that differ in
// case, or in the composition of an accent, are different.
func (r *Repo) Pin(ctx context.Context, spec, name string) error {
	return r.store.Pin(ctx, spec, name)
}

// Unpin removes a name. The checkpoint stays until its line is cleaned away.
func (r *Repo) Unpin(ctx context.Context, name string) error {
	return r.store.Unpin(ctx, name)
}

// Pins lists the pins, sorted by the bytes of their names. A pin that cannot be read is left out. A
// pin whose checkpoint cannot be read is listed.
func (r *Repo) Pins(ctx context.Context) ([]Pin, error) {
	return r.store.Pins(ctx)
}

// FetchedPins lists the pins of other stores that a fetch has brought, sorted by name, as Pins does.
func (r *Repo) FetchedPins(ctx context.Context) ([]Pin, error) {
	return r.store.FetchedPins(ctx)
}

// TestResult is how a command ended on the files of a checkpoint.
type TestResult = history.TestResult

// NoteTest notes with a checkpoint how a command ended there. The caller has run it. It takes the place
// of an older result of the same command. The status is 0 to 255; TestSkipped means that the state
// cannot be tested. Results keep no checkpoint alive, and are not pushed: they hold for this machine.
func (r *Repo) NoteTest(ctx context.Context, t TestResult) error { return r.store.NoteTest(ctx, t) }

// TestResults lists the noted results in the order in which they were noted.
func (r *Repo) TestResults(ctx context.Context) ([]TestResult, error) {
	return r.store.TestResults(ctx)
}

// TestVerdicts tells by the id of a checkpoint whether all commands passed that were tried there. A
// checkpoint that no command could test is absent. The newest one that passed is the revision @green.
func TestVerdicts(all []TestResult) map[string]bool { return history.Verdicts(all) }

// TestSkipped is the exit status of a command that cannot test a state.
const TestSkipped = history.TestSkipped
