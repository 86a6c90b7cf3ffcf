package transfer

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/signature"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// TestFetchSessionHidesPasswords: no error about a session names the password of the remote.
func TestFetchSessionHidesPasswords(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	if _, err := os.Stat(filepath.Join(strings.TrimSpace(o.In(t.TempDir(), "--exec-path")), "git-remote-http")); err != nil {
		t.Skip("git without HTTP")
	}
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.session("s-1", "One", 5, map[string]string{"a": "1\n"})
	f.push(dir)
	o.In(dir, "update-server-info")
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(dir))))
	defer server.Close()
	where := strings.Replace(server.URL, "://", "://user:s3cret@", 1) + "/" + filepath.Base(dir)
	_, _, err := f.other().FetchSession(t.Context(), where, "none")
	wantError(t, err, state.ErrNotFound)
	if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "user:xxxxx@") {
		t.Errorf("%v", err)
	}
}

// TestFetchSessionThatWasRewritten: a session whose line a purge has rewritten comes as it is now, openly and sealed.
func TestFetchSessionThatWasRewritten(t *testing.T) {
	t.Parallel()
	for _, sealed := range []bool{false, true} {
		o := gittest.NewOracle(t)
		dir := bareRepository(t, o)
		f := newMachine(t)
		if k := newKey(t); sealed {
			f.sealsFor(k)
		}
		f.session("s", "One", 5, map[string]string{"a": "1\n"})
		f.session("other", "Two", 5, map[string]string{"b": "1\n"})
		f.push(dir)
		if err := f.DB.DeleteRef(history.LineRef("s")); err != nil {
			t.Fatal(err)
		}
		f.session("s", "One", 5, map[string]string{})
		now := f.session("s", "One", 6, map[string]string{"c": "1\n"})
		f.push(dir)
		g := f.other()
		g.Opt.Identity = f.Opt.Identity
		id, fetched, err := g.FetchSession(t.Context(), dir, "s")
		if err != nil || id != "s" || strings.Contains(strings.Join(fetched, " "), "other") {
			t.Errorf("sealed %v: fetched %q, %q, %v", sealed, id, fetched, err)
		}
		if tip, err := g.FetchedTip(t.Context(), "s", "", func(*history.LineEvent) bool { return false }); err != nil || tip.ID != now.ID {
			t.Errorf("sealed %v: the session is at %v, %v, want %s", sealed, tip.LineEvent, err, now.ID)
		}
	}
}

// TestFetchSessionAfterACleaning: a session whose line a purge has rewritten comes also after the remote was cleaned of the
// old one, and another session whose id begins alike does not.
func TestFetchSessionAfterACleaning(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.session("s", "One", 5, map[string]string{"a": "1\n"})
	f.session("s2", "Two", 5, map[string]string{"b": "1\n"})
	f.push(dir)
	if err := f.DB.DeleteRef(history.LineRef("s")); err != nil {
		t.Fatal(err)
	}
	f.session("s", "One", 5, map[string]string{})
	now := f.session("s", "One", 6, map[string]string{"c": "1\n"})
	f.push(dir)
	own, err := f.DB.Identity(false)
	if err != nil {
		t.Fatal(err)
	}
	first := strings.TrimSpace(o.In(dir, "for-each-ref", "--format=%(refname)", "refs/cairn/*/"+own+"/sessions/s"))
	o.In(dir, "update-ref", "-d", first)
	g := f.other()
	id, fetched, err := g.FetchSession(t.Context(), dir, "s")
	if err != nil || id != "s" || strings.Contains(strings.Join(fetched, " "), "s2") {
		t.Errorf("fetched %q, %q, %v", id, fetched, err)
	}
	if tip, err := g.FetchedTip(t.Context(), "s", "", func(*history.LineEvent) bool { return false }); err != nil || tip.ID != now.ID {
		t.Errorf("the session is at %v, %v, want %s", tip.LineEvent, err, now.ID)
	}
}

