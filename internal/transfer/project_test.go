package transfer

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// cloneOf is a machine with a clone of a repository at a path of its own. Every second one lies on
// another file system, if there is one.
func cloneOf(t *testing.T, o *gittest.Oracle, source, user string) *machine {
	t.Helper()
	dir := filepath.Join(t.TempDir(), user, "project")
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	o.In(filepath.Dir(dir), "clone", "-q", source, dir)
	m := machineOf(t, statetest.NewStoreOf(t, dir))
	m.Opt.Machine, m.Opt.User = "host-of-"+user, user
	m.Repository = func() *git.Repo {
		repo, err := git.Find(dir)
		if err != nil {
			t.Fatal(err)
		}
		return repo
	}
	return m
}

func sourceRepository(t *testing.T, o *gittest.Oracle) string {
	t.Helper()
	dir := o.Init(filepath.Join(t.TempDir(), "source"))
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o.Commit(dir, "one")
	return dir
}

// session adds a checkpoint to the line of a session, with the digest that package session writes.
func (m *machine) session(id, title string, at int64, files map[string]string) *history.Checkpoint {
	m.Helper()
	now := map[string]any{"id": id, "first": title, "at": at, "messages": 1, "steps": 2, "meta": map[string]string{"agent": "robot"}}
	record, err := json.Marshal(map[string]any{"v": 1, "now": now})
	if err != nil {
		m.Fatal(err)
	}
	return statetest.AppendLine(m, m.Store, history.LineRef(id), statetest.NewState(m, m.Store, files), record)
}

