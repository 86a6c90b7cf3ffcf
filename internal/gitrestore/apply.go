package gitrestore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
)

// ErrRefused is wrapped by the error for a plan that cannot be carried out.
var ErrRefused = errors.New("git is not brought back")

// Applier carries plans out.
type Applier struct {
	Git   *git.Binary
	Vault string // git directory with the objects of the records
	Note  string // for the reflogs

	// Token names the temporary files. An Applier with Resume removes those of one with the same token
	// that was cut short, and goes on with its plan.
	Token  string
	Resume bool
}

// run is one application of a plan.
type run struct {
	*Applier
	*Plan
	ctx      context.Context
	dir      string           // git directory to write to
	fresh    *gitstate.Record // the state that was found
	failures []Conflict
}

// Apply carries a plan out. An error means that nothing has changed but objects to which nothing leads.
// What fails after the transaction of the refs is a conflict and does not stop the rest.
func (a *Applier) Apply(ctx context.Context, p *Plan) (failures []Conflict, err error) {
	if p.Refused != "" {
		return nil, fmt.Errorf("%w: %s", ErrRefused, p.Refused)
	}
	if failures, err = a.applyOne(ctx, p); err != nil {
		return failures, err
	}
	return append(failures, a.applyNested(ctx, p)...), nil
}

func (a *Applier) applyOne(ctx context.Context, p *Plan) (failures []Conflict, err error) {
	if p.stays() {
		return nil, nil
	}
	r := &run{Applier: a, Plan: p, ctx: ctx, dir: p.now.GitDir}
	if p.Rebuild {
		return r.failures, r.build()
	}
	if r.Resume {
		r.clearLocks()
	}
	if err := r.bringObjects(); err != nil {
		return nil, err
	}
	lock, err := r.lockIndex()
	if err != nil {
		return nil, err
	}
	defer lock.release()
	if err := r.check(); err != nil {
		return nil, err
	}
	if err := r.moveRefs(); err != nil && !r.failed(err) {
		return nil, err
	}
	r.afterRefs(lock)
	return r.failures, nil
}

// afterRefs does what follows the transaction.
func (r *run) afterRefs(lock *indexLock) {
	for _, step := range []struct {
		what string
		do   func() error
	}{{"refs", r.moveSymbolic}, {"HEAD", r.moveHead}, {stashRef, r.listStashes}, {cmp.Or(r.target.Under(), r.now.Under(), origHead), r.moveProgress}, {"index", lock.commit}} {
		if err := step.do(); err != nil {
			r.failures = append(r.failures, Conflict{step.what, err.Error()})
		}
	}
}

// failed notes a failure of the transaction, if a part of the plan has been carried out already.
func (r *run) failed(err error) bool {
	var part *partlyError
	if !r.Resume && !errors.As(err, &part) {
		return false
	}
	r.failures = append(r.failures, Conflict{"refs", err.Error()})
	return true
}

// partlyError is the error of the second of two transactions.
type partlyError struct{ error }

// git runs git in the user's repository and returns its output.
func (r *run) git(stdin string, args ...string) (string, error) {
	return r.in(r.dir, stdin, args...)
}

func (r *run) in(gitDir, stdin string, args ...string) (string, error) {
	var out strings.Builder
	err := r.pipe(gitDir, strings.NewReader(stdin), &out, args...)
	return out.String(), err
}

func (r *run) pipe(gitDir string, stdin io.Reader, stdout io.Writer, args ...string) error {
	cmd := r.Git.Command(r.ctx, gitDir, append([]string{"-c", "protocol.allow=never", "-c", "core.filesRefLockTimeout=" + lockTimeout, "--git-dir=" + gitDir}, args...)...)
	cmd.Env = append(cmd.Env, "GIT_COMMITTER_NAME=cairn", "GIT_COMMITTER_EMAIL=cairn@localhost", "GIT_NO_LAZY_FETCH=1")
	var complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, &complaint
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(complaint.Bytes()))
	}
	return nil
}

// find reads the present state.
func (r *run) find() error {
	repo := &git.Repo{GitDir: r.now.GitDir, CommonDir: r.now.CommonDir, SHA256: r.now.SHA256}
	var err error
	r.fresh, _, err = (&gitstate.Reader{Repo: repo, Git: r.Git}).Read(r.ctx)
	return err
}

