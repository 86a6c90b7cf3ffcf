package session_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
	"pgregory.net/rapid"
)

// TestRootsModel plays random histories twice: in the roots of one session, and in roots that know
// nothing of each other and are moved one by one. Files and sessions are the same after every action.
func TestRootsModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := newRootsModel(t)
		defer m.clean()
		for range rapid.IntRange(3, 9).Draw(rt, "actions") {
			m.act(rt)
			if t.Failed() {
				rt.FailNow()
			}
		}
	})
}

type rootsModel struct {
	one   *roots
	apart *roots // each root has a session of its own
	turns int
	dirs  []string
}

func newRootsModel(t *testing.T) *rootsModel {
	t.Helper()
	m := &rootsModel{}
	bed := func() *roots {
		r := &roots{}
		dir, err := os.MkdirTemp(t.TempDir(), "model")
		if err != nil {
			t.Fatal(err)
		}
		m.dirs = append(m.dirs, dir)
		for i, tree := range twoTrees() {
			f := &fixture{T: t, root: fmt.Sprintf("%s/%c", dir, 'a'+i), data: dir + "/data"}
			if err := os.MkdirAll(f.root, 0o755); err != nil {
				t.Fatal(err)
			}
			gittest.Create(t, f.root, tree)
			f.reopen()
			r.all = append(r.all, f)
		}
		r.fixture = r.all[0]
		return r
	}
	m.one, m.apart = bed(), bed()
	m.one.link(m.one.all[1])
	return m
}

func (m *rootsModel) clean() {
	m.one.close()
	m.apart.close()
	for _, dir := range m.dirs {
		os.RemoveAll(dir)
	}
}

// act does the same in both beds.
func (m *rootsModel) act(rt *rapid.T) {
	from := rapid.IntRange(0, 1).Draw(rt, "from")
	action := rapid.SampledFrom([]string{"turn", "turn", "user", "revert", "unrevert"}).Draw(rt, "action")
	if m.turns == 0 {
		action = "turn"
	}
	switch action {
	case "turn":
		m.turns++
		id := fmt.Sprint("m", m.turns)
		write := m.writes(rt, id)
		m.one.all[from].step("s", id, id, func() { write(m.one) })
		for _, f := range m.apart.all {
			f.begin("s", id, id)
		}
		write(m.apart)
		for _, f := range m.apart.all {
			f.end("s", id)
		}
	case "user":
		write := m.writes(rt, "user")
		write(m.one)
		write(m.apart)
	case "revert":
		to := session.Target{Message: fmt.Sprint("m", rapid.IntRange(1, m.turns).Draw(rt, "to"))}
		m.move(rt, from, func(f *fixture) (*session.Session, *cairn.Result, error) {
			return f.Revert(background, "s", to, session.MoveOptions{})
		})
	case "unrevert":
		m.move(rt, from, func(f *fixture) (*session.Session, *cairn.Result, error) {
			return f.Unrevert(background, "s", session.MoveOptions{})
		})
	}
	m.compare(rt, action)
}

// move moves both beds, or neither: a turn that left the session is in no root.
func (m *rootsModel) move(rt *rapid.T, from int, do func(*fixture) (*session.Session, *cairn.Result, error)) {
	_, res, err := do(m.one.all[from])
	for i, f := range m.apart.all {
		_, alone, other := do(f)
		if (err == nil) != (other == nil) {
			rt.Fatalf("%v, and alone %v", err, other)
		}
		if err != nil {
			continue
		}
		together := res
		if i != from {
			together = &cairn.Result{}
			for _, o := range res.Elsewhere {
				together = o.Result()
			}
		}
		if got, want := outcome(together), outcome(alone); got != want {
			rt.Fatalf("%s: %s, and alone %s", f.root, got, want)
		}
	}
}

func outcome(res *cairn.Result) string {
	return fmt.Sprint(res.Restored, res.Deleted, res.Kept, res.Conflicts)
}

// writes draws changes of some files in the roots, for both beds.
func (m *rootsModel) writes(rt *rapid.T, content string) func(*roots) {
	type change struct {
		root int
		name string
		gone bool
	}
	var list []change
	for range rapid.IntRange(0, 3).Draw(rt, "changes") {
		list = append(list, change{
			rapid.IntRange(0, 1).Draw(rt, "root"), rapid.SampledFrom([]string{"file", "gone", "d/made"}).Draw(rt, "name"), rapid.IntRange(0, 3).Draw(rt, "gone") == 0,
		})
	}
	return func(r *roots) {
		for i, c := range list {
			if f := r.all[c.root]; c.gone {
				f.remove(c.name)
			} else {
				f.write(c.name, fmt.Sprintln(content, i))
			}
		}
	}
}

func (m *rootsModel) compare(rt *rapid.T, after string) {
	if got, want := m.one.manifest(), m.apart.manifest(); got != want {
		rt.Fatalf("after %s:\n%s\nand apart:\n%s", after, got, want)
	}
	for i, f := range m.one.all {
		if got, want := f.tell(), m.apart.all[i].tell(); got != want {
			rt.Fatalf("after %s, the session in root %d has %s, and apart %s", after, i, got, want)
		}
	}
}
