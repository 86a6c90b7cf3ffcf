package session_test

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// sessionModel drives two agents, a user, reverts, forks and operations of the
// repository at random. It checks that
//
//   - going back and forth in a session changes nothing but what its steps changed,
//     and never what only the other agent's tools named or only the user touched
//   - while the other writers are idle, each boundary stands for one state, however it
//     is reached, and unrevert is exact
//   - every byte that was on disk at a step, or that was replaced, can be restored
type sessionModel struct {
	*fixture
	owed     map[string]bool // path, NUL, contents
	changed  map[string]map[string]bool
	steps    int
	messages map[string]int
	quiet    map[string]map[string]gittest.Listing // by session and boundary, since the chain began
}

// modelNames are the files of the model: of agent A, of agent B, of the user, and of
// all three.
var modelNames = []string{"a/1", "a/2", "a", "b/1", "b/2", "u/1", "u/2", "x", "y/z"}

func owner(path string) string {
	switch path[0] {
	case 'a', 'b', 'u':
		return path[:1]
	}
	return ""
}

// disk is what lies below the root: paths and contents.
func (m *sessionModel) disk() map[string]string {
	out := make(map[string]string)
	for path, e := range gittest.Manifest(m.T, m.root) {
		if e.Type == 'f' {
			out[path] = m.read(path)
		}
	}
	return out
}

func (m *sessionModel) oweAll() {
	for path, text := range m.disk() {
		m.owed[path+"\x00"+text] = true
	}
}

// edit changes one of the files of a writer.
func (m *sessionModel) edit(t *rapid.T, who string) string {
	var names []string
	for _, name := range modelNames {
		if o := owner(name); o == who || o == "" {
			names = append(names, name)
		}
	}
	path := rapid.SampledFrom(names).Draw(t, "path")
	if dir := filepath.Dir(m.path(path)); dir != m.root {
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			m.remove(strings.Split(path, "/")[0])
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "delete") == 0 {
		m.remove(path)
		return path
	}
	text := strings.Split(lines(12, nil), "\n")
	if info, err := os.Lstat(m.path(path)); err == nil && !info.IsDir() {
		text = strings.Split(m.read(path), "\n")
	} else {
		m.remove(path)
	}
	text[rapid.IntRange(0, len(text)-1).Draw(t, "line")] = rapid.StringMatching("[a-z]{3}").Draw(t, "text")
	m.write(path, strings.Join(text, "\n"))
	return path
}

// agentID names the session of an agent.
func (m *sessionModel) agentID(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b"}).Draw(t, "session")
}

func (m *sessionModel) begin(t *rapid.T) {
	id := m.agentID(t)
	m.steps++
	if rapid.Bool().Draw(t, "new message") || m.messages[id] == 0 {
		m.messages[id]++
	}
	_, err := m.BeginStep(background, session.StepBegin{
		Session: id, Message: fmt.Sprint("m", m.messages[id]), Step: fmt.Sprint(m.steps), Role: rapid.SampledFrom([]string{"", "user"}).Draw(t, "role"), Paths: []string{id},
	})
	if err != nil {
		t.Fatal(err)
	}
	m.disturb()
	m.oweAll()
}

// work is what an agent does inside a step: named files, and others.
func (m *sessionModel) work(t *rapid.T) {
	id := m.agentID(t)
	s, err := m.Get(background, id)
	if err != nil || s.Open == "" {
		t.Skip("no step is open")
	}
	m.edit(t, id)
	m.disturb()
}

func (m *sessionModel) end(t *rapid.T) {
	id := m.agentID(t)
	_, err := m.EndStep(background, session.StepEnd{Session: id})
	if err != nil && !errors.Is(err, session.ErrNotFound) {
		t.Fatal(err)
	}
	if err == nil {
		m.note(t, id)
		m.oweAll()
	}
}

// note collects what the steps of a session are known to have changed.
func (m *sessionModel) note(t *rapid.T, id string) {
	list, err := m.History(background, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, msg := range list {
		for _, st := range msg.Steps {
			for _, file := range st.Patch.Files {
				m.changed[id][strings.TrimPrefix(file, filepath.ToSlash(m.repo.Root())+"/")] = true
			}
		}
	}
}

// user works while no agent does: what changes inside a step, unnamed, is the step's.
func (m *sessionModel) user(t *rapid.T) {
	list, err := m.List(background)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Open != "" {
			t.Skip("a step is open")
		}
	}
	m.edit(t, "u")
	m.disturb()
}

// disturb records that another writer was at work.
func (m *sessionModel) disturb() { m.quiet = make(map[string]map[string]gittest.Listing) }

// goBack moves the boundary of a session and checks what that did.
func (m *sessionModel) goBack(t *rapid.T, id string, move func(session.MoveOptions) (*session.Session, *cairn.Result, error)) {
	start, err := m.Get(background, id)
	if errors.Is(err, session.ErrNotFound) {
		t.Skip("no such session")
	}
	if err != nil {
		t.Fatal(err)
	}
	m.note(t, id)
	before, full := m.disk(), gittest.Manifest(m.T, m.root)
	policy := rapid.SampledFrom([]cairn.Policy{"", cairn.Merge, cairn.Keep}).Draw(t, "policy")
	opt := session.MoveOptions{OnConflict: policy, EndOpen: rapid.Bool().Draw(t, "end open steps")}
	s, res, err := move(opt)
	if errors.Is(err, session.ErrNotFound) || errors.Is(err, session.ErrBusy) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if start.Open != "" { // it was ended first
		m.note(t, id)
		m.disturb()
	}
	m.checkTouched(t, id, before)
	m.checkBoundary(t, id, start, s, res, full)
	if _, again, err := m.same(id, s, opt); err != nil || again.Operation != "" {
		t.Fatalf("once more: %+v, %v", again, err)
	}
}

