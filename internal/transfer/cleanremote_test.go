package transfer

import (
	"bytes"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

func (m *machine) cleanRemote(where string, dryRun bool) []string {
	m.Helper()
	dropped, err := m.CleanRemote(m.Context(), where, dryRun)
	if err != nil {
		m.Fatalf("clean: %v", err)
	}
	slices.Sort(dropped)
	return dropped
}

// What this store has dropped goes from the remote, once, and a push does not bring it back. The lines
// of another machine stay.
func TestCleanRemote(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	if dropped := f.cleanRemote(dir, false); dropped != nil {
		t.Errorf("dropped %q before any push", dropped)
	}
	c := f.track(map[string]string{"a": "1\n"})
	f.pin("@", "p")
	f.pin("@", "stays")
	if err := f.DB.SetRef(history.RefSessions+"old", history.IDOf(c)); err != nil {
		t.Fatal(err)
	}
	f.push(dir)
	g := f.other()
	g.track(map[string]string{"b": "1\n"})
	g.pin("@", "p")
	g.push(dir)
	if dropped := f.cleanRemote("", false); dropped != nil {
		t.Errorf("dropped %q though all is here", dropped)
	}
	if err := f.Unpin(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	if err := f.DB.SetRef(history.RefSessions+"old", history.IDOf(c)); err != nil {
		t.Fatal(err)
	}
	before := refsOf(o, dir)
	if would := f.cleanRemote("", true); !slices.Equal(would, []string{"pins/p"}) || refsOf(o, dir) != before {
		t.Errorf("would drop %q", would)
	}
	if dropped := f.cleanRemote("", false); !slices.Equal(dropped, []string{"pins/p"}) {
		t.Errorf("dropped %q", dropped)
	}
	own, err := f.DB.Identity(false)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(refsOf(o, dir), "\n"); got != strings.Count(before, "\n")-1 || strings.Contains(refsOf(o, dir), own+"/pins/p ") {
		t.Errorf("%d refs are left:\n%s", got, refsOf(o, dir))
	}
	if pushed := f.push(""); pushed != nil {
		t.Errorf("a push brings back %q", pushed)
	}
	if dropped := f.cleanRemote("", false); dropped != nil {
		t.Errorf("dropped %q again", dropped)
	}
	o.In(dir, "fsck", "--strict")
}

// A line that was begun again has two names on the remote, which go together, and not before the line.
func TestCleanRemoteSecondNames(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.push(dir)
	f.removeLines()
	f.track(map[string]string{"a": "2\n"})
	f.push(dir)
	if dropped := f.cleanRemote(dir, false); dropped != nil {
		t.Errorf("dropped %q", dropped)
	}
	f.removeLines()
	if dropped := f.cleanRemote(dir, false); len(dropped) != 2 {
		t.Errorf("dropped %q", dropped)
	}
	for name, want := range map[string]string{
		"tracks/2026-01-02": "tracks/2026-01-02", "sessions/x-0123456789ab": "sessions/x", "sessions/x-0123456789aB": "sessions/x-0123456789aB",
		"-0123456789ab": "-0123456789ab", "x": "x", "": "",
	} {
		if got := history.FirstName(name); got != want {
			t.Errorf("the first name of %q is %q, want %q", name, got, want)
		}
	}
}

// While a purge has not ended, the store still has the states that it replaced. So nothing can tell which lines go.
func TestCleanRemoteWithinAPurge(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.pin("@", "p")
	f.push(dir)
	if err := errors.Join(f.Unpin(t.Context(), "p"), f.DB.WritePrivate(odb.PrivatePurging, []byte("unfinished\n"))); err != nil {
		t.Fatal(err)
	}
	before := refsOf(o, dir)
	if dropped, err := f.CleanRemote(t.Context(), dir, false); err == nil || !strings.Contains(err.Error(), "purge") || dropped != nil || refsOf(o, dir) != before {
		t.Errorf("dropped %q, %v", dropped, err)
	}
	if err := f.DB.WritePrivate(odb.PrivatePurging, nil); err != nil {
		t.Fatal(err)
	}
	if dropped := f.cleanRemote(dir, false); !slices.Equal(dropped, []string{"pins/p"}) {
		t.Errorf("dropped %q", dropped)
	}
}

// A ref that has moved since it was listed stays.
func TestCleanRemoteMoved(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.push(dir)
	m, err := f.open(dir)
	if err != nil {
		t.Fatal(err)
	}
	before := refsOf(o, dir)
	_, to, _ := strings.Cut(before, "refs/cairn/")
	name, _, _ := strings.Cut("refs/cairn/"+to, " ")
	dropped, err := m.drop(t.Context(), f.DB.Dir(), []thereRef{{"x", name, strings.Repeat("1", 40)}})
	if err == nil || dropped != nil || refsOf(o, dir) != before {
		t.Errorf("dropped %q, %v", dropped, err)
	}
	if _, err := f.CleanRemote(t.Context(), filepath.Join(t.TempDir(), "absent"), false); err == nil {
		t.Error("cleaned an absent repository")
	}
}

// TestCleanRemoteNote: the note beside the lines does not name a session that was dropped.
func TestCleanRemoteNote(t *testing.T) {
	t.Parallel()
	dir := bareRepository(t, gittest.NewOracle(t))
	f := newMachine(t)
	f.session("s", "Secret plan", 5, map[string]string{"a": "1\n"})
	f.session("stays", "Two", 6, map[string]string{"a": "2\n"})
	f.push(dir)
	if err := f.DB.DeleteRef(history.LineRef("s")); err != nil {
		t.Fatal(err)
	}
	if dropped := f.cleanRemote("", true); !slices.Equal(dropped, []string{"sessions/s"}) {
		t.Errorf("would drop %q", dropped)
	}
	if dropped := f.cleanRemote("", false); !slices.Equal(dropped, []string{"sessions/s"}) {
		t.Errorf("dropped %q", dropped)
	}
	list, err := f.other().ListRemote(t.Context(), dir, false)
	if err != nil || len(list) != 1 || len(list[0].Stores) != 1 || len(list[0].Stores[0].Sessions) != 1 || list[0].Stores[0].Sessions[0].ID != "stays" {
		t.Errorf("list %+v, %v", list, err)
	}
}

// TestFetchOfWhatWasPurged: lines come as they are. What they hold of a purged path is said, once.
func TestFetchOfWhatWasPurged(t *testing.T) {
	t.Parallel()
	remote := bareRepository(t, gittest.NewOracle(t))
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n", "key": "secret\n"})
	f.track(map[string]string{"a": "2\n"})
	f.push(remote)
	g := f.other()
	if err := g.DB.WritePrivate(odb.PrivatePurged, []byte(`["/etc/a","key","none"]`)); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	g.Store.Log = slog.New(slog.NewTextHandler(&log, nil))
	g.fetch(remote)
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "paths=key count=1") {
		t.Errorf("the fetch logs %s", text)
	}
	log.Reset()
	g.fetch(remote)
	f.track(map[string]string{"a": "3\n"})
	f.push(remote)
	g.fetch(remote)
	if log.Len() > 0 {
		t.Errorf("later fetches log %s", &log)
	}
}
