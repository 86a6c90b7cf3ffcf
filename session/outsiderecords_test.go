package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestOutsideIsNotSaved: special files, secrets, large files, what the setting never names. Their changes
// stay, with the reason.
func TestOutsideIsNotSaved(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	r, err := cairn.Open(cairn.Options{Root: b.root, DataDir: b.data, NoSync: true, MaxOutsideSize: 10, Never: []string{"*.private"}})
	b.must(err)
	defer r.Close()
	b.Sessions = session.New(r)
	b.must(os.MkdirAll(b.at(".ssh"), 0o700))
	for name, content := range map[string]string{"large": strings.Repeat("x", 11), "fits": strings.Repeat("x", 10), "x.private": "1", ".ssh/config": "1", "server.pem": "1", ".env": "1"} {
		b.put(name, content, 0o600)
	}
	want := map[string]string{
		"large": "too large", "x.private": "the setting never", ".ssh/config": "it may hold a secret",
		"server.pem": "it may hold a secret", ".env": "it may hold a secret",
	}
	paths := []string{b.at("fits"), "/dev/null", filepath.Join(b.data, "snapshot"), b.dir, b.at(".git/config")}
	for name := range want {
		paths = append(paths, b.at(name))
	}
	b.step("s", "m1", "1", func() {
		for name := range want {
			b.put(name, "2", 0o600)
		}
		b.put("fits", "2", 0o600)
	}, paths...)
	res := b.back(session.MoveOptions{})
	if !slices.Equal(res.Outside.Restored, []string{b.at("fits")}) || !res.Complete() {
		t.Errorf("%+v", res.Outside)
	}
	got := make(map[string]string)
	for _, p := range res.NotTakenBack {
		if name, in := strings.CutPrefix(string(p.Path), b.dir+"/"); in {
			got[name] = strings.TrimPrefix(p.Reason, session.ReasonOutside+", not saved: ")
		}
	}
	delete(got, ".git/config")
	for name, reason := range want {
		if got[name] != reason {
			t.Errorf("%s: %q, want %q", name, got[name], reason)
		}
	}
}

// TestOutsideOff: with the setting off nothing is saved, and nothing is offered.
func TestOutsideOff(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	r, err := cairn.Open(cairn.Options{Root: b.root, DataDir: b.data, NoSync: true, NoOutside: true})
	b.must(err)
	defer r.Close()
	b.Sessions = session.New(r)
	b.put("f", "old", 0o600)
	b.step("s", "m1", "1", func() { b.put("f", "new", 0o600) }, b.at("f"))
	res := b.back(session.MoveOptions{})
	if res.Outside.Changes() != 0 || len(res.NotTakenBack) != 1 || len(res.Notes) > 0 {
		t.Errorf("%+v", res)
	}
}

// TestOutsideFollowsNoSwappedDirectory: a directory that was replaced by a link after the step leads no write
// elsewhere, and a directory that is gone is not made again.
func TestOutsideFollowsNoSwappedDirectory(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	b.must(errors.Join(os.Mkdir(b.at("d"), 0o755), os.Mkdir(b.at("e"), 0o755), os.Mkdir(b.at("victim"), 0o755)))
	b.put("d/f", "old", 0o600)
	b.put("e/f", "old", 0o600)
	b.put("victim/f", "new", 0o600)
	b.step("s", "m1", "1", func() { b.put("d/f", "new", 0o600); b.must(os.Remove(b.at("e/f"))) }, b.at("d/f"), b.at("e/f"))
	b.must(errors.Join(os.Rename(b.at("d"), b.at("moved")), os.Symlink("victim", b.at("d")), os.Remove(b.at("e"))))
	before := b.look()
	res := b.back(session.MoveOptions{})
	if len(res.Outside.Conflicts) != 2 || res.Outside.Changes() != 0 {
		t.Errorf("%+v", res.Outside)
	}
	b.is(before, "after the way back")
}

// TestOutsideHistory: a step lists what it changed outside, and not what it only named.
func TestOutsideHistory(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	b.put("changed", "old", 0o600)
	b.put("same", "old", 0o600)
	b.put("gone", "old", 0o600)
	b.begin("s", "m1", "1", b.at("changed"), b.at("same"))
	b.must(b.Hint(background, "s", "1", []string{b.at("made"), b.at("gone"), b.at("changed")}))
	b.put("changed", "new", 0o600)
	b.put("made", "new", 0o600)
	b.must(os.Remove(b.at("gone")))
	b.end("s", "1")
	messages, err := b.History(background, "s")
	b.must(err)
	var got []string
	for _, c := range messages[0].Steps[0].Outside {
		got = append(got, c.Change+" "+filepath.Base(string(c.Path)))
	}
	if strings.Join(got, ", ") != "modified changed, deleted gone, added made" {
		t.Errorf("%q", got)
	}
}

// records counts the records of paths outside the root in the store.
func (b *beside) records() int {
	b.Helper()
	out := gittest.NewOracle(b.T).In(b.repo.StoreDir(), "for-each-ref", "refs/cairn/outside/")
	return strings.Count(out, "\n")
}

// TestOutsideLivesWithItsStep: a cleaning keeps what was saved as long as a step or an operation names it.
func TestOutsideLivesWithItsStep(t *testing.T) {
	t.Parallel()
	gittest.NeedGit(t)
	b := newBeside(t)
	b.put("f", "old", 0o600)
	b.step("s", "m1", "1", func() { b.put("f", "new", 0o600) }, b.at("f"))
	b.step("other", "m1", "1", func() { b.put("g", "new", 0o600) }, b.at("g"))
	clean := func() {
		if _, err := b.repo.Clean(background, cairn.CleanOptions{Retention: cairn.Retention{KeepLast: cairn.NoLimit}}); err != nil {
			t.Fatal(err)
		}
	}
	before := b.records()
	if clean(); b.records() != before || before != 4 {
		t.Errorf("%d records, then %d", before, b.records())
	}
	b.must(b.Delete(background, "other"))
	if clean(); b.records() != 2 {
		t.Errorf("%d records after a session was deleted", b.records())
	}
	if res := b.back(session.MoveOptions{}); res.Outside.Changes() != 1 {
		t.Errorf("after a cleaning: %+v", res.Outside)
	}
}

// TestOutsideIsThisMachines: a push sends nothing that was saved outside the root, and where the session is
// fetched nothing of it is offered.
func TestOutsideIsThisMachines(t *testing.T) {
	t.Parallel()
	gittest.NeedGit(t)
	b := newBeside(t)
	b.put("f", "secret of this machine", 0o600)
	b.step("s", "m1", "1", func() { b.put("f", "new", 0o600); b.write("a", "2\n") }, b.at("f"), "a")
	o, remote := gittest.NewOracle(t), t.TempDir()
	o.In(remote, "init", "-q", "--bare")
	_, err := b.repo.Push(background, remote)
	b.must(err)
	if out := o.In(remote, "for-each-ref"); strings.Contains(out, "outside") {
		t.Errorf("pushed %s", out)
	}
	if out := o.In(remote, "cat-file", "--batch-all-objects", "--batch"); strings.Contains(out, "secret of this machine") {
		t.Error("the remote has the contents")
	}
}
