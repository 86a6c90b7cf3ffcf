package operation

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Joint is an operation over several roots while it is carried out. Each root has a share: a journal
// and then a record in its own store. The shares are nested. The first root writes its journal, then
// the next root, and so on. When the last journal is written, the last root is brought to its target
// and its share is recorded, then the root before it, back to the first. So no root changes before
// every root has its journal.
//
// From the last journal on, the operation is going to be finished by whichever process comes next.
// A failure before it drops the journals that are written.
type Joint struct {
	name  history.Joint
	head  string               // root in which the caller asked
	parts []func(*Joint) error // of the roots whose journals are not written yet
	begun bool                 // all are written
}

// jointShare is what the journal of a root says of a joint operation.
type jointShare struct {
	history.Joint
	Root  state.Path `json:"root"`            // of this share, when it was planned
	Begun bool       `json:"begun,omitempty"` // the journals of all roots are written
}

// share describes the joint operation in a journal.
func (j *Joint) share() *jointShare {
	if j == nil {
		return nil
	}
	return &jointShare{Joint: j.name}
}

// run goes on with the next root. It returns when that root and all after it are done.
func (j *Joint) run() error {
	if len(j.parts) == 0 {
		j.begun = true
		return nil
	}
	part := j.parts[0]
	j.parts = j.parts[1:]
	return part(j)
}

// finishJoint carries a share out whose journal is written: first the journals of the roots that
// follow, and what they do, then this root.
func (r *Operator) finishJoint(ctx context.Context, l *history.Locked, joint *Joint, j *journal, disk *capture.Snapshot) (*Result, error) {
	failed := joint.run()
	if !joint.begun {
		return nil, errors.Join(failed, r.dropJournal(l))
	}
	j.Joint.Begun = true // from here on this root need not look at the others
	if err := r.writeJournal(l, j, nil); err != nil {
		return nil, errors.Join(failed, err)
	}
	res, err := r.finish(ctx, l, j, disk.Index)
	return res, errors.Join(failed, err)
}

// Share is what one root does in an operation of several roots. The store of the root is locked.
type Share struct {
	Root string

	// Run carries the share out, or plans it in a dry run. plan is the id of the only plan to be
	// carried out. The joint operation is nil if no other root takes part.
	Run func(dryRun bool, plan string, joint *Joint) (*Result, error)

	// Idle reports, after a dry run, that the root takes no part if it has no changes. nil: it takes
	// part anyway.
	Idle func() bool

	// Held reports, after a dry run, that the share changes nothing because all of it is in conflict or kept. If
	// no other share changes anything, none is carried out. nil: it never is.
	Held func() bool
}

// Together carries out the shares of several roots, sorted by root, or plans them. Every share is
// planned before any is carried out. The result is that of the share head; its Elsewhere has the others,
// and its PlanID stands for the plans of all. After a crash either all roots are brought to their
// targets or none. If there is nothing to change anywhere, no root gets an operation.
func Together(shares []Share, head int, dryRun bool, plan string) (*Result, error) {
	results := make([]*Result, len(shares))
	for i := range shares {
		var err error
		if results[i], err = shares[i].Run(true, "", nil); err != nil {
			return nil, otherRoot(shares[i].Root, shares[head].Root, err)
		}
	}
	id := planOfAll(shares, results)
	switch {
	case dryRun:
		return withElsewhere(shares, results, head, id), nil
	case plan != "" && plan != id:
		return nil, fmt.Errorf("%w: the plan would now be %s, not %s", state.ErrMoved, id, plan)
	}
	if held(shares, results) {
		for _, res := range results {
			res.DryRun = false
		}
	} else if err := carryOutShares(shares, results, head); err != nil {
		return nil, err
	}
	return withElsewhere(shares, results, head, ""), nil
}

// held reports whether a share is held and no other changes anything.
func held(shares []Share, results []*Result) bool {
	return !slices.ContainsFunc(results, (*Result).moves) &&
		slices.ContainsFunc(shares, func(s Share) bool { return s.Held != nil && s.Held() })
}

// carryOutShares replaces the results of a dry run with those of the shares.
func carryOutShares(shares []Share, results []*Result, head int) error {
	j := &Joint{head: shares[head].Root}
	changes := false
	for i := range shares {
		if s := &shares[i]; i != head && len(results[i].Plan) == 0 && s.Idle != nil && s.Idle() {
			results[i].DryRun, results[i].Plan = false, nil
			continue
		}
		changes = changes || len(results[i].Plan) > 0
		j.name.Roots = append(j.name.Roots, shares[i].Root)
		j.parts = append(j.parts, func(joint *Joint) (err error) {
			results[i], err = shares[i].Run(false, results[i].PlanID, joint)
			return failedShare(shares[i].Root, err)
		})
	}
	if changes && len(j.parts) > 1 {
		j.name.ID = jointID()
		return j.failure(shares[head].Root, j.run())
	}
	for _, part := range j.parts {
		if err := part(nil); err != nil {
			return j.failure(shares[head].Root, err)
		}
	}
	return nil
}

func jointID() string {
	var id [8]byte
	rand.Read(id[:]) // never fails, see crypto/rand
	return hex.EncodeToString(id[:])
}

// shareError is an error of the share of a root.
type shareError struct {
	root string
	err  error
}

func (e *shareError) Error() string { return e.root + ": " + e.err.Error() }
func (e *shareError) Unwrap() error { return e.err }

// failedShare says which root an error is from. The shares around it pass it on.
func failedShare(root string, err error) error {
	var inner *shareError
	if err == nil || errors.As(err, &inner) {
		return err
	}
	return &shareError{root, err}
}

// failure is the error of a joint operation for the caller, who does not repeat what has begun.
func (j *Joint) failure(head string, err error) error {
	var failed *shareError
	if !errors.As(err, &failed) {
		return err
	}
	err = otherRoot(failed.root, head, failed.err)
	if j.begun {
		err = &capture.BegunError{Err: err}
	}
	return err
}

// otherRoot says of an error in which root it was, if that is not the caller's own.
func otherRoot(root, own string, err error) error {
	if err == nil || root == own {
		return err
	}
	return fmt.Errorf("%w, %s: %w", state.ErrOtherRoot, root, err)
}

// planOfAll is the id of the plans of all roots.
func planOfAll(shares []Share, results []*Result) string {
	var b strings.Builder
	for i, res := range results {
		fmt.Fprintf(&b, "%q %s\n", shares[i].Root, res.PlanID)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:8])
}

// lockAll runs f with the stores of several roots locked. All callers lock in the order of the roots,
// so that two of them never wait for each other.
func lockAll(ctx context.Context, roots []*Operator, f func([]*history.Locked) error) error {
	locks := make([]*history.Locked, len(roots))
	var lock func(i int) error
	lock = func(i int) error {
		if i == len(roots) {
			return f(locks)
		}
		return roots[i].Capturing(ctx, func(l *history.Locked) error {
			locks[i] = l
			return lock(i + 1)
		})
	}
	return lock(0)
}

// byRoot sorts roots in the order in which they are locked.
func byRoot(roots []*Operator) {
	slices.SortFunc(roots, func(a, b *Operator) int { return strings.Compare(a.Root, b.Root) })
}
