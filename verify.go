package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/repair"
	"github.com/seed-fb9cbc17/cairn/internal/signature"
	"github.com/seed-fb9cbc17/cairn/internal/verify"
)

// What Verify checks and finds.
type (
	VerifyOptions = verify.Options
	VerifyReport  = verify.Report
	VerifyLine    = verify.Line
	VerifyNote    = verify.Note
	VerifySigned  = verify.Signed
)

// Verify checks the chain of checkpoints of every line and session: that each commit, its parents, trees
// and files are there, that their bytes are those of their names, and that the records of sessions and
// operations say what the chain says. What a cleaning, a purge or a repair has changed is listed in Gaps.
// Everything else that is wrong is in Findings. Signed heads have to be on their lines; with a list of
// signers every signature is checked, too. Nothing is changed. The error is ErrNotFound if
// VerifyOptions.After names no checkpoint.
//
// Check looks at the files of the store, Verify at what the history says.
func (r *Repo) Verify(ctx context.Context, opt VerifyOptions) (*VerifyReport, error) {
	return verify.Run(ctx, r.store, opt)
}

// ErrNoKey: Options.Sign names no key.
var ErrNoKey = signature.ErrNoKey

// Sign signs the heads of the sessions, days and operations that have moved since they were signed last,
// with the key of Options.Sign, and returns the names of the lines. A signature states the id of the
// store, the line, its head and the time. It is kept in the store, and Push sends it along. The store is
// locked only while the signatures are written. Nothing is asked of a person: a key with a passphrase
// needs the SSH agent.
func (r *Repo) Sign(ctx context.Context) (lines []string, err error) {
	return signature.Heads(ctx, r.store)
}

// CheckOptions says how to check.
type CheckOptions = repair.CheckOptions

// Fault is one fault of a store.
type Fault = repair.Fault

// Loss is one thing that a repair has removed from the history because the store had lost an object
// and found no copy of it.
type Loss = history.Loss

// Check checks the whole store and returns its faults, none for a sound store. Without Fix, the
// lock is held only for a second look at faults that may be the work of a running process. With
// Fix, damaged files are set aside and never deleted, and the faults say what was repaired. Lost
// objects are brought back if another place still holds them. The others are cut out of the
// history, and Losses lists the cuts. The store works afterwards.
func (r *Repo) Check(ctx context.Context, opt CheckOptions) ([]Fault, error) {
	return r.doctor.Check(ctx, opt)
}

// Losses lists everything that repairs of this store have removed, oldest repair first.
func (r *Repo) Losses() ([]Loss, error) {
	return r.store.Losses()
}
