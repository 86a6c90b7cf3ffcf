package transfer

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

func (m *machine) status() *RemoteStatus {
	m.Helper()
	s, err := m.RemoteStatus(m.Context())
	if err != nil {
		m.Fatal(err)
	}
	return s
}

// wantBehind compares with what git counts.
func (m *machine) wantBehind(o *gittest.Oracle, remote string, want int) {
	m.Helper()
	s := m.status()
	if s == nil || s.Behind != want {
		m.Fatalf("status %+v, want %d behind", s, want)
	}
	args := []string{"rev-list", "--count", "--exclude=" + history.RefDisk, "--all"}
	for _, line := range strings.Split(strings.TrimSpace(refsOf(o, remote)), "\n") {
		name, id, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(name, refAbout) {
			args = append(args, "^"+id)
		}
	}
	if n, _ := strconv.Atoi(strings.TrimSpace(o.In(m.DB.Dir(), args...))); n != want {
		m.Errorf("%d behind, git counts %d", want, n)
	}
}

// A push remembers its remote, and the calls that name none use it. A push that fails changes nothing
// of that.
func TestRemembered(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	before := f.listing()
	for why, call := range map[string]func() error{
		"push":  func() error { _, err := f.Push(t.Context(), ""); return err },
		"fetch": func() error { _, err := f.Fetch(t.Context(), ""); return err },
		"list":  func() error { _, err := f.ListRemote(t.Context(), "", false); return err },
		"one":   func() error { _, _, err := f.FetchSession(t.Context(), "", "@"); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "none is remembered") {
			t.Errorf("%s: %v", why, err)
		}
	}
	f.same(before, "without a remote")
	if s := f.status(); s != nil {
		t.Errorf("status %+v without a remote", s)
	}
	f.push(dir)
	if _, err := f.Push(t.Context(), filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("pushed to an absent repository")
	}
	f.track(map[string]string{"a": "2\n"})
	if pushed := f.push(""); len(pushed) != 1 {
		t.Errorf("pushed %q", pushed)
	}
	if where, err := f.Remembered(); where != dir || err != nil {
		t.Errorf("remembers %q, %v", where, err)
	}
	g := f.other()
	g.track(map[string]string{"b": "1\n"})
	g.push(dir)
	f.fetch("")
	if list, err := f.ListRemote(t.Context(), "", false); err != nil || len(list) != 1 {
		t.Errorf("lists %v, %v", list, err)
	}
}

// Behind counts what git counts: over several lines, a line that forks from a pushed one, and a line
// that was begun again.
func TestBehind(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.push(dir)
	f.wantBehind(o, dir, 0)
	second := f.track(map[string]string{"a": "2\n"})
	f.track(map[string]string{"a": "3\n"})
	f.pin(second.ID, "p")
	f.wantBehind(o, dir, 2)
	f.push(dir)
	f.wantBehind(o, dir, 0)
	if err := f.DB.SetRef(history.RefSessions+"fork", history.IDOf(second)); err != nil { // of a pushed state
		t.Fatal(err)
	}
	f.wantBehind(o, dir, 0)
	statetest.Append(t, f.Store, history.RefSessions+"fork", statetest.NewState(t, f.Store, map[string]string{"a": "4\n"}), history.StateLabel{})
	f.wantBehind(o, dir, 1)
	f.removeLines()
	f.track(map[string]string{"a": "5\n"})
	f.wantBehind(o, dir, 2)
	f.push(dir)
	f.wantBehind(o, dir, 0)
}

// A clock that ran backwards between two pushes does not keep the count from ending.
func TestBehindWithoutClock(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	now := time.Now()
	f.Now = func() time.Time { return now }
	f.track(map[string]string{"a": "1\n"})
	f.push(dir)
	for i := range 5 {
		now = now.Add(-time.Hour)
		statetest.Append(t, f.Store, history.RefSessions+"s", statetest.NewState(t, f.Store, map[string]string{"a": fmt.Sprint(i)}), history.StateLabel{})
	}
	f.wantBehind(o, dir, 5)
}

// A failed push is counted, with its reason, until one succeeds. What the remote has stays known.
func TestFailuresAreCounted(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.push(dir)
	pushed := f.status().Pushed
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	f.track(map[string]string{"a": "2\n"})
	for i := range 2 {
		if _, err := f.Push(t.Context(), ""); err == nil {
			t.Fatal("pushed to a remote that is away")
		}
		if s := f.status(); s.Failures != i+1 || s.Error == "" || s.Behind != 1 || !s.Pushed.Equal(pushed) || s.Tried.Before(pushed) {
			t.Errorf("status %+v", s)
		}
	}
	if err := os.Rename(dir+"-away", dir); err != nil {
		t.Fatal(err)
	}
	f.push("")
	if s := f.status(); s.Failures != 0 || s.Error != "" || s.Behind != 0 {
		t.Errorf("status %+v", s)
	}
}

// A damaged file says nothing, and the next push mends it.
func TestDamagedStandings(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	f.push(dir)
	for _, text := range []string{"", "{", "[]", `{"` + dir + `":null}`, `{"` + dir + `":{"tips":{"tracks/x":"no id"}}}`} {
		if err := f.DB.WritePrivate(odb.PrivatePushed, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if s := f.status(); s == nil || s.Behind != 1 {
			t.Errorf("%q: status %+v", text, s)
		}
		f.push("")
		if s := f.status(); s.Behind != 0 {
			t.Errorf("%q: status %+v after a push", text, s)
		}
	}
}

// The standings of a few remotes are kept, those that were tried last.
func TestStandingsAreFew(t *testing.T) {
	t.Parallel()
	f := newMachine(t)
	for i := range maxStandings + 3 {
		s := (&standing{}).failed(time.Unix(int64(i), 0), errors.New(strings.Repeat("x", 2*maxErrorText)))
		if err := f.noteStanding(fmt.Sprintf("/remote/%02d", i), s); err != nil {
			t.Fatal(err)
		}
	}
	kept := slices.Sorted(maps.Keys(f.standings()))
	if len(kept) != maxStandings || kept[0] != "/remote/03" {
		t.Errorf("keeps %q", kept)
	}
	if n := len(f.standingOf(kept[0]).Error); n > maxErrorText+3 {
		t.Errorf("an error of %d bytes is kept", n)
	}
}

// A password stays out of what is shown.
func TestStatusHidesPasswords(t *testing.T) {
	t.Parallel()
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	if err := f.remember(t.Context(), &remote{url: "https://user:s3cret@host/x.git"}); err != nil {
		t.Fatal(err)
	}
	if s := f.status(); s.Remote != "https://user:xxxxx@host/x.git" || s.Behind != 1 {
		t.Errorf("status %+v", s)
	}
	if info, err := os.Stat(f.DB.PrivatePath(string(odb.PrivateRemote))); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others can read the password: %v, %v", info, err)
	}
}
