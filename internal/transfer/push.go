package transfer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// ErrNoGit: push and fetch found no git program.
var ErrNoGit = git.ErrNoGit

// remote is a git repository elsewhere.
type remote struct {
	git  *git.Binary
	home string
	url  string // or absolute path
	log  *slog.Logger
	tell git.Progress // may be nil

	timeout time.Duration    // without progress; <= 0 = none
	room    func() error     // whether the disk has room for what comes; nil = not looked at
	ticks   <-chan time.Time // of a test
}

// open returns a remote for a URL or a path.
func (r *Transport) open(where string) (*remote, error) {
	m, err := OpenRemote(r.Store, where)
	if err == nil {
		m.room, m.ticks = r.roomFor(), r.ticks
	}
	return m, err
}

// OpenRemote returns a remote for a URL or a path.
func OpenRemote(r *history.Store, where string) (*remote, error) {
	if where == "" || where[0] == '-' || strings.ContainsAny(where, "\x00\n\r") {
		return nil, fmt.Errorf("remote %q (want a URL or a path)", where)
	}
	binary, err := git.LookBinary()
	if err != nil {
		return nil, fmt.Errorf("push and fetch need git (install it, or use export and import): %w", err)
	}
	if IsLocal(where) {
		if where, err = filepath.Abs(where); err != nil {
			return nil, err
		}
	}
	return &remote{
		git: binary, home: r.Opt.Home, url: where, log: r.Log, tell: r.Opt.Told(),
		timeout: cmp.Or(r.Opt.RemoteTimeout, settings.DefaultRemoteTimeout),
	}, nil
}

// IsLocal reports whether git takes where for a path, that is, it is neither a URL nor host:path.
func IsLocal(where string) bool {
	if filepath.IsAbs(where) {
		return true
	}
	colon, slash := strings.IndexByte(where, ':'), strings.IndexByte(where, '/')
	return colon < 0 || slash >= 0 && slash < colon
}

// Run runs a git command that ends in "-- URL ARGUMENTS" and returns what it prints.
func (m *remote) Run(ctx context.Context, gitDir string, args, rest []string) (string, error) {
	return m.run(ctx, gitDir, args, rest)
}

// run is Run with more variables in the environment.
func (m *remote) run(ctx context.Context, gitDir string, args, rest []string, env ...string) (string, error) {
	if !slices.Contains(args, "ls-remote") {
		args = append(slices.Clone(args), "--progress")
	}
	args = append(append(args[:len(args):len(args)], "--", m.url), rest...)
	ctx, g, end := m.guarded(ctx, gitDir)
	cmd := m.git.Remote(ctx, gitDir, m.home, args...)
	cmd.Env = append(cmd.Env, env...)
	var out bytes.Buffer
	complaint := git.Talk{Tell: g.progress(m.tell)}
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if cause := end(); cause != nil {
		err = cause
	} else if err != nil {
		err = fmt.Errorf("git: %s", cmp.Or(explain(m.withoutPassword(onOneLine(complaint.String()))), err.Error()))
	}
	return out.String(), err
}

// String names the remote in messages.
func (m *remote) String() string { return m.withoutPassword(m.url) }

func (m *remote) withoutPassword(text string) string {
	return strings.ReplaceAll(text, m.url, Redacted(m.url))
}

// staysHere reports whether only this store needs a ref, or whether it is of another store.
func staysHere(ref string) bool {
	switch ref {
	case history.RefDisk, history.RefBefore, history.RefTests, history.RefForked, thinned.Ref:
		return true
	}
	for _, prefix := range []string{history.RefRemotes, history.RefGit, history.RefForks, history.RefOutside, history.RefSignatures} {
		if strings.HasPrefix(ref, prefix) {
			return true
		}
	}
	return false
}

// ownRefs lists the refs of checkpoints except those that only this store needs and those of other
// stores.
func (r *Transport) ownRefs() (own []odb.Ref, err error) {
	refs, err := r.DB.Refs(history.RefRoot)
	for _, ref := range refs {
		if staysHere(ref.Name) {
			continue
		}
		own = append(own, ref)
	}
	return own, err
}

