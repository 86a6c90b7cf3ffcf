package transfer

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

func (m *machine) push(where string) []string {
	m.Helper()
	pushed, err := m.Push(m.Context(), where)
	if err != nil {
		m.Fatalf("push: %v", err)
	}
	slices.Sort(pushed)
	return pushed
}

func (m *machine) fetch(where string) {
	m.Helper()
	if _, err := m.Fetch(m.Context(), where); err != nil {
		m.Fatalf("fetch: %v", err)
	}
}

func (m *machine) pin(spec, name string) {
	m.Helper()
	if err := m.Pin(m.Context(), spec, name); err != nil {
		m.Fatalf("pin %q: %v", name, err)
	}
}

// removeLines removes the lines of days, as if the store had just begun.
func (m *machine) removeLines() {
	m.Helper()
	if err := os.RemoveAll(filepath.Join(m.DB.Dir(), filepath.FromSlash(history.RefTracks))); err != nil {
		m.Fatal(err)
	}
}

func bareRepository(t *testing.T, o *gittest.Oracle) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "fleet.git")
	o.In(filepath.Dir(dir), "init", "-q", "--bare", "--template=", dir)
	o.In(dir, "config", "receive.fsckObjects", "true")
	return dir
}

func refsOf(o *gittest.Oracle, dir string) string {
	return o.In(dir, "for-each-ref", "--format=%(refname) %(objectname)")
}

