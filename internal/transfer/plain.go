package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
)

// A receiving git reads all refs of its repository twice, and of each loose one a file. Where the remote is a directory
// of this machine, and nothing there has a say in what comes, a push needs no receiving git: git's plumbing adds the
// objects and moves the refs, and reads the refs of the stores that this push is about.
//
// git push does everything else: the first push of a store, lines that moved backward, a repository with hooks or
// settings of its own, and what any step here refuses. The steps leave nothing half done: objects to which no ref leads
// do no harm, and the refs move together or not at all.

// errNotPlain: git push has to do it.
var errNotPlain = errors.New("no plain push")

// plainPush brings a quarantine's lines to a repository on this machine.
type plainPush struct {
	*Transport
	m      *remote
	gitDir string // of the quarantine
	dir    string // in which git works there
	refs   map[string]object.ID
}

// send sends lines to a remote. rejected are those that it refused because they would have moved backward.
func (r *Transport) send(ctx context.Context, m *remote, gitDir string, specs []pushSpec) (pushed []string, rejected []pushSpec, err error) {
	pushed, err = r.sendPlainly(ctx, m, gitDir, specs)
	if err == nil {
		return pushed, nil, nil
	}
	r.Log.Debug("git push is needed", "error", err)
	return m.push(ctx, gitDir, specs)
}

// sendPlainly sends lines without a receiving git. On any error nothing has changed for a reader of the remote.
func (r *Transport) sendPlainly(ctx context.Context, m *remote, gitDir string, specs []pushSpec) (pushed []string, err error) {
	repo, dir := plainPlace(m.url)
	if repo == nil {
		return nil, errNotPlain
	}
	p := &plainPush{Transport: r, m: m, gitDir: gitDir, dir: dir}
	if err := p.readRefs(ctx, specs); err != nil {
		return nil, err
	}
	moves, err := p.moves(ctx, specs)
	if err != nil || len(moves) == 0 {
		return nil, err
	}
	if err := p.add(ctx, moves); err != nil {
		return nil, err
	}
	if err := p.move(ctx, moves); err != nil {
		return nil, err
	}
	if isTime(moves[0].id) && repo.AutoMaintenance() {
		p.maintain(ctx)
	}
	for _, s := range moves {
		pushed = append(pushed, s.name)
	}
	return pushed, nil
}

// plainPlace returns a repository by path, and the directory in which git works on it, if nothing in it has a say in what
// a push brings; nil otherwise.
func plainPlace(where string) (repo *git.Repo, dir string) {
	if !IsLocal(where) {
		return nil, ""
	}
	real, err := realpath.Of(where)
	if err != nil {
		return nil, ""
	}
	repo, err = git.Find(real)
	switch {
	case err != nil || repo == nil || repo.SHA256 || repo.GitDir != repo.CommonDir:
		return nil, ""
	case repo.GitDir != real && repo.GitDir != filepath.Join(real, ".git"): // it lies above
		return nil, ""
	case !repo.ReceivesPlainly():
		return nil, ""
	}
	return repo, real
}

// git runs a git command in the repository.
func (p *plainPush) git(ctx context.Context, in io.Reader, args ...string) (out string, err error) {
	ctx, g, end := p.m.guarded(ctx, p.gitDir)
	cmd := p.m.git.There(ctx, p.dir, p.m.safe, args...)
	var b bytes.Buffer
	complaint := g.listens(p.m.tell)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &b, &complaint
	err = outcome(cmd.Run(), &complaint, end)
	return b.String(), err
}

// readRefs reads the refs of this store, and those of some whose lines were fetched: what they lead to is not sent
// again.
func (p *plainPush) readRefs(ctx context.Context, specs []pushSpec) error {
	var shown []string
	for _, s := range specs {
		shown = append(shown, ofStore(s.to))
	}
	slices.Sort(shown)
	shown = slices.Compact(shown)
	shown = append(shown, p.m.shown[:min(len(p.m.shown), mostShown)]...)
	out, err := p.git(ctx, nil, append([]string{"for-each-ref", "--format=%(objectname) %(refname)", "--"}, shown...)...)
	if err != nil {
		return err
	}
	p.refs = make(map[string]object.ID)
	for line := range strings.Lines(out) {
		text, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		id, err := object.ParseID(text)
		if err != nil {
			return err
		}
		p.refs[name] = id
	}
	return nil
}