// same moves the boundary to where it is.
func (m *sessionModel) same(id string, s *session.Session, opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
	if s.Revert == nil {
		return m.Unrevert(background, id, opt)
	}
	return s, &cairn.Result{}, nil
}

func (m *sessionModel) checkTouched(t *rapid.T, id string, before map[string]string) {
	after := m.disk()
	for path, text := range before {
		if now, ok := after[path]; !ok || now != text {
			m.owed[path+"\x00"+text] = true
		}
	}
	for _, path := range modelNames {
		if before[path] == after[path] {
			continue
		}
		if !m.changed[id][path] {
			t.Fatalf("session %s changed %s, which no step of it did: %v", id, path, m.changed[id])
		}
		if o := owner(path); o != "" && o != id {
			t.Fatalf("session %s changed %s", id, path)
		}
	}
}

// checkBoundary compares the state at a boundary with the one of the last time, unless another
// writer was at work since or a path stayed.
func (m *sessionModel) checkBoundary(t *rapid.T, id string, start, s *session.Session, res *cairn.Result, before gittest.Listing) {
	if !res.Complete() {
		m.disturb()
		return
	}
	name := func(s *session.Session) string {
		if s.Revert == nil {
			return "none"
		}
		return fmt.Sprint(s.Revert.Message, s.Steps)
	}
	if m.quiet[id] == nil {
		m.quiet = map[string]map[string]gittest.Listing{id: {}}
		if start.Revert == nil && start.Open == "" {
			m.quiet[id]["none"] = before
		}
	}
	now := gittest.Manifest(m.T, m.root)
	if was, ok := m.quiet[id][name(s)]; ok {
		if diff := gittest.Diff(was, now); diff != "" {
			t.Fatalf("session %s at %s:\n%s", id, name(s), diff)
		}
	}
	m.quiet[id][name(s)] = now
}

// operation undoes or redoes the last operation of any writer.
func (m *sessionModel) operation(t *rapid.T, do func() (*cairn.Result, error)) {
	before := m.disk()
	if _, err := do(); err != nil && !errors.Is(err, cairn.ErrNotFound) {
		t.Fatal(err)
	}
	after := m.disk()
	for path, text := range before {
		if now, ok := after[path]; !ok || now != text {
			m.owed[path+"\x00"+text] = true
		}
	}
	m.disturb()
}

// settle looks every owed content up.
func (m *sessionModel) settle(t *rapid.T) {
	found := make(map[string]bool)
	note := func(id string) {
		for e, err := range m.repo.List(background, id, "") {
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			found[e.Path+"\x00"+e.ID] = true
		}
	}
	for c, err := range m.repo.Checkpoints(background) {
		if err != nil {
			t.Fatal(err)
		}
		note(c.ID)
	}
	for op, err := range m.repo.Operations(background) {
		if err != nil {
			t.Fatal(err)
		}
		note(op.Before)
		note(op.After)
	}
	for owed := range m.owed {
		path, content, _ := strings.Cut(owed, "\x00")
		id := fmt.Sprintf("%x", sha1.Sum([]byte(fmt.Sprintf("blob %d\x00%s", len(content), content))))
		if !found[path+"\x00"+id] {
			t.Errorf("%q: contents %q are nowhere to be had", path, content)
		}
	}
}

func TestSessionModel(t *testing.T) {
	t.Parallel()
	oracle := gittest.NewOracle(t)
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(t, gittest.Tree{"x": gittest.File(lines(12, nil)), "a/1": gittest.File(lines(12, nil)), "u/1": gittest.File(lines(12, nil))})
		m := &sessionModel{fixture: f, owed: make(map[string]bool), messages: make(map[string]int), changed: map[string]map[string]bool{"a": {}, "b": {}}}
		m.disturb()
		back := func(move func(t *rapid.T, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error)) func(*rapid.T) {
			return func(t *rapid.T) {
				id := m.agentID(t)
				m.goBack(t, id, func(opt session.MoveOptions) (*session.Session, *cairn.Result, error) { return move(t, id, opt) })
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"begin": m.begin, "work": m.work, "work more": m.work, "work still more": m.work, "end": m.end, "end, too": m.end, "user": m.user,
			"revert": back(func(t *rapid.T, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
				n := rapid.IntRange(0, m.messages[id]).Draw(t, "message")
				return m.Revert(background, id, session.Target{Message: fmt.Sprint("m", n), Start: n == 0}, opt)
			}),
			"unrevert": back(func(_ *rapid.T, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
				return m.Unrevert(background, id, opt)
			}),
			"undo step": back(func(_ *rapid.T, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
				return m.UndoTurn(background, id, opt)
			}),
			"redo step": back(func(_ *rapid.T, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
				return m.RedoTurn(background, id, opt)
			}),
			"undo": func(t *rapid.T) {
				m.operation(t, func() (*cairn.Result, error) { return m.repo.Undo(background, cairn.RevertOptions{}) })
			},
			"redo": func(t *rapid.T) {
				m.operation(t, func() (*cairn.Result, error) { return m.repo.Redo(background, cairn.RevertOptions{}) })
			},
			"fork": func(t *rapid.T) {
				_, err := m.Fork(background, m.agentID(t), "", fmt.Sprint("fork", m.steps))
				if err != nil && !errors.Is(err, session.ErrNotFound) && !errors.Is(err, cairn.ErrExists) {
					t.Fatal(err)
				}
			},
			"reopen": func(t *rapid.T) { m.repo.Close(); m.reopen() },
		})
		m.settle(rt)
		oracle.Fsck(f.repo.StoreDir())
		f.repo.Close()
		os.RemoveAll(f.root)
		os.RemoveAll(f.data)
	})
}
