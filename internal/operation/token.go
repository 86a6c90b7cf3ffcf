package operation

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// tokenBytes is the length of a token.
const tokenBytes = 4

// NewToken draws a token of an operation: 8 hex digits. The journal and the record of the operation have it.
func NewToken() string {
	var token [tokenBytes]byte
	rand.Read(token[:]) // never fails, see crypto/rand
	return hex.EncodeToString(token[:])
}

type tokenKey struct{}

// WithToken gives the operations that begin under the context a token that the caller has drawn. The caller
// finds the record by it where the answer is lost. Of a joint operation the share of the caller's root has it.
// A token that the newest record has, and any other text than that of a token, is ignored.
func WithToken(ctx context.Context, token string) context.Context {
	if data, err := hex.DecodeString(token); err != nil || len(data) != tokenBytes {
		return ctx
	}
	return context.WithValue(ctx, tokenKey{}, token)
}

// tokenOf returns the token of an operation. A journal whose token the newest record has counts as done, so a
// caller that gives a token twice gets another one. The shares of a joint operation differ in their tokens: one
// root may lie inside another, and temporary files are named by token.
func (r *Operator) tokenOf(ctx context.Context, req *opRequest) string {
	token, ok := ctx.Value(tokenKey{}).(string)
	if !ok || req.joint != nil && req.joint.head != r.Root {
		return NewToken()
	}
	if recorded, err := r.recorded(token); recorded || err != nil {
		return NewToken()
	}
	return token
}

// newestRecords is how many operations Recorded looks at.
const newestRecords = 100

// Recorded returns the result of the operation with a token, as its record has it, nil if no newer operation
// has the token. It waits for the operation of a living process and finishes that of a dead one. Notes
// are not recorded.
func (r *Operator) Recorded(ctx context.Context, token string) (res *Result, err error) {
	var op *history.Operation
	err = r.Exclusive(ctx, func(*history.Locked) (err error) {
		if op, err = r.withToken(ctx, token); err == nil && op != nil {
			res, err = r.resultOf(ctx, op)
		}
		return err
	})
	if err != nil || op == nil || op.Joint == nil {
		return res, err
	}
	for _, root := range r.Elsewhere(op.Joint.Roots) {
		share, err := r.shareElsewhere(ctx, root, op.Joint.ID)
		if err != nil {
			return nil, otherRoot(root, r.Root, err)
		}
		if share != nil && !share.empty() {
			res.Elsewhere = append(res.Elsewhere, rootResult(root, share))
		}
	}
	return res, nil
}

func (r *Operator) withToken(ctx context.Context, token string) (*history.Operation, error) {
	looked := 0
	for op, err := range r.Operations(ctx) {
		if err != nil || history.TokenOf(op) == token {
			return op, err
		}
		if looked++; looked == newestRecords {
			break
		}
	}
	return nil, nil
}

// shareElsewhere returns what a joint operation did in another root, nil without a record there.
func (r *Operator) shareElsewhere(ctx context.Context, root, id string) (*Result, error) {
	other, err := r.Beside(root)
	if err != nil {
		return nil, err
	}
	if err := other.FinishInterrupted(ctx); err != nil {
		return nil, err
	}
	share, _, err := other.ShareOf(ctx, id)
	if err != nil || share == nil {
		return nil, err
	}
	return other.resultOf(ctx, share)
}

// resultOf tells what an operation did. A path that it changed is restored if the state after has it.
func (r *Operator) resultOf(ctx context.Context, op *history.Operation) (*Result, error) {
	c, err := r.Lookup(ctx, op.After)
	if err != nil {
		return nil, err
	}
	after, err := history.StateOf(c)
	if err != nil {
		return nil, err
	}
	res := &Result{Operation: op.ID, Kept: op.Kept, Conflicts: op.Conflicts}
	for _, path := range op.Paths {
		e, err := r.EntryOrNil(after.Tree, path)
		switch {
		case err != nil:
			return nil, err
		case e == nil && !after.Meta.Lists(path):
			res.Deleted = append(res.Deleted, path)
		default:
			res.Restored = append(res.Restored, path)
		}
	}
	slices.Sort(res.Restored)
	slices.Sort(res.Deleted)
	return res, nil
}