// What one clone pushed is found in another one at another path, by another user.
func TestFetchAtAnotherPath(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	source, remote := sourceRepository(t, o), bareRepository(t, o)
	ada, bob := cloneOf(t, o, source, "ada"), cloneOf(t, o, source, "bob")
	c := ada.track(map[string]string{"a": "1\n"})
	s := ada.session("s-1", "Fix the login", 5, map[string]string{"a": "2\n"})
	ada.push(remote)
	bob.fetch(remote)
	for _, id := range []string{c.ID, s.ID} {
		if _, err := bob.Lookup(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	machines, err := bob.Machines()
	store, _ := ada.DB.Identity(false)
	if want := (history.Machine{Machine: "host-of-ada", User: "ada", Root: state.Path(ada.Root)}); err != nil || machines[store] != want {
		t.Errorf("machines %v, %v, want %v for %s", machines, err, want, store)
	}
	if pushed := ada.push(remote); len(pushed) > 0 {
		t.Errorf("pushed again %q", pushed)
	}
	o.In(remote, "fsck", "--strict")
}

// A fork of the repository is the same project, another repository is not.
func TestFetchFork(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	source, remote := sourceRepository(t, o), bareRepository(t, o)
	ada, fork := cloneOf(t, o, source, "ada"), cloneOf(t, o, source, "fork")
	if err := os.WriteFile(filepath.Join(fork.Root, "file"), []byte("fork\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o.Commit(fork.Root, "fork")
	ada.track(map[string]string{"a": "1\n"})
	ada.push(remote)
	fork.fetch(remote)
	other := sourceRepository(t, o)
	if err := os.WriteFile(filepath.Join(other, "file"), []byte("other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o.In(other, "add", "-A")
	o.In(other, "commit", "-q", "--amend", "-m", "another beginning")
	stranger := cloneOf(t, o, other, "stranger")
	before := stranger.listing()
	_, err := stranger.Fetch(t.Context(), remote)
	wantError(t, err, state.ErrNotFound)
	stranger.same(before, "another project")
	list, err := stranger.ListRemote(t.Context(), remote, false)
	if err != nil || len(list) != 1 || list[0].Here || list[0].Stores[0].User != "ada" {
		t.Errorf("list %+v, %v", list, err)
	}
}

// An id outweighs the repository, on both sides.
func TestProjectID(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	remote := bareRepository(t, o)
	f, g := newMachine(t), newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	for _, m := range []*machine{f, g} {
		if err := m.SetProjectID(t.Context(), "shop"); err != nil {
			t.Fatal(err)
		}
	}
	f.push(remote)
	if refs := refsOf(o, remote); !strings.Contains(refs, "refs/cairn/id-shop/") {
		t.Errorf("refs on the remote:\n%s", refs)
	}
	g.fetch(remote)
	if err := g.SetProjectID(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	_, err := g.Fetch(t.Context(), remote)
	wantError(t, err, state.ErrNotFound)
	wantError(t, g.SetProjectID(t.Context(), "No good"), history.ErrName)
}

// Refs that earlier releases pushed, under the path and without a note, are fetched; what the same
// store pushed since counts more.
func TestFetchOldRefs(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	source, remote := sourceRepository(t, o), bareRepository(t, o)
	f := cloneOf(t, o, source, "ada")
	first := f.track(map[string]string{"a": "1\n"})
	old := "refs/cairn/" + state.ProjectID(f.Root) + "/0123456789abcdef/"
	o.In(f.DB.Dir(), "push", "-q", remote, first.ID+":"+old+"tracks/day", first.ID+":"+old+"sessions/s-9")
	g := f.other()
	g.Repository = f.Repository
	g.fetch(remote)
	if _, err := g.Lookup(t.Context(), first.ID); err != nil {
		t.Error(err)
	}
	list, err := g.ListRemote(t.Context(), remote, false)
	if err != nil || len(list) != 1 || !list[0].Here || len(list[0].Stores) != 1 || list[0].Stores[0].Sessions[0].ID != "s-9" {
		t.Errorf("list %+v, %v", list, err)
	}
	second := f.track(map[string]string{"a": "2\n"})
	p, _, err := f.Project(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o.In(f.DB.Dir(), "push", "-q", remote, second.ID+":refs/cairn/"+p.Key(f.Root)+"/0123456789abcdef/tracks/day")
	for range 3 {
		g.fetch(remote)
		if id, err := g.DB.Ref(history.RefRemotes + "0123456789abcdef/tracks/day"); err != nil || id.String() != second.ID {
			t.Errorf("the line is at %s, %v, want %s", id, err, second.ID)
		}
	}
}

// A list has projects, machines, users, and sessions with prompt and time, newest first.
func TestListRemote(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	source, remote := sourceRepository(t, o), bareRepository(t, o)
	ada, bob := cloneOf(t, o, source, "ada"), cloneOf(t, o, source, "bob")
	if list, err := bob.ListRemote(t.Context(), remote, false); err != nil || len(list) != 0 {
		t.Errorf("an empty remote has %+v, %v", list, err)
	}
	ada.session("s-1", "Fix the login", 5, map[string]string{"a": "1\n"})
	ada.session("s-2", "Paint it", 9e9, map[string]string{"a": "2\n"})
	ada.push(remote)
	bob.session("b", "Mine", 7, map[string]string{"a": "3\n"})
	bob.push(remote)
	elsewhere := newMachine(t)
	elsewhere.track(map[string]string{"x": "1\n"})
	elsewhere.push(remote)
	list, err := bob.ListRemote(t.Context(), remote, false)
	if err != nil || len(list) != 1 || !list[0].Here || len(list[0].Stores) != 2 {
		t.Fatalf("list %+v, %v", list, err)
	}
	for _, s := range list[0].Stores {
		var got []string
		for _, x := range s.Sessions {
			got = append(got, x.ID+" "+x.Title+" "+x.Agent)
		}
		want := map[string][]string{"ada": {"s-2 Paint it robot", "s-1 Fix the login robot"}, "bob": {"b Mine robot"}}[s.User]
		if !slices.Equal(got, want) || s.Machine != "host-of-"+s.User || s.Own != (s.User == "bob") || s.Sessions[0].Steps != 2 || s.Sessions[0].Updated.IsZero() {
			t.Errorf("store %+v, want sessions %q", s, want)
		}
	}
	if list, err := bob.ListRemote(t.Context(), remote, true); err != nil || len(list) != 2 || !list[0].Here || list[1].Here {
		t.Errorf("all: %+v, %v", list, err)
	}
	bob.Opt.NoPrompts = true
	bob.push(remote)
	list, err = ada.ListRemote(t.Context(), remote, false)
	for _, s := range list[0].Stores {
		if err != nil || s.User == "bob" && s.Sessions[0].Title != "" {
			t.Errorf("without prompts: %+v, %v", s, err)
		}
	}
}

// One session comes alone.
func TestFetchSession(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	source, remote := sourceRepository(t, o), bareRepository(t, o)
	ada, bob := cloneOf(t, o, source, "ada"), cloneOf(t, o, source, "bob")
	day := ada.track(map[string]string{"day": "1\n"})
	first := ada.session("s-1", "One", 5, map[string]string{"a": "1\n"})
	second := ada.session("s-2", "Two", 9, map[string]string{"a": "2\n"})
	ada.push(remote)
	for _, test := range []struct {
		spec string
		want error
	}{{"s-", state.ErrAmbiguous}, {"x", state.ErrNotFound}, {"s-11", state.ErrNotFound}} {
		_, _, err := bob.FetchSession(t.Context(), remote, test.spec)
		wantError(t, err, test.want)
	}
	id, fetched, err := bob.FetchSession(t.Context(), remote, "@")
	if err != nil || id != "s-2" || len(fetched) != 1 || !strings.HasSuffix(fetched[0], "/sessions/s-2") {
		t.Errorf("fetched %q, %q, %v", id, fetched, err)
	}
	for _, c := range []*history.Checkpoint{day, first} {
		if _, err := bob.Lookup(t.Context(), c.ID); err == nil {
			t.Errorf("%s came, too", c.ID)
		}
	}
	if _, err := bob.Lookup(t.Context(), second.ID); err != nil {
		t.Error(err)
	}
	if where, err := bob.Source(); where != remote || err != nil {
		t.Errorf("remembers %q, %v", where, err)
	}
	if where, err := bob.Remote(); where != "" || err != nil {
		t.Errorf("would push to %q, %v", where, err)
	}
	if id, _, err := bob.FetchSession(t.Context(), "", "s-1"); err != nil || id != "s-1" {
		t.Errorf("fetched %q, %v", id, err)
	}
}

// The store of a directory that was moved, which adopt refuses to take over, is a remote.
func TestFetchStore(t *testing.T) {
	t.Parallel()
	gittest.NeedGit(t)
	f, g := newMachine(t), newMachine(t)
	c := f.track(map[string]string{"a": "1\n"})
	s := f.session("s-1", "One", 5, map[string]string{"a": "2\n"})
	g.fetch(f.DB.Dir())
	for _, id := range []string{c.ID, s.ID} {
		if _, err := g.Lookup(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	_, err := g.Fetch(t.Context(), g.DB.Dir())
	wantError(t, err, state.ErrRoot)
}

// Notes that no cairn wrote are left out, and the lines come.
func TestHostileNotes(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	o := gittest.NewOracle(t)
	remote := bareRepository(t, o)
	f := newMachine(t)
	c := f.track(map[string]string{"a": "1\n"})
	f.push(remote)
	key := state.ProjectID(f.Root)
	for i, text := range []string{"", "{", `{"v":2}`, `{"v":1,"sessions":"x"}`, strings.Repeat("x", maxAbout+1)} {
		id := strings.TrimSpace(o.Feed(remote, text, "hash-object", "-w", "--stdin"))
		o.In(remote, "update-ref", "refs/cairn/about/"+key+"/000000000000000"+string(rune('0'+i)), id)
	}
	o.In(remote, "update-ref", "refs/cairn/about/"+key+"/no-store", c.ID)
	o.In(remote, "update-ref", "refs/cairn/about/"+key+"/00000000000000aa", c.ID)
	g := f.other()
	g.fetch(remote)
	list, err := g.ListRemote(t.Context(), remote, true)
	if err != nil || len(list) != 1 || len(list[0].Stores) != 1 {
		t.Errorf("list %+v, %v", list, err)
	}
}

// A second fetch finds the notes of the first one in the store, and says nothing of them.
func TestNotesThatAreHereAlready(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	remote := bareRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.push(remote)
	g := f.other()
	g.fetch(remote)
	var log bytes.Buffer
	g.Store.Log = slog.New(slog.NewTextHandler(&log, nil))
	g.fetch(remote)
	if log.Len() > 0 {
		t.Errorf("the second fetch logs %s", &log)
	}
}

// TestSealedNoteBesideOpenLines: a sealed note that came with open lines is in the store, where a later fetch finds it.
func TestSealedNoteBesideOpenLines(t *testing.T) {
	t.Parallel()
	_, k, remote, sealing := sealedMachine(t)
	want := sealing.pushes(remote, "1\n")
	open := sealing.other()
	open.pushes(remote, "2\n")
	g := sealing.other().sealsFor(k)
	for range 2 {
		g.fetch(remote)
		g.has(sealing, want)
	}
}

// TestCleanRemoteOfFormerKeys: lines that were pushed before the project got an id lie under another key, and go as well,
// with the note about them. So does all of another machine.
func TestCleanRemoteOfFormerKeys(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.session("stays", "One", 5, map[string]string{"a": "0\n"})
	f.pin("@", "stays")
	f.session("gone", "Secret plan", 6, map[string]string{"a": "1\n"})
	f.push(dir)
	keyed := func(id string) {
		t.Helper()
		if err := f.SetProjectID(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	keyed("shop")
	f.push(dir)
	drop := func(name string) {
		t.Helper()
		if err := f.DB.DeleteRef(history.RefRoot + name); err != nil {
			t.Fatal(err)
		}
	}
	drop("sessions/gone")
	if dropped := f.cleanRemote(dir, false); !slices.Equal(dropped, []string{"sessions/gone", "sessions/gone"}) {
		t.Errorf("dropped %q", dropped)
	}
	for _, ref := range strings.Fields(o.In(dir, "for-each-ref", "--format=%(refname)", refAbout)) {
		if note := o.In(dir, "cat-file", "blob", ref); strings.Contains(note, "Secret plan") {
			t.Errorf("%s names the session: %s", ref, note)
		}
	}
	keyed("store")
	drop("sessions/stays")
	drop("pins/stays")
	if dropped := f.cleanRemote(dir, false); len(dropped) != 4 || strings.Contains(refsOf(o, dir), "/"+f.store()) {
		t.Errorf("dropped %q, left\n%s", dropped, refsOf(o, dir))
	}
	f.session("more", "Two", 7, map[string]string{"a": "2\n"})
	f.push(dir)
	keyed("shop")
	f.push(dir)
	g := f.other()
	if err := g.SetProjectID(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.CleanRemoteMachine(t.Context(), dir, f.store(), false); err != nil || refsOf(o, dir) != "" {
		t.Errorf("%v, left\n%s", err, refsOf(o, dir))
	}
}
