package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/signature"
	"github.com/seed-fb9cbc17/cairn/internal/sshsig"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Signed is the newest head of a line that was signed and that the line still holds.
type Signed struct {
	Ref        string    `json:"ref" doc:"The line."`
	Checkpoint string    `json:"checkpoint" doc:"Id of the head that was signed."`
	When       time.Time `json:"time" doc:"By the signer's clock."`
	Signer     string    `json:"signer,omitempty" doc:"As the list of signers has it; missing without a list."`
	Unsigned   int       `json:"unsigned" doc:"Checkpoints of the line since."`
}

// Kinds of gaps and findings about signatures.
const (
	GapGone       = "gone"      // a line that was signed is no longer there
	FindSignature = "signature" // a signature does not count, or a list of signatures is not whole
	FindHead      = "head"      // a line does not hold a head that was signed
)

// judge checks signatures.
type judge struct {
	*verifier
	program  *sshsig.Program // nil = who signed is not asked
	signers  string
	store    string // id of this store
	signed   map[object.ID]object.ID
	unsigned map[object.ID]object.ID
}

// statement is a statement whose place in its list is sound.
type statement struct {
	*signature.Statement
	signed bool
	signer string
}

// signatures checks every list of signed statements.
func (v *verifier) signatures(ctx context.Context, signers string) error {
	replaced := v.ReadReplaced()
	j := &judge{verifier: v, signers: signers, signed: make(map[object.ID]object.ID), unsigned: maps.Clone(replaced)}
	if signers != "" {
		program, err := sshsig.Look()
		if err != nil {
			return fmt.Errorf("verify signatures: %w (install OpenSSH, or leave the list of signers out)", err)
		}
		if _, err := os.Stat(signers); err != nil { // also where nothing is signed
			return fmt.Errorf("verify signatures: list of signers: %w", err)
		}
		j.program = program
	}
	id, err := v.DB.Identity(false)
	if err != nil && !errors.Is(err, odb.ErrNotFound) {
		return err
	}
	j.store = id
	refs, err := v.DB.Refs(history.RefSignatures)
	if err != nil {
		return err
	}
	lists := make(map[string][]statement)
	for _, ref := range refs {
		name := strings.TrimPrefix(ref.Name, history.RefSignatures)
		if lists[name], err = j.list(ctx, name); err != nil {
			return err
		}
		if _, line := owner(name); line == signature.Rewritings {
			j.rewritings(name, lists[name])
		}
	}
	j.unexplained(replaced)
	for _, ref := range refs {
		name := strings.TrimPrefix(ref.Name, history.RefSignatures)
		if _, line := owner(name); line != signature.Rewritings {
			j.heads(name, lists[name])
		}
	}
	return ctx.Err()
}

// owner splits the name of a list: the store of a fetched line, "" for this store, and the name of the
// line there.
func owner(name string) (store, line string) {
	if fetched, ok := strings.CutPrefix(history.RefRoot+name, history.RefRemotes); ok {
		store, line, _ = strings.Cut(fetched, "/")
		return store, line
	}
	return "", name
}

// list reads a list and checks that its statements follow each other.
func (j *judge) list(ctx context.Context, name string) (list []statement, err error) {
	j.ref = history.RefSignatures + name
	entries, err := signature.Read(j.Store, name)
	if err != nil {
		j.finding(Note{Kind: FindSignature, Text: err.Error()})
		return nil, nil
	}
	previous, number := "-", 1
	for i := range entries {
		e := &entries[i]
		st, err := signature.Parse(e.Text)
		if err == nil && i == 0 && st.Number > 1 { // older ones were dropped
			previous, number = st.Previous, st.Number
		}
		if err == nil {
			err = j.follows(st, name, number, previous)
		}
		if err != nil {
			j.finding(Note{Kind: FindSignature, Text: fmt.Sprintf("statement %d: %v", i+1, err)})
			return list, nil
		}
		previous, number = e.Hash(), number+1
		out, err := j.check(ctx, e, st)
		if err != nil {
			return list, err
		}
		list = append(list, out)
	}
	return list, nil
}

func (j *judge) follows(st *signature.Statement, name string, number int, previous string) error {
	store, line := owner(name)
	if store == "" {
		store = j.store
	}
	if line == signature.Rewritings {
		line = ""
	}
	switch {
	case st.Number != number || st.Previous != previous:
		return errors.New("it does not follow the statement before it")
	case st.Store != store:
		return fmt.Errorf("it is about store %s", wording.Printable(st.Store))
	case st.Line != line:
		return fmt.Errorf("it is about another line: %s", wording.Printable(st.Line))
	}
	return nil
}

// check asks who signed a statement.
func (j *judge) check(ctx context.Context, e *signature.Entry, st *signature.Statement) (out statement, err error) {
	out = statement{Statement: st, signed: e.Signature != ""}
	if st.Line != "" && !out.signed {
		j.finding(Note{Kind: FindSignature, Checkpoint: st.Head.String(), Text: fmt.Sprintf("statement %d has no signature", st.Number)})
	}
	if j.program == nil || !out.signed || st.Time.Before(j.since) {
		return out, nil
	}
	f, err := atomicfile.CreateWith(filepath.Dir(j.DB.PrivatePath("id")), atomicfile.Prefix, []byte(e.Signature))
	if err != nil {
		return out, fmt.Errorf("check a signature: %w", err)
	}
	defer atomicfile.Discard(f)
	out.signer, err = j.program.Check(ctx, j.signers, f.Name(), e.Text, st.Time)
	if errors.Is(err, sshsig.ErrBad) || errors.Is(err, sshsig.ErrSigner) {
		out.signed = false
		j.finding(Note{
			Kind: FindSignature, Checkpoint: headOf(st),
			Text: fmt.Sprintf("statement %d of %s: %v", st.Number, timeText(st.Time), err),
		})
		err = nil
	}
	return out, err
}

func headOf(st *signature.Statement) string {
	if st.Line == "" {
		return ""
	}
	return st.Head.String()
}

func timeText(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// rewritings notes which ids were replaced.
func (j *judge) rewritings(name string, list []statement) {
	j.ref = history.RefSignatures + name
	for _, st := range list {
		into, how := j.unsigned, "not signed"
		if st.signed {
			into, how = j.signed, "signed"
			if st.signer != "" {
				how += " by " + st.signer
			}
		}
		for old, now := range st.Replaced {
			if _, known := j.signed[old]; !known {
				into[old] = now
			}
			if st.signed {
				delete(j.unsigned, old)
			}
		}
		if !st.Time.Before(j.since) {
			j.gap(Note{Kind: GapRewritten, Text: fmt.Sprintf("at %s, %s got new ids, %s went; %s", timeText(st.Time), wording.Count(len(st.Replaced), "checkpoint"), wording.Count(st.Paths, "path"), how)})
		}
	}
}

// unexplained notes commits that have new ids without a statement, as earlier releases left them.
func (j *judge) unexplained(replaced map[object.ID]object.ID) {
	n := 0
	for old, now := range replaced {
		_, signed := j.signed[old]
		if kind, _, err := j.DB.Stat(now); !signed && err == nil && kind == object.Commit {
			n++
		}
	}
	if n > 0 {
		j.ref = ""
		j.gap(Note{Kind: GapRewritten, Text: fmt.Sprintf("a purge or a repair gave new ids to %s, and no signed statement says so", wording.Count(n, "checkpoint"))})
	}
}