// A pin follows where it points; a line that was begun again gets a second name.
func TestPushMovesNothingBackward(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	first := f.track(map[string]string{"a": "1\n"})
	f.pin("@", "p")
	f.push(dir)
	if err := f.Unpin(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	f.removeLines()
	second := f.track(map[string]string{"a": "2\n"})
	f.pin("@", "p")
	pushed := f.push(dir)
	if len(pushed) != 2 || pushed[0] != "pins/p" || !strings.HasSuffix(pushed[1], "-"+second.ID[:12]) {
		t.Errorf("pushed %q", pushed)
	}
	third := f.track(map[string]string{"a": "3\n"})
	if again := f.push(dir); len(again) != 1 || again[0] != pushed[1] {
		t.Errorf("pushed %q, then %q", pushed, again)
	}
	g := f.other()
	g.fetch(dir)
	for _, id := range []string{first.ID, second.ID, third.ID} {
		if _, err := g.Lookup(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
}

// A line that was rewritten on the remote does not take away what came before.
func TestFetchKeepsWhatCameBefore(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	first := f.track(map[string]string{"a": "1\n"})
	f.push(dir)
	g := f.other()
	g.fetch(dir)
	line := strings.Fields(refsOf(o, dir)[strings.Index(refsOf(o, dir), "refs/cairn/"+state.ProjectID(f.Root)):])[0]
	f.removeLines()
	second := f.track(map[string]string{"a": "2\n"})
	o.In(f.DB.Dir(), "push", "-q", dir, "+"+second.ID+":"+line)
	g.fetch(dir)
	refs := refsOf(o, g.DB.Dir())
	for _, id := range []string{first.ID, second.ID} {
		if !strings.Contains(refs, id) {
			t.Errorf("no ref leads to %s:\n%s", id, refs)
		}
	}
}

// Whatever the remote offers, nothing of it comes in unless all of it is good.
func TestFetchHostile(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	o := gittest.NewOracle(t)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	blob := blobOf("x\n")
	entry := func(name string, mode object.Mode, p packed) packed {
		return treeOf(object.Entry{Name: name, Mode: mode, ID: p.id()})
	}
	good := entry("a", object.Regular, blob)
	const machine = "0123456789abcdef"
	for why, test := range map[string]struct {
		line    string
		objects []packed
	}{
		".git":               {machine + "/tracks/x", []packed{commitOf(entry(".git", object.Regular, blob)), entry(".git", object.Regular, blob), blob}},
		"a submodule":        {machine + "/tracks/x", []packed{commitOf(entry("a", object.Gitlink, good)), entry("a", object.Gitlink, good)}},
		"a commit of others": {machine + "/tracks/x", []packed{commitOf(good, ""), good, blob}},
		"later metadata":     {machine + "/tracks/x", []packed{commitOf(good, "cairn {\"v\":3}\n"), good, blob}},
		"escaping metadata":  {machine + "/tracks/x", []packed{commitOf(good, "cairn {\"v\":1,\"empty\":[\"../x\"]}\n"), good, blob}},
		"a tree":             {machine + "/tracks/x", []packed{good, blob}},
		"no store":           {"tracks/x", []packed{commitOf(good), good, blob}},
		"a strange store":    {"0123/tracks/x", []packed{commitOf(good), good, blob}},
		"bad history": {machine + "/tracks/x", []packed{
			commitOf(good, "parent "+commitOf(good, "").id().String()), commitOf(good, ""), good, blob,
		}},
	} {
		dir := bareRepository(t, o)
		o.Feed(dir, string(packOf(int64(len(test.objects)), test.objects...)), "index-pack", "--stdin")
		id := test.objects[0].id().String()
		project := "refs/cairn/" + state.ProjectID(f.Root) + "/"
		o.In(dir, "update-ref", project+test.line, id)
		fine := commitOf(good)
		o.Feed(dir, string(packOf(3, fine, good, blob)), "index-pack", "--stdin")
		o.In(dir, "update-ref", project+"fedcba9876543210/tracks/fine", fine.id().String())
		before := f.listing()
		fetched, err := f.Fetch(t.Context(), dir)
		if err == nil || len(fetched) > 0 {
			t.Errorf("%s: fetched %q, %v", why, fetched, err)
		}
		f.same(before, why)
		o.In(dir, "update-ref", "-d", project+test.line)
		if fetched, err := f.other().Fetch(t.Context(), dir); err != nil || len(fetched) != 1 {
			t.Errorf("%s: without it %q, %v", why, fetched, err)
		}
	}
}

func TestRemoteErrors(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.push(bareRepository(t, o))                                                   // draws the store's id
	if err := os.Remove(f.DB.PrivatePath(string(odb.PrivateRemote))); err != nil { // "" would mean it
		t.Fatal(err)
	}
	mark := filepath.Join(t.TempDir(), "ran")
	before := f.listing()
	for _, where := range []string{
		"", "-x", "--upload-pack=touch " + mark, "a\nb", filepath.Join(t.TempDir(), "absent"), "origin",
		"ext::sh -c touch% " + mark, "fd::17", "foo::bar", "http://user:secret@127.0.0.1:1/x.git", "ssh://-oProxyCommand=touch " + mark + "/x",
	} {
		pushed, err := f.Push(t.Context(), where)
		if err == nil || len(pushed) > 0 {
			t.Errorf("pushed to %q: %q", where, pushed)
		}
		fetched, ferr := f.Fetch(t.Context(), where)
		if ferr == nil || len(fetched) > 0 {
			t.Errorf("fetched from %q: %q", where, fetched)
		}
		for _, err := range []error{err, ferr} {
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the password is in the message: %v", err)
			}
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the remote's choosing ran")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.Push(ctx, t.TempDir())
	wantError(t, err, context.Canceled)
	_, err = f.Fetch(ctx, t.TempDir())
	wantError(t, err, context.Canceled)
	f.same(before, "after errors")
}

// A remote that refuses is an error, with the remote's reason.
func TestPushRefused(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	gittest.Create(t, filepath.Join(dir, "hooks"), gittest.Tree{"update": gittest.Exec("#!/bin/sh\necho 'pushes need a ticket' >&2\nexit 1\n")})
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	if pushed, err := f.Push(t.Context(), dir); err == nil || len(pushed) > 0 || !strings.Contains(err.Error(), "hook declined): pushes need a ticket") {
		t.Errorf("pushed %q, %v", pushed, err)
	}
}

func TestPushWithoutGit(t *testing.T) {
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	t.Setenv("PATH", t.TempDir())
	_, err := f.Push(t.Context(), "x")
	wantError(t, err, ErrNoGit)
	_, err = f.Fetch(t.Context(), "x")
	wantError(t, err, ErrNoGit)
}

// Damage to one line does not keep the others from being pushed.
func TestPushBesideDamage(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.pin("@", "p")
	bad := filepath.Join(f.DB.Dir(), "refs", "cairn", "tracks")
	for name, content := range map[string]string{"torn": "", "lost": strings.Repeat("1", 40) + "\n"} {
		if err := os.WriteFile(filepath.Join(bad, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if pushed := f.push(dir); len(pushed) != 2 {
		t.Errorf("pushed %q", pushed)
	}
}

// A path is what git takes for one; anything else is a URL or host:path.
func TestIsLocal(t *testing.T) {
	t.Parallel()
	for where, want := range map[string]bool{
		"/srv/x.git": true, "x": true, "../x": true, "./a:b": true, "dir/a:b": true,
		"host:path": false, "https://host/x": false, "file:///x": false, "ssh://host/x": false, "ext::sh": false,
	} {
		if got := IsLocal(where); got != want {
			t.Errorf("%q is a path: %v, want %v", where, got, want)
		}
	}
}

// The lines of git push --porcelain, and the ones beside them that say nothing of a ref.
func TestParsePushed(t *testing.T) {
	t.Parallel()
	const id = "1111111111111111111111111111111111111111"
	for line, want := range map[string]struct {
		flag    byte
		to, why string
		ok      bool
	}{
		"*\t" + id + ":refs/cairn/x\t[new reference]\n":                   {'*', "refs/cairn/x", "[new reference]", true},
		"=\t" + id + ":refs/cairn/x\t[up to date]\n":                      {'=', "refs/cairn/x", "[up to date]", true},
		"!\t+" + id + ":refs/cairn/x\t[remote rejected] (hook\tdeclined)": {'!', "refs/cairn/x", "[remote rejected] (hook\tdeclined)", true},
		"To /srv/x.git\n":    {},
		"Done\n":             {},
		"":                   {},
		"**\ta:b\tc\n":       {},
		"!\tno colon\twhy\n": {flag: '!', why: "why"},
	} {
		flag, to, why, ok := parsePushed(line)
		if flag != want.flag || to != want.to || why != want.why || ok != want.ok {
			t.Errorf("%q is %q, %q, %q, %v, want %+v", line, flag, to, why, ok, want)
		}
	}
}

// A password is in no message, whether git repeats the URL or not.
func TestRemoteHidesPasswords(t *testing.T) {
	t.Parallel()
	m := &remote{url: "https://user:s3cret@host/x.git"}
	for text, want := range map[string]string{
		m.url:                              "https://user:xxxxx@host/x.git",
		"fatal: '" + m.url + "' not found": "fatal: 'https://user:xxxxx@host/x.git' not found",
		"fatal: other":                     "fatal: other",
	} {
		if got := m.withoutPassword(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	for where, want := range map[string]string{
		m.url: "https://user:xxxxx@host/x.git", "https://user:50%@host/x": "https://user:xxxxx@host/x", "https://user:a{b@c@host/x": "https://user:xxxxx@host/x",
		"https://me@host/50%": "https://me@host/50%", "ssh://git@host:me/x": "ssh://git@host:me/x", "host:/50%@x": "host:/50%@x", "/a:b@c": "/a:b@c",
	} {
		if got := Redacted(where); got != want {
			t.Errorf("%s is shown as %s, want %s", where, got, want)
		}
	}
	if got := onOneLine("a\r\nb\n\nc\n"); got != "a; b; c" {
		t.Errorf("on one line: %q", got)
	}
}

// What only this store needs is not pushed, nor is what came from other stores.
func TestOwnLines(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	c := m.track(map[string]string{"a": "1"})
	own := []string{history.RefOperations, history.RefPins + "p", history.RefSessions + "s", history.RefImported + c.ID, history.RefLost + "l"}
	for _, ref := range append(own, history.RefBefore, history.RefRemotes+"0123456789abcdef/tracks/x") {
		if err := m.DB.SetRef(ref, history.IDOf(c)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.DB.SetRef(history.RefDisk, history.TreeOf(c)); err != nil {
		t.Fatal(err)
	}
	refs, err := m.ownLines()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, ref := range refs {
		got = append(got, ref.Name)
	}
	want := append(own, m.Today())
	if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("pushes %q, want %q", got, want)
	}
}

// A store takes no push, its own or another's: git would write there beside its lock, and leave files that others can read.
func TestPushIntoAStore(t *testing.T) {
	t.Parallel()
	f, g := newMachine(t), newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	g.track(map[string]string{"b": "1\n"})
	for _, m := range []*machine{f, g} {
		before := refsOf(gittest.NewOracle(t), m.DB.Dir())
		if pushed, err := f.Push(t.Context(), m.DB.Dir()); err == nil || len(pushed) > 0 || !strings.Contains(err.Error(), "it is a store of cairn") {
			t.Errorf("pushed %q, %v", pushed, err)
		}
		if refsOf(gittest.NewOracle(t), m.DB.Dir()) != before {
			t.Error("the store has other refs")
		}
	}
	if known, err := f.Remembered(); err != nil || known != "" {
		t.Errorf("remembered %q, %v", known, err)
	}
}
