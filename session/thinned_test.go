package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// thinToday lets every line keep the newest state of the day.
var thinToday = cairn.CleanOptions{Thorough: true, Retention: cairn.Retention{
	KeepLast: cairn.NoLimit, MaxBytes: cairn.NoLimit, Keep: cairn.KeepRules{All: 1, Daily: 90 * 24 * time.Hour},
}}

// thin thins the store, checks it, and returns how many states went.
func (f *fixture) thin() int {
	f.Helper()
	done, err := f.repo.Clean(background, thinToday)
	if err != nil || done.Blocked != nil || done.Incomplete {
		f.Fatal(done, err)
	}
	f.whole()
	return done.Thinned
}

// whole asks git, doctor and verify.
func (f *fixture) whole() {
	f.Helper()
	gittest.NewOracle(f).Fsck(f.repo.StoreDir())
	faults, err := f.repo.Check(background, cairn.CheckOptions{})
	if err != nil || len(faults) > 0 {
		f.Errorf("doctor says %+v, %v", faults, err)
	}
	report, err := f.repo.Verify(background, cairn.VerifyOptions{})
	if err != nil || !report.Sound {
		f.Errorf("verify says %+v, %v", report, err)
	}
}

// worked is a fixture with turns of a session on one day, each of which writes a file.
func worked(t *testing.T, turns int) *fixture {
	t.Helper()
	f := newFixture(t, gittest.Tree{"a": gittest.File("0\n"), "key": gittest.File("secret\n"), "dir/b": gittest.File("b\n")})
	f.oneDay = true
	f.reopen()
	for i := range turns {
		f.turn("s", fmt.Sprint("m", i+1), fmt.Sprint("write ", i+1), "a", fmt.Sprint(i+1, "\n"))
	}
	return f
}