// TestFetchSessionBesideABadNote: a session comes although the note of another store names it by what is no ref.
func TestFetchSessionBesideABadNote(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f, h := newMachine(t), newMachine(t)
	for _, m := range []*machine{f, h} {
		if err := m.SetProjectID(t.Context(), "shop"); err != nil {
			t.Fatal(err)
		}
		m.session("s", "One", 5, map[string]string{"a": "1\n"})
		m.push(dir)
	}
	own, err := h.DB.Identity(false)
	if err != nil {
		t.Fatal(err)
	}
	ref := "refs/cairn/about/id-shop/" + own
	note := o.In(dir, "cat-file", "blob", ref)
	g := newMachine(t)
	if err := g.SetProjectID(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"sessions/s:refs/heads/x", "sessions/*", "sessions/s ", "", "../s", "pins/s", "sessions/"} {
		changed := strings.Replace(note, `"ref":"sessions/s"`, `"ref":"`+bad+`"`, 1)
		o.In(dir, "update-ref", ref, strings.TrimSpace(o.Feed(dir, changed, "hash-object", "-w", "--stdin")))
		if id, _, err := g.FetchSession(t.Context(), dir, "s"); err != nil || id != "s" {
			t.Errorf("%q: fetched %q, %v", bad, id, err)
		}
	}
}

// TestWantedSpecs: the refspecs of a session fit into a command line, whatever the number of its sub-agents.
func TestWantedSpecs(t *testing.T) {
	t.Parallel()
	var lines []sessionLine
	for i := range 3000 {
		lines = append(lines, sessionLine{key: "id-shop", store: fmt.Sprintf("%016x", i%3), ref: fmt.Sprintf("sessions/some-longer-id-%d", i), id: fmt.Sprint(i)})
	}
	for _, n := range []int{1, 2, 30, 3000} {
		want := wantSession(lines[:n])
		if size := len(strings.Join(want.specs, " ")); size > maxCommandLine {
			t.Errorf("%d lines: %d bytes", n, size)
		}
		if !want.only(lines[0].store, lines[0].ref) || want.only(lines[0].store, "sessions/another") {
			t.Errorf("%d lines: other lines than those of the session are wanted", n)
		}
	}
}

// TestFetchSessionLeavesOtherSignatures: with one session come the signatures of its line and the statements about purges.
// Those of a line that stays as it was here do not come: they would name heads that it does not hold.
func TestFetchSessionLeavesOtherSignatures(t *testing.T) {
	t.Parallel()
	for _, sealed := range []bool{false, true} {
		dir := bareRepository(t, gittest.NewOracle(t))
		f := newMachine(t)
		if k := newKey(t); sealed {
			f.sealsFor(k)
		}
		lists := []string{"sessions/s", "sessions/s2", "tracks/2026-01-01", signature.Rewritings}
		now := make(map[string]object.ID)
		for i := range 2 {
			f.session("s", "One", int64(i), map[string]string{"a": fmt.Sprint(i)})
			f.session("s2", "Two", int64(i), map[string]string{"b": fmt.Sprint(i)})
			for _, line := range lists {
				now[line] = f.signed(line, fmt.Sprintf("{\"text\":\"%s %d\"}\n", line, i))
			}
			f.push(dir)
		}
		g := f.other()
		g.Opt.Identity = f.Opt.Identity
		if _, _, err := g.FetchSession(t.Context(), dir, "s"); err != nil {
			t.Fatal(err)
		}
		for _, line := range lists {
			got, err := g.DB.Ref(signature.Ref("remotes/" + f.store() + "/" + line))
			if wanted := line == "sessions/s" || line == signature.Rewritings; wanted != (err == nil && got == now[line]) {
				t.Errorf("sealed %v: signatures of %s: %v, %v", sealed, line, got, err)
			}
		}
	}
}
