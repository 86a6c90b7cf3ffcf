package verify_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

func TestMain(m *testing.M) {
	gittest.Prepare()
	m.Run()
}

// project is a directory with a store, and git as the oracle for the store.
type project struct {
	*testing.T
	root     string
	opt      cairn.Options
	repo     *cairn.Repo
	sessions *session.Sessions
	oracle   *gittest.Oracle
}

func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{T: t, root: filepath.Join(t.TempDir(), "root"), oracle: gittest.NewOracle(t)}
	gittest.Create(t, p.root, gittest.Tree{"a": gittest.File("one\n"), "dir/b": gittest.File("two\n")})
	p.opt = cairn.Options{Root: p.root, DataDir: filepath.Join(t.TempDir(), "data"), NoSync: true}
	p.open()
	t.Cleanup(func() { p.repo.Close() })
	return p
}

func (p *project) open() {
	p.Helper()
	if p.repo != nil {
		p.repo.Close()
	}
	var err error
	if p.repo, err = cairn.Open(p.opt); err != nil {
		p.Fatal(err)
	}
	p.sessions = session.New(p.repo)
	access.SetClock(p.repo, gittest.OneDay)
}

func (p *project) write(name, text string) {
	p.Helper()
	if err := os.WriteFile(filepath.Join(p.root, name), []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
}

func (p *project) track() *cairn.TrackResult {
	p.Helper()
	r, err := p.repo.Track(p.Context(), cairn.TrackOptions{})
	if err != nil {
		p.Fatal(err)
	}
	return r
}

// step records a step of a session that writes the file a.
func (p *project) step(id, step, text string) {
	p.Helper()
	begin := session.StepBegin{Session: id, Message: "m-" + step, Role: session.RoleUser, Step: step, Prompt: "write " + text}
	if _, err := p.sessions.BeginStep(p.Context(), begin); err != nil {
		p.Fatal(err)
	}
	p.write("a", text)
	if _, err := p.sessions.EndStep(p.Context(), session.StepEnd{Session: id, Step: step}); err != nil {
		p.Fatal(err)
	}
}

// worked is a project with two sessions and an operation.
func worked(t *testing.T) *project {
	t.Helper()
	p := newProject(t)
	first := p.track()
	p.step("s", "1", "1\n")
	p.step("other", "1", "2\n")
	p.step("s", "2", "3\n")
	if _, err := p.repo.Restore(t.Context(), first.Hash, cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *project) verify(opt cairn.VerifyOptions) *cairn.VerifyReport {
	p.Helper()
	report, err := p.repo.Verify(p.Context(), opt)
	if err != nil {
		p.Fatal(err)
	}
	return report
}

// sound fails if there is a finding.
func (p *project) sound(opt cairn.VerifyOptions) *cairn.VerifyReport {
	p.Helper()
	p.oracle.Fsck(p.repo.StoreDir())
	report := p.verify(opt)
	if !report.Sound || len(report.Findings) > 0 {
		p.Errorf("findings: %v", report.Findings)
	}
	return report
}

func kinds(list []cairn.VerifyNote) (kinds []string) {
	for _, n := range list {
		kinds = append(kinds, n.Kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// TestWholeHistory: every way in which cairn itself changes the history leaves it sound, and a cleaning
// and a purge are named as gaps.
func TestWholeHistory(t *testing.T) {
	t.Parallel()
	p := worked(t)
	if r := p.sound(cairn.VerifyOptions{}); len(r.Gaps) > 0 || r.Checkpoints < 8 || len(r.Lines) < 4 {
		t.Errorf("%+v", r)
	}
	for _, run := range []func() error{
		func() error {
			_, _, err := p.sessions.UndoTurn(t.Context(), "s", session.MoveOptions{OnConflict: cairn.Overwrite})
			return err
		},
		func() error { _, _, err := p.sessions.RedoTurn(t.Context(), "s", session.MoveOptions{}); return err },
		func() error { _, err := p.sessions.Fork(t.Context(), "s", "m-2", "fork"); return err },
		func() error { return p.repo.Pin(t.Context(), "@", "pinned") },
		func() error { _, err := p.repo.Undo(t.Context(), cairn.RevertOptions{}); return err },
	} {
		if err := run(); err != nil {
			t.Fatal(err)
		}
		p.sound(cairn.VerifyOptions{})
	}
	p.step("fork", "9", "fork\n")
	p.step("s", "3", "four\n")
	p.sound(cairn.VerifyOptions{})
	if _, err := p.repo.Purge(t.Context(), []string{filepath.Join(p.root, "dir")}); err != nil {
		t.Fatal(err)
	}
	if r := p.sound(cairn.VerifyOptions{}); !slices.Equal(kinds(r.Gaps), []string{"rewritten"}) {
		t.Errorf("after a purge: %+v", r.Gaps)
	}
	if _, err := p.repo.Clean(t.Context(), cairn.CleanOptions{Retention: cairn.Retention{MaxCount: 3, KeepLast: 1}}); err != nil {
		t.Fatal(err)
	}
	if r := p.sound(cairn.VerifyOptions{}); !slices.Contains(kinds(r.Gaps), "cleaned") {
		t.Errorf("after a cleaning: %+v", r.Gaps)
	}
	p.step("s", "4", "five\n")
	p.sound(cairn.VerifyOptions{})
}

// loosen writes every object of the store into a file of its own.
func (p *project) loosen() {
	p.Helper()
	p.repo.Close()
	dir := p.repo.StoreDir()
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	if err != nil {
		p.Fatal(err)
	}
	for _, pack := range packs {
		aside := filepath.Join(p.TempDir(), "pack")
		if err := os.Rename(pack, aside); err != nil {
			p.Fatal(err)
		}
		os.Remove(strings.TrimSuffix(pack, ".pack") + ".idx")
		data, err := os.ReadFile(aside)
		if err != nil {
			p.Fatal(err)
		}
		p.oracle.Feed(dir, string(data), "unpack-objects", "-q")
	}
	p.repo = nil
	p.open()
}

func (p *project) git(args ...string) string {
	p.Helper()
	return strings.TrimSpace(p.oracle.In(p.repo.StoreDir(), args...))
}

func (p *project) object(rev string) (id, path string) {
	p.Helper()
	id = p.git("rev-parse", rev)
	return id, filepath.Join(p.repo.StoreDir(), "objects", id[:2], id[2:])
}

// forge writes the commit of a rev with other text and returns its id.
func (p *project) forge(rev string, change func(string) string) string {
	p.Helper()
	text := p.oracle.In(p.repo.StoreDir(), "cat-file", "commit", rev)
	changed := change(text)
	if changed == text {
		p.Fatalf("nothing to change in %s:\n%s", rev, text)
	}
	return strings.TrimSpace(p.oracle.Feed(p.repo.StoreDir(), changed, "hash-object", "-t", "commit", "-w", "--stdin"))
}

const sessionRef = "refs/cairn/sessions/s"

// tampering is a change of a store that cairn has not made.
type tampering struct {
	name string
	do   func(p *project)
	kind string // of the finding
	fsck bool   // git finds it, too
}

var tamperings = []tampering{
	{"a file is gone", func(p *project) {
		_, path := p.object(sessionRef + ":a")
		os.Remove(path)
	}, "missing", true},
	{"a directory is gone", func(p *project) {
		_, path := p.object(sessionRef + ":dir")
		os.Remove(path)
	}, "missing", true},
	{"a checkpoint in the middle is gone", func(p *project) {
		_, path := p.object(sessionRef + "~2")
		os.Remove(path)
	}, "missing", true},
	{"a file has other bytes", func(p *project) {
		_, path := p.object(sessionRef + ":a")
		_, from := p.object(sessionRef + ":dir/b")
		p.swap(from, path)
	}, "object", true},
	{"a checkpoint has other bytes", func(p *project) {
		_, path := p.object(sessionRef)
		_, from := p.object(sessionRef + "~1")
		p.swap(from, path)
	}, "object", true},
	{"a session's ref leads to another session", func(p *project) {
		p.git("update-ref", sessionRef, "refs/cairn/sessions/other")
	}, "link", false},
	{"the checkpoint at which a step begins is left out", func(p *project) {
		before, begin := p.git("rev-parse", sessionRef+"~2"), p.git("rev-parse", sessionRef+"~1")
		p.git("update-ref", sessionRef, p.forge(sessionRef, func(text string) string { return strings.Replace(text, begin, before, 1) }))
	}, "link", false},
	{"a session's time goes back", func(p *project) {
		id := p.forge(sessionRef, func(text string) string { return replaceNumber(text, `,"at":`, "1700000000000000000") })
		p.git("update-ref", sessionRef, id)
	}, "link", false},
	{"an operation names another state", func(p *project) {
		parents := strings.Fields(p.git("rev-list", "-1", "--parents", "refs/cairn/operations"))[1:]
		last := parents[len(parents)-1]
		id := p.forge("refs/cairn/operations", func(text string) string {
			return strings.Replace(text, "parent "+last, "parent "+p.git("rev-parse", sessionRef), 1)
		})
		p.git("update-ref", "refs/cairn/operations", id)
	}, "link", false},
	{"a record is torn", func(p *project) {
		id := p.forge(sessionRef, func(text string) string { return strings.Replace(text, "cairn-line {", "cairn-line ", 1) })
		p.git("update-ref", sessionRef, id)
	}, "record", false},
	{"a commit of git stands in a line", func(p *project) {
		tree, parent := p.git("rev-parse", sessionRef+"^{tree}"), p.git("rev-parse", sessionRef)
		id := p.oracle.Feed(p.repo.StoreDir(), "tree "+tree+"\nparent "+parent+"\nauthor a <a> 1700000000 +0000\ncommitter a <a> 1700000000 +0000\n\nx\n", "hash-object", "-t", "commit", "-w", "--stdin")
		p.git("update-ref", sessionRef, strings.TrimSpace(id))
	}, "checkpoint", false},
	{"a ref is torn", func(p *project) {
		p.git("pack-refs", "--all")
		path := filepath.Join(p.repo.StoreDir(), filepath.FromSlash(sessionRef))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			p.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("torn"), 0o600); err != nil {
			p.Fatal(err)
		}
	}, "ref", true},
}

func replaceNumber(text, key, with string) string {
	i := strings.LastIndex(text, key)
	if i < 0 {
		return text
	}
	rest := strings.TrimLeft(text[i+len(key):], "0123456789")
	return text[:i+len(key)] + with + rest
}

func (p *project) swap(from, to string) {
	p.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.Remove(to)
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		p.Fatal(err)
	}
}

// TestTampering: each change that cairn has not made is a finding. git finds those of objects, and none
// that is only about what the records say.
func TestTampering(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for _, c := range tamperings {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := worked(t)
			p.loosen()
			p.sound(cairn.VerifyOptions{})
			c.do(p)
			p.open()
			r := p.verify(cairn.VerifyOptions{})
			if r.Sound || !slices.Contains(kinds(r.Findings), c.kind) {
				t.Errorf("sound %v, findings %v, want one of kind %s", r.Sound, r.Findings, c.kind)
			}
			for _, n := range r.Findings {
				if n.Text == "" || strings.Contains(n.String(), "%!") {
					t.Errorf("%+v", n)
				}
			}
			if _, err := p.oracle.Try(p.repo.StoreDir(), "fsck", "--strict", "--no-dangling"); (err != nil) != c.fsck {
				t.Errorf("git fsck: %v, want an error: %v", err, c.fsck)
			}
		})
	}
}

// TestSinceLeavesOut: a verification since a time or after a checkpoint does not look at what is older.
func TestSinceLeavesOut(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.track()
	for n := range 4 {
		p.step("s", fmt.Sprint(n), fmt.Sprintf("text %d\n", n))
	}
	p.loosen()
	after := p.git("rev-parse", sessionRef+"~3")
	_, old := p.object(sessionRef + "~6:a")
	if err := os.Remove(old); err != nil {
		t.Fatal(err)
	}
	p.open()
	if r := p.verify(cairn.VerifyOptions{}); r.Sound {
		t.Error("nothing is found in all of the history")
	}
	if r := p.verify(cairn.VerifyOptions{After: after}); !r.Sound || r.Checkpoints != 4 { // 3, and that of the day
		t.Errorf("after %s: %+v", after, r)
	}
	if r := p.verify(cairn.VerifyOptions{Since: gittest.OneDay().Add(time.Hour)}); !r.Sound || r.Checkpoints != 0 || len(r.Lines) != 0 {
		t.Errorf("in an hour: %+v", r)
	}
	if r := p.verify(cairn.VerifyOptions{Since: gittest.OneDay().Add(-time.Hour)}); r.Sound {
		t.Error("nothing is found in the last hour")
	}
	if _, err := p.repo.Verify(t.Context(), cairn.VerifyOptions{After: "none"}); err == nil {
		t.Error("a hash that names nothing is taken")
	}
}