// A thinned session is listed and shown, its end is there, and it goes on. What needs a state that is gone
// says so.
func TestThinnedSession(t *testing.T) {
	t.Parallel()
	f := worked(t, 6)
	before, err := f.History(background, "s")
	if err != nil {
		t.Fatal(err)
	}
	if n := f.thin(); n < 10 {
		t.Errorf("%d states went", n)
	}
	f.reopen()
	after, err := f.History(background, "s")
	if err != nil || len(after) != len(before) {
		t.Fatalf("%d turns, %v, want %d", len(after), err, len(before))
	}
	for i := range after {
		if after[i].Prompt != before[i].Prompt || after[i].Steps[0].Before.ID != before[i].Steps[0].Before.ID {
			t.Errorf("turn %d: %+v, want %+v", i, after[i], before[i])
		}
	}
	if s := f.get("s"); s.Messages != 6 || s.Steps != 6 {
		t.Errorf("%+v", s)
	}
	gone := before[1].Steps[0].After.ID
	for what, try := range map[string]func() error{
		"restore": func() error { _, err := f.repo.Restore(background, gone, cairn.RestoreOptions{}); return err },
		"diff":    func() error { return f.repo.Diff(background, &bytes.Buffer{}, gone, "@", cairn.DiffOptions{}) },
		"pin":     func() error { return f.repo.Pin(background, gone, "p") },
		"export":  func() error { return f.repo.Export(background, &bytes.Buffer{}, gone) },
		"checkout": func() error {
			_, err := f.repo.Checkout(background, gone, filepath.Join(t.TempDir(), "c"), cairn.CheckoutOptions{})
			return err
		},
		"revert": func() error {
			_, _, err := f.Revert(background, "s", session.Target{Message: "m3"}, session.MoveOptions{})
			return err
		},
	} {
		var why *cairn.ThinnedError
		if err := try(); !errors.Is(err, cairn.ErrThinned) || !errors.As(err, &why) || why.Nearest == "" || !strings.Contains(err.Error(), "thinned on ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	f.is("a", "6\n")
	f.turn("s", "m7", "write 7", "a", "7\n")
	if _, res := f.revert("s", session.Target{Message: "m7"}); !res.Complete() {
		t.Errorf("%+v", res)
	}
	f.is("a", "6\n")
	if _, err := f.repo.Undo(background, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	f.is("a", "7\n")
	f.thin()
	if _, err := f.repo.Redo(background, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	f.is("a", "6\n")
	f.whole()
}

// A purge goes through thinned checkpoints: what came before them is rewritten as well, and nothing of the
// path is left.
func TestThinnedPurge(t *testing.T) {
	t.Parallel()
	f := worked(t, 3)
	if err := f.repo.Pin(background, "@", "middle"); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		f.turn("s", fmt.Sprint("n", i), "more", "a", fmt.Sprint("more ", i, "\n"))
	}
	steps, err := f.History(background, "s")
	if err != nil {
		t.Fatal(err)
	}
	f.thin()
	count := func() (n int) {
		for _, err := range f.repo.Log(background, cairn.LogOptions{}) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	was := count()
	f.remove("key")
	if _, err := f.repo.Purge(background, []string{"key"}); err != nil {
		t.Fatal(err)
	}
	f.whole()
	if now := count(); now != was {
		t.Errorf("%d checkpoints became %d", was, now)
	}
	ids := gittest.NewOracle(t).In(f.repo.StoreDir(), "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
	if secret := blobOf(t, "secret\n"); strings.Contains(ids, secret) {
		t.Error("the contents are still there")
	}
	if _, err := f.repo.Restore(background, "middle", cairn.RestoreOptions{}); err != nil {
		t.Error(err)
	}
	f.is("a", "3\n")
	if _, err := f.repo.Lookup(background, steps[1].Steps[0].After.ID); !errors.Is(err, cairn.ErrThinned) {
		t.Errorf("a thinned checkpoint by its old id: %v", err)
	}
	f.thin()
	if now := count(); now < 2 {
		t.Errorf("%d checkpoints are left", now)
	}
}

// What a remote has it keeps. A thinned line that it has goes on there, and another machine gets the whole
// line. A remote that never had the beginning is told apart.
func TestThinnedPush(t *testing.T) {
	t.Parallel()
	remote, late := remoteOf(t), remoteOf(t)
	f := worked(t, 4)
	g := f.machine(gittest.Tree{})
	f.sent(remote)
	f.thin()
	f.turn("s", "m5", "write 5", "a", "5\n")
	f.sent(remote)
	g.got(remote)
	steps, err := g.History(background, "s")
	if err != nil || len(steps) != 5 {
		t.Fatalf("%d turns, %v", len(steps), err)
	}
	if _, err := g.repo.Restore(background, steps[1].Steps[0].After.ID, cairn.RestoreOptions{}); err != nil {
		t.Errorf("the other machine has the whole line: %v", err)
	}
	g.is("a", "2\n")
	f.got(remote)
	f.whole()
	if _, err := f.repo.Push(background, late); err != nil && !strings.Contains(err.Error(), "shallow") {
		t.Errorf("push to an empty remote: %v", err)
	}
	gittest.NewOracle(t).Fsck(late)
	gittest.NewOracle(t).In(late, "config", "receive.shallowUpdate", "true")
	f.sent(late)
	gittest.NewOracle(t).Fsck(late)
}

// A fork takes the list along, and both go on alone.
func TestThinnedFork(t *testing.T) {
	t.Parallel()
	f := worked(t, 4)
	f.thin()
	dir := filepath.Join(t.TempDir(), "fork")
	if _, err := f.repo.Fork(background, dir, cairn.ForkOptions{}); err != nil {
		t.Fatal(err)
	}
	r, err := cairn.Open(cairn.Options{Root: dir, DataDir: f.data, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	access.SetClock(r, gittest.OneDay)
	g := &fixture{T: t, root: dir, data: f.data, repo: r, Sessions: session.New(r)}
	g.turn("s", "m5", "write 5", "a", "5\n")
	if list, err := g.History(background, "s"); err != nil || len(list) != 5 {
		t.Errorf("%d turns, %v", len(list), err)
	}
	g.thin()
	f.turn("s", "m6", "write 6", "a", "6\n")
	f.thin()
	g.whole()
}

// blobOf returns the id that git gives to contents.
func blobOf(t *testing.T, content string) string {
	t.Helper()
	return strings.TrimSpace(gittest.NewOracle(t).Feed(t.TempDir(), content, "hash-object", "--stdin"))
}

// A step that is open for days can be ended, and a revert can be taken back, whatever was thinned.
func TestThinnedBesideWork(t *testing.T) {
	t.Parallel()
	f := worked(t, 3)
	f.begin("s", "m4", "open")
	f.write("a", "4\n")
	for i := range 3 {
		if _, err := f.AddMessage(background, session.MessageBegin{Session: "s", Message: fmt.Sprint("said", i), Role: session.RoleUser, Prompt: "more"}); err != nil {
			t.Fatal(err)
		}
	}
	f.thin()
	f.reopen()
	if st := f.end("s", "open"); len(st.Patch.Files) != 1 {
		t.Errorf("%+v", st.Patch)
	}
	f.turn("s", "m5", "write 5", "a", "5\n")
	f.revert("s", session.Target{Message: "m5"})
	f.is("a", "4\n")
	f.thin()
	f.reopen()
	if _, res := f.unrevert("s"); !res.Complete() {
		t.Errorf("%+v", res)
	}
	f.is("a", "5\n")
	f.whole()
}

// A fork of a session shares its thinned part. It begins at a kept state, and not at a thinned one.
func TestThinnedSessionFork(t *testing.T) {
	t.Parallel()
	f := worked(t, 3)
	if _, err := f.Fork(background, "s", "", "early"); err != nil {
		t.Fatal(err)
	}
	f.turn("s", "m4", "write 4", "a", "4\n")
	f.turn("s", "m5", "write 5", "a", "5\n")
	f.thin()
	if _, err := f.Fork(background, "s", "m3", "gone"); !errors.Is(err, cairn.ErrThinned) && !errors.Is(err, session.ErrExpired) {
		t.Errorf("a fork of a thinned state: %v", err)
	}
	if _, err := f.Fork(background, "s", "", "late"); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]int{"s": 5, "early": 3, "late": 5} {
		if list, err := f.History(background, id); err != nil || len(list) != want {
			t.Errorf("%s: %d turns, %v, want %d", id, len(list), err, want)
		}
	}
	f.turn("late", "m6", "write 6", "a", "6\n")
	f.thin()
	if err := f.Delete(background, "s"); err != nil {
		t.Fatal(err)
	}
	f.thin()
	for id, want := range map[string]int{"early": 3, "late": 6} {
		if list, err := f.History(background, id); err != nil || len(list) != want {
			t.Errorf("%s: %d turns, %v, want %d", id, len(list), err, want)
		}
	}
}

// A purge after the thinned session was deleted drops the list.
func TestThinnedPurgeOfADeletedSession(t *testing.T) {
	t.Parallel()
	f := worked(t, 3)
	f.thin()
	if err := f.Delete(background, "s"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.repo.Track(background, cairn.TrackOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.repo.Purge(background, []string{"key"}); err != nil {
		t.Fatal(err)
	}
	f.whole()
	if refs := gittest.NewOracle(t).In(f.repo.StoreDir(), "for-each-ref", "refs/cairn/thinned"); refs != "" {
		t.Errorf("the list is still there: %s", refs)
	}
}
