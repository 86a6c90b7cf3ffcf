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
// finds the record by it where the answer is lost. Shares of joint operations draw their own. Any other
// text than that of a token is ignored.
func WithToken(ctx context.Context, token string) context.Context {
	if data, err := hex.DecodeString(token); err != nil || len(data) != tokenBytes {
		return ctx
	}
	return context.WithValue(ctx, tokenKey{}, token)
}

func tokenOf(ctx context.Context, req *opRequest) string {
	if token, ok := ctx.Value(tokenKey{}).(string); ok && req.joint == nil {
		return token
	}
	return NewToken()
}

// newestRecords is how many operations Recorded looks at.
const newestRecords = 100

// Recorded returns the result of the operation with a token, as its record has it, nil if no newer operation
// has the token. It waits for the operation of a living process and finishes that of a dead one. Notes
// are not recorded.
func (r *Operator) Recorded(ctx context.Context, token string) (res *Result, err error) {
	err = r.Exclusive(ctx, func(*history.Locked) error {
		looked := 0
		for op, err := range r.Operations(ctx) {
			if err != nil {
				return err
			}
			if history.TokenOf(op) == token {
				res, err = r.resultOf(ctx, op)
				return err
			}
			if looked++; looked == newestRecords {
				break
			}
		}
		return nil
	})
	return res, err
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