// moves lists the lines that are not there yet. The error is errNotPlain if one may not move there, or if the store has
// not been pushed before: a first push is large, and git push tells how far it has come.
func (p *plainPush) moves(ctx context.Context, specs []pushSpec) (moves []pushSpec, err error) {
	ends, err := p.DB.Shallow()
	if err != nil {
		return nil, err
	}
	ancestry, known := p.ancestry(ctx, nil), false
	for _, s := range specs {
		was, there := p.refs[s.to]
		known = known || there
		switch {
		case there && was == s.id:
			continue
		case !there && len(ends) > 0: // the line may begin later than it does here
			return nil, errNotPlain
		case there && !s.force:
			if on, err := ancestry.leads(s.id, was); err != nil || !on {
				return nil, errors.Join(errNotPlain, err)
			}
		}
		moves = append(moves, s)
	}
	if !known {
		return nil, errNotPlain
	}
	return moves, nil
}

// packName is a file of the quarantine.
const packName = "sent.pack"

// fewObjects is the number of objects from which on a receiving git keeps a pack (receive.unpackLimit).
const fewObjects = 100

// add brings what the lines lead to into the repository, and lets git check there that nothing is missing.
func (p *plainPush) add(ctx context.Context, moves []pushSpec) error {
	var tips, here, there strings.Builder // here has the refs there whose commits the store has
	for _, s := range moves {
		fmt.Fprintln(&tips, s.id)
	}
	for _, id := range p.refs {
		fmt.Fprintf(&there, "^%s\n", id)
		if ok, err := p.DB.Has(id); err == nil && ok {
			fmt.Fprintf(&here, "^%s\n", id)
		}
	}
	file, err := os.Create(filepath.Join(p.gitDir, packName))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := p.m.local(ctx, p.gitDir, packArgs, strings.NewReader(tips.String()+here.String()), file); err != nil {
		return err
	}
	if err := p.unpack(ctx, file); err != nil {
		return err
	}
	_, err = p.git(ctx, strings.NewReader(tips.String()+there.String()), "rev-list", "--objects", "--quiet", "--stdin")
	return err
}

// unpack adds the objects of a pack as a receiving git does: few as loose ones, many as a pack.
func (p *plainPush) unpack(ctx context.Context, pack *os.File) error {
	var head [packHead]byte
	if _, err := pack.ReadAt(head[:], 0); err != nil {
		return err
	}
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return err
	}
	args := []string{"index-pack", "--stdin", "--fix-thin"}
	switch n := objectsIn(head[:]); {
	case n == 0:
		return nil
	case n < fewObjects:
		args = []string{"unpack-objects", "-q"}
	}
	_, err := p.git(ctx, pack, args...)
	return err
}

// move moves the refs, each from where it was. Another push may have moved one meanwhile: then none moves. Without the
// last line, which a killed process may not have written, none moves either. A symbolic ref becomes a plain one: what it
// led to is none of this push.
func (p *plainPush) move(ctx context.Context, moves []pushSpec) error {
	var list strings.Builder
	list.WriteString("start\n")
	for _, s := range moves {
		fmt.Fprintf(&list, "update %s %s %s\n", s.to, s.id, p.refs[s.to])
	}
	list.WriteString("prepare\ncommit\n")
	_, err := p.git(ctx, strings.NewReader(list.String()), "update-ref", "--no-deref", "--stdin")
	return err
}

// pushesToTidy is the number of pushes of which one lets git look whether it is time to tidy. A receiving git looks after
// each, which takes a tenth of a push, and meets a gc of the host more often.
const pushesToTidy = 16

// isTime chooses pushes by the first bits of a line's id, which are as good as random.
func isTime(id object.ID) bool { return id[0]%pushesToTidy == 0 }

// maintain lets git tidy the repository when it is time, in the background, as a receiving git does. A git before 2.47
// goes to the background by itself, and knows no --detach.
func (p *plainPush) maintain(ctx context.Context) {
	args := []string{"maintenance", "run", "--auto", "--quiet", "--detach"}
	_, err := p.git(ctx, nil, args...)
	if err != nil {
		_, err = p.git(ctx, nil, args[:len(args)-1]...)
	}
	if err != nil {
		p.Log.Debug("maintenance of the remote", "error", err)
	}
}