// ownLines lists the refs to push. Damaged ones are left out and logged.
func (r *Transport) ownLines() (own []odb.Ref, err error) {
	refs, err := r.ownRefs()
	for _, ref := range refs {
		if ref.Err == nil {
			_, ref.Err = r.ReadCheckpoint(ref.ID)
		}
		if ref.Err != nil {
			r.Log.Warn("line not pushed", "ref", ref.Name, "error", ref.Err)
			continue
		}
		own = append(own, ref)
	}
	return own, err
}

// Push sends the lines of this store, with pins, operations and imported checkpoints, to a git
// repository: a URL or a path. cairn.Repo.Push states the contract.
func (r *Transport) Push(ctx context.Context, where string) (pushed []string, err error) {
	if where, err = r.remoteOr(where); err != nil {
		return nil, err
	}
	m, err := r.open(where)
	if err != nil {
		return nil, err
	}
	pushed, err = r.pushAndNote(ctx, m)
	if err == nil {
		err = r.remember(ctx, m)
	}
	if err != nil {
		err = fmt.Errorf("push to %s: %w", m, err)
	}
	return pushed, err
}

// pushAndNote pushes, and notes for later what has become of it.
func (r *Transport) pushAndNote(ctx context.Context, m *remote) (pushed []string, err error) {
	began, before := r.Now().UTC(), r.standingOf(m.url)
	lines, err := r.ownLines()
	if err != nil {
		return nil, err
	}
	pushed, err = r.pushTo(ctx, m, lines, true, func(odb.Ref) bool { return true })
	switch known, _ := r.Remembered(); {
	case err == nil:
		return pushed, r.noteStanding(m.url, succeeded(began, lines))
	case ctx.Err() == nil && known == m.url: // another remote may be a slip of the pen
		err = errors.Join(err, r.noteStanding(m.url, before.failed(began, err)))
	}
	return pushed, err
}

// pushTo sends some of the lines and the note about all of them, sealed where the remote has recipients. With
// check, the remote may have lost what it had.
func (r *Transport) pushTo(ctx context.Context, m *remote, lines []odb.Ref, check bool, wanted func(odb.Ref) bool) (pushed []string, err error) {
	recipients, err := r.recipients(m.url)
	switch {
	case err != nil:
		return nil, err
	case len(recipients) > 0:
		return r.pushSealed(ctx, m, recipients, lines, check, false)
	}
	if pushed, err = r.pushOpen(ctx, m, lines, wanted); err == nil {
		err = r.openFromNow(ctx, m.url)
	}
	return pushed, err
}

// pushOpen sends lines as they are. git works in a quarantine, which holds the note and borrows the store's
// objects.
func (r *Transport) pushOpen(ctx context.Context, m *remote, lines []odb.Ref, wanted func(odb.Ref) bool) (pushed []string, err error) {
	id, project, err := r.settle(ctx)
	if err != nil {
		return nil, err
	}
	q, err := r.DB.Quarantine()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	note, err := r.addNote(ctx, q, project, lines)
	if err != nil {
		return nil, err
	}
	key := project.Key(r.Root)
	var specs []pushSpec
	for _, ref := range lines {
		if !wanted(ref) {
			continue
		}
		name := strings.TrimPrefix(ref.Name, history.RefRoot)
		specs = append(specs, pushSpec{name: name, id: ref.ID, to: history.RefRoot + key + "/" + id + "/" + name, force: strings.HasPrefix(ref.Name, history.RefPins)})
	}
	signed, err := r.signedSpecs(key + "/" + id)
	if err != nil {
		return nil, err
	}
	specs = append(specs, signed...)
	specs = append(specs, pushSpec{name: noteName, id: note, to: refAbout + key + "/" + id, force: true})
	pushed, rejected, err := m.push(ctx, q.Dir(), specs)
	if err == nil && len(rejected) > 0 {
		for i := range rejected {
			suffix := "-" + r.beginning(rejected[i].id).String()[:BeginningDigits]
			rejected[i].name += suffix
			rejected[i].to += suffix
		}
		var more []string
		if more, rejected, err = m.push(ctx, q.Dir(), rejected); err == nil && len(rejected) > 0 {
			err = fmt.Errorf("it refused %s, %s among them", wording.Count(len(rejected), "line"), rejected[0].name)
		}
		pushed = append(pushed, more...)
	}
	return slices.DeleteFunc(pushed, func(name string) bool { return name == noteName || name == signaturesName }), err
}

