package gitrestore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
}

// run is one application of a plan.
type run struct {
	*Applier
	*Plan
	ctx context.Context
}

// Apply carries a plan out. After an error before the transaction of the refs nothing has changed but
// objects that nothing leads to. The same plan, made again, goes on after a later error.
func (a *Applier) Apply(ctx context.Context, p *Plan) (err error) {
	if p.Refused != "" {
		return fmt.Errorf("%w: %s", ErrRefused, p.Refused)
	}
	if p.None() {
		return nil
	}
	r := &run{a, p, ctx}
	if p.Rebuild {
		if err := r.init(); err != nil {
			return err
		}
	}
	if err := r.bringObjects(); err != nil {
		return err
	}
	var lock *indexLock
	if p.Index {
		if lock, err = lockIndex(p.now.GitDir); err != nil {
			return err
		}
		defer lock.release()
		if err := lock.fill(p.target, p.now, p.Rebuild); err != nil {
			return err
		}
	}
	for _, step := range []func() error{r.moveRefs, r.moveHead, r.listStashes} {
		if err := step(); err != nil {
			return err
		}
	}
	if lock != nil {
		return lock.commit()
	}
	return nil
}

// git runs git in the user's repository and returns its output.
func (r *run) git(stdin string, args ...string) (string, error) {
	return r.in(r.now.GitDir, stdin, args...)
}

func (r *run) in(gitDir, stdin string, args ...string) (string, error) {
	cmd := r.Git.Command(r.ctx, gitDir, append([]string{"-c", "protocol.allow=never", "--git-dir=" + gitDir}, args...)...)
	cmd.Env = append(cmd.Env, "GIT_COMMITTER_NAME=cairn", "GIT_COMMITTER_EMAIL=cairn@localhost", "GIT_NO_LAZY_FETCH=1")
	var out, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &complaint
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(complaint.Bytes()))
	}
	return out.String(), nil
}

// init makes the repository again, with the configuration of the record.
func (r *run) init() error {
	dir := r.target.GitDir
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is in the way", ErrRefused, dir)
	}
	format := "sha1"
	if r.target.SHA256 {
		format = "sha256"
	}
	cmd := r.Git.Command(r.ctx, filepath.Dir(dir), "init", "-q", "--bare", "--template=", "--object-format="+format, dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git init: %w: %s", err, bytes.TrimSpace(out))
	}
	for name, data := range r.target.Files {
		name, ok := strings.CutPrefix(name, "common/")
		if !ok {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// wanted lists the objects that the repository has to have.
func (r *run) wanted() (ids []string, err error) {
	if r.Head != nil && !isSymbolic(r.Head.To) {
		ids = append(ids, r.Head.To)
	}
	for _, m := range r.Refs {
		if m.To != "" {
			ids = append(ids, m.To)
		}
	}
	for _, s := range r.Stashes {
		ids = append(ids, s.ID)
	}
	if r.Index {
		blobs, err := r.indexed()
		if err != nil {
			return nil, err
		}
		ids = append(ids, blobs...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// indexed has git list the objects of the index in the plan. Git looks for a shared index in the git
// directory, so the index gets a directory of its own.
func (r *run) indexed() ([]string, error) {
	dir, err := os.MkdirTemp("", "cairn-index-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	config, err := os.ReadFile(filepath.Join(r.Vault, "config"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"config": config, "HEAD": []byte("ref: refs/heads/none\n"), "objects/none": nil, "refs/none": nil}
	for name, data := range r.target.Files {
		if isIndex(name) {
			files[name] = data
		}
	}
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return nil, err
		}
	}
	out, err := r.in(dir, "", "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	var ids []string
	for entry := range strings.SplitSeq(out, "\x00") {
		fields := strings.SplitN(entry, " ", 3)
		if len(fields) == 3 && fields[0] != "160000" && strings.Trim(fields[1], "0") != "" {
			ids = append(ids, fields[1])
		}
	}
	return ids, nil
}

func isIndex(name string) bool { return name == "index" || strings.HasPrefix(name, "sharedindex.") }

// bringObjects copies the objects that the repository lacks out of the vault.
func (r *run) bringObjects() error {
	ids, err := r.wanted()
	if err != nil || len(ids) == 0 {
		return err
	}
	var revs strings.Builder
	for _, id := range ids {
		fmt.Fprintln(&revs, id)
	}
	tips, err := r.git("", "for-each-ref", "--format=%(objectname)")
	if err != nil {
		return err
	}
	has, err := r.in(r.Vault, tips, "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return err
	}
	for line := range strings.Lines(has) {
		if id, kind, _ := strings.Cut(strings.TrimSpace(line), " "); kind == "commit" || kind == "tag" {
			fmt.Fprintln(&revs, "^"+id)
		}
	}
	packed, err := r.in(r.Vault, revs.String(), "pack-objects", "-q", "--revs", "--stdout")
	if err != nil {
		return fmt.Errorf("%w: not all objects were kept: %w", ErrRefused, err)
	}
	if len(packed) < 12 || packed[8:12] == "\x00\x00\x00\x00" {
		return nil // the repository has them all
	}
	_, err = r.git(packed, "index-pack", "--stdin")
	return err
}

// moveRefs moves all refs in one transaction. Git cannot delete a ref and create another one above or
// below its name in one: such deletions come first.
func (r *run) moveRefs() error {
	var first, rest []gitstate.RefMove
	for _, m := range r.Refs {
		if m.To == "" && slices.ContainsFunc(r.Refs, func(o gitstate.RefMove) bool {
			return o.From == "" && (strings.HasPrefix(o.Name, m.Name+"/") || strings.HasPrefix(m.Name, o.Name+"/"))
		}) {
			first = append(first, m)
		} else {
			rest = append(rest, m)
		}
	}
	if err := r.transact(first); err != nil {
		return err
	}
	return r.transact(rest)
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
	if r.Head == nil {
		return nil
	}
	if !r.Rebuild {
		repo := &git.Repo{GitDir: r.now.GitDir, CommonDir: r.now.CommonDir, SHA256: r.now.SHA256}
		now, _, err := (&gitstate.Reader{Repo: repo, Git: r.Git}).Read(r.ctx)
		if err != nil {
			return err
		}
		if now.Head != r.Head.From {
			return fmt.Errorf("%w: HEAD has moved meanwhile", ErrRefused)
		}
	}
	name, symbolic := strings.CutPrefix(r.Head.To, "ref: ")
	args := []string{"update-ref", "--no-deref", "-m", r.Note, "HEAD", r.Head.To}
	if symbolic {
		args = []string{"symbolic-ref", "-m", r.Note, "HEAD", name}
	}
	_, err := r.git("", args...)
	return err
}

// listStashes makes the list of stashes, oldest first. Where the list only grows, nothing is dropped
// for a moment.
func (r *run) listStashes() error {
	if r.Stashes == nil {
		return nil
	}
	now, add := Stashes(r.now.Stash), r.Stashes
	old := r.now.Refs["refs/stash"]
	if n := len(add) - len(now); n >= 0 && slices.Equal(add[n:], now) {
		add = add[:n]
	} else {
		if _, err := r.git("", "update-ref", "-d", "refs/stash", old); err != nil {
			return err
		}
		old = ""
	}
	for _, s := range slices.Backward(add) {
		if old == "" {
			old = strings.Repeat("0", len(s.ID))
		}
		if _, err := r.git("", "update-ref", "--create-reflog", "-m", cmp.Or(s.Message, "stash"), "refs/stash", s.ID, old); err != nil {
			return err
		}
		old = s.ID
	}
	return nil
}