// check refuses to begin where something has moved since the plan was made. The refs are checked by
// their transaction.
func (r *run) check() error {
	if err := r.find(); err != nil || r.Resume {
		return err
	}
	switch {
	case r.Head != nil && r.fresh.Head != r.Head.From:
		return fmt.Errorf("%w: HEAD has moved meanwhile", ErrRefused)
	case r.List && !sameStashes(Stashes(r.fresh.Stash), Stashes(r.now.Stash)):
		return fmt.Errorf("%w: the list of stashes has changed meanwhile", ErrRefused)
	case r.Index && !gitstate.SameIndex(r.fresh, r.now):
		return fmt.Errorf("%w: the index has changed meanwhile", ErrRefused)
	case !sameFiles(only(r.fresh, gitstate.OfProgress), only(r.now, gitstate.OfProgress)):
		return fmt.Errorf("%w: an operation has begun or gone on meanwhile", ErrRefused)
	}
	return nil
}

// moveRefs moves all refs in one transaction. Git cannot delete a ref and create another one above or
// below its name in one: such deletions come first.
func (r *run) moveRefs() error {
	var first, rest []gitstate.RefMove
	again := r.Resume && r.fresh != nil
	for _, m := range r.Refs {
		switch {
		case isSymbolic(m.From) || isSymbolic(m.To):
		case again && r.fresh.Refs[m.Name] == m.To:
		case again && r.fresh.Refs[m.Name] != m.From:
			r.failures = append(r.failures, Conflict{m.Name, "it has moved meanwhile"})
		case m.To == "" && slices.ContainsFunc(r.Refs, func(o gitstate.RefMove) bool {
			return o.From == "" && (strings.HasPrefix(o.Name, m.Name+"/") || strings.HasPrefix(m.Name, o.Name+"/"))
		}):
			first = append(first, m)
		default:
			rest = append(rest, m)
		}
	}
	if err := r.transact(first); err != nil {
		return err
	}
	err := r.transact(rest)
	if err != nil && len(first) > 0 {
		err = &partlyError{err}
	}
	return err
}

// moveSymbolic moves the refs that name others, or have named others. Git has no transaction for them.
func (r *run) moveSymbolic() error {
	var errs []error
	for _, m := range r.Refs {
		if !isSymbolic(m.From) && !isSymbolic(m.To) {
			continue
		}
		if now := r.valueNow(m); r.fresh != nil && now != m.From {
			if now != m.To {
				errs = append(errs, fmt.Errorf("%s has moved meanwhile", m.Name))
			}
			continue
		}
		args := []string{"update-ref", "--no-deref", "-m", r.Note, m.Name, m.To}
		if name, symbolic := strings.CutPrefix(m.To, "ref: "); symbolic {
			args = []string{"symbolic-ref", "-m", r.Note, m.Name, name}
		} else if m.To == "" {
			args = []string{"symbolic-ref", "-d", m.Name}
		}
		_, err := r.git("", args...)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// valueNow is the value of a ref that was found. Git lists no symbolic ref of a reftable whose target is
// gone, as it is if a git was killed between the two.
func (r *run) valueNow(m gitstate.RefMove) string {
	if r.fresh == nil {
		return ""
	}
	now := r.fresh.Refs[m.Name]
	if now == "" && r.Resume && r.tables() && isSymbolic(m.From) {
		if name, err := r.git("", "symbolic-ref", "-q", m.Name); err == nil {
			return "ref: " + strings.TrimSpace(name)
		}
	}
	return now
}

func (r *run) transact(moves []gitstate.RefMove) error {
	if len(moves) == 0 {
		return nil
	}
	var lines strings.Builder
	lines.WriteString("start\n")
	for _, m := range moves {
		switch {
		case m.To == "":
			fmt.Fprintf(&lines, "delete %s %s\n", m.Name, m.From)
		case m.From == "":
			fmt.Fprintf(&lines, "create %s %s\n", m.Name, m.To)
		default:
			fmt.Fprintf(&lines, "update %s %s %s\n", m.Name, m.To, m.From)
		}
	}
	lines.WriteString("prepare\ncommit\n")
	_, err := r.git(lines.String(), "update-ref", "--create-reflog", "-m", r.Note, "--stdin")
	return err
}

// moveHead moves HEAD after the refs, unless it has moved meanwhile.
func (r *run) moveHead() error {
	if r.Head == nil || r.fresh != nil && r.fresh.Head == r.Head.To {
		return nil
	}
	if r.fresh != nil && r.fresh.Head != r.Head.From {
		return errors.New("it has moved meanwhile")
	}
	args := []string{"update-ref", "--no-deref", "-m", r.Note, "HEAD", r.Head.To}
	if name, symbolic := strings.CutPrefix(r.Head.To, "ref: "); symbolic {
		args = []string{"symbolic-ref", "-m", r.Note, "HEAD", name}
	}
	_, err := r.git("", args...)
	return err
}