// noteName stands for the note among the names of lines.
const noteName = "the note about this store"

// addNote adds the note about this store to a quarantine, and lets git see there which lines are cut.
func (r *Transport) addNote(ctx context.Context, q *odb.Quarantine, p identity.Project, lines []odb.Ref) (id object.ID, err error) {
	data, err := r.note(ctx, p, lines)
	if err != nil {
		return id, err
	}
	batch := q.NewBatch()
	defer batch.Discard()
	if id, err = batch.Add(object.Blob, data); err != nil {
		return id, err
	}
	if err := batch.Commit(); err != nil {
		return id, err
	}
	ends, err := r.DB.Shallow()
	if err != nil {
		return id, err
	}
	return id, q.SetShallow(ends)
}

// BeginningDigits is the number of digits of an id that tell two beginnings of a line apart.
const BeginningDigits = 12

// beginning returns the oldest commit that is reachable along first parents.
func (r *Transport) beginning(id object.ID) object.ID {
	for {
		c, err := r.ReadCheckpoint(id)
		if err != nil || len(history.CommitOf(c).Parents) == 0 {
			return id
		}
		id = history.CommitOf(c).Parents[0]
	}
}

// pushSpec is one line to push.
type pushSpec struct {
	name  string
	id    object.ID
	to    string
	force bool
}

func (s *pushSpec) String() string {
	if s.force {
		return "+" + s.id.String() + ":" + s.to
	}
	return s.id.String() + ":" + s.to
}

// maxCommandLine keeps the arguments below the limit of Windows.
const maxCommandLine = 24 << 10

// push sends lines in as few commands as possible. rejected are the lines that the remote refused
// because they would have moved backward.
func (m *remote) push(ctx context.Context, gitDir string, specs []pushSpec) (pushed []string, rejected []pushSpec, err error) {
	for len(specs) > 0 {
		var args []string
		byTarget := make(map[string]pushSpec)
		for size := 0; len(specs) > 0 && size < maxCommandLine; specs = specs[1:] {
			text := specs[0].String()
			args, size = append(args, text), size+len(text)
			byTarget[specs[0].to] = specs[0]
		}
		out, err := m.Run(ctx, gitDir, []string{"push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"}, args)
		refused := false
		for line := range strings.Lines(out) {
			flag, spec, why, ok := parsePushed(line)
			s, known := byTarget[spec]
			switch {
			case !ok || !known || flag == '=':
			case flag != '!':
				pushed = append(pushed, s.name)
			case strings.HasPrefix(why, "[rejected]"):
				refused = true
				rejected = append(rejected, s)
			case strings.Contains(why, "shallow update not allowed"):
				refused = true
				m.log.Warn("line not pushed: its beginning has been cleaned away or thinned, and the remote takes only whole lines (with receive.shallowUpdate it takes others)", "line", s.name)
			default:
				return pushed, nil, fmt.Errorf("%s: %s", s.name, why)
			}
		}
		if err != nil && !refused {
			return pushed, nil, err
		}
	}
	return pushed, rejected, nil
}

// parsePushed parses a line of git push --porcelain: a flag, source and target, and a summary,
// separated by tabs.
func parsePushed(line string) (flag byte, to, why string, ok bool) {
	fields := strings.SplitN(strings.TrimRight(line, "\n"), "\t", 3)
	if len(fields) != 3 || len(fields[0]) != 1 {
		return 0, "", "", false
	}
	_, to, ok = strings.Cut(fields[1], ":")
	return fields[0][0], to, fields[2], ok
}

// noFault lists the beginnings of lines that git says beside errors.
var noFault = []string{"From ", "To ", " * [", " + ", "Total ", "Delta compression using "}

// onOneLine joins the lines of git's error text.
func onOneLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return slices.ContainsFunc(noFault, func(beginning string) bool { return strings.HasPrefix(line, beginning) })
	})
	return strings.Join(lines, "; ")
}
