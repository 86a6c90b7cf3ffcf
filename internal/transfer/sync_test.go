package transfer

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

func (m *machine) sync() []string {
	m.Helper()
	pushed, err := m.Sync(m.Context())
	if err != nil {
		m.Fatalf("sync: %v", err)
	}
	slices.Sort(pushed)
	return pushed
}

// Sync goes to the remote of the setting and sends new lines. Without any it asks no remote.
func TestSync(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir, named := bareRepository(t, o), bareRepository(t, o)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	before := f.listing()
	if pushed := f.sync(); pushed != nil {
		t.Errorf("pushed %q without the setting", pushed)
	}
	f.Opt.Sync = settings.SyncRemembered
	if pushed := f.sync(); pushed != nil {
		t.Errorf("pushed %q without a remote", pushed)
	}
	f.same(before, "without a remote")
	f.push(dir)
	f.track(map[string]string{"a": "2\n"})
	f.pin("@", "p")
	if pushed := f.sync(); len(pushed) != 2 {
		t.Errorf("pushed %q", pushed)
	}
	f.wantBehind(o, dir, 0)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if pushed := f.sync(); pushed != nil {
		t.Errorf("pushed %q though nothing is new", pushed)
	}
	f.Opt.Sync = named
	if pushed := f.sync(); len(pushed) != 2 {
		t.Errorf("pushed %q", pushed)
	}
	if where, err := f.Remembered(); where != dir || err != nil {
		t.Errorf("remembers %q, %v: only a push by hand is remembered", where, err)
	}
	if s := f.status(); s.Remote != named || !s.Sync || s.Behind != 0 {
		t.Errorf("status %+v", s)
	}
}

// A remote that has lost its refs gets the moved lines at once and the others on the next day.
func TestSyncSendsEverythingOnceADay(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newMachine(t)
	now := time.Now()
	f.Now = func() time.Time { return now }
	dir := bareRepository(t, o)
	f.Opt.Sync = dir
	f.track(map[string]string{"a": "1\n"})
	f.pin("@", "old")
	f.sync()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	o.In(filepath.Dir(dir), "init", "-q", "--bare", "--template=", dir)
	f.pin("@", "new")
	if pushed := f.sync(); len(pushed) != 1 {
		t.Errorf("pushed %q", pushed)
	}
	now = now.Add(wholeEvery)
	f.pin("@", "newer")
	if pushed := f.sync(); len(pushed) < 3 {
		t.Errorf("pushed %q", pushed)
	}
}

// Offline is normal: after a failure Sync leaves the remote alone for a pause that grows, and the first
// success ends that.
func TestSyncPauses(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newMachine(t)
	now := time.Now()
	f.Now = func() time.Time { return now }
	dir := filepath.Join(t.TempDir(), "later.git")
	f.Opt.Sync = dir
	f.track(map[string]string{"a": "1\n"})
	for i, pause := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour} {
		if _, err := f.Sync(t.Context()); err == nil {
			t.Fatal("pushed to a remote that is not there")
		}
		s := f.status()
		if s.Failures != i+1 || !s.Retry.Equal(now.UTC().Add(pause)) || s.Behind != 1 {
			t.Fatalf("status %+v, want %d failures and a pause of %v", s, i+1, pause)
		}
		now = now.Add(pause - 1)
		if pushed := f.sync(); pushed != nil { // asks nothing
			t.Fatalf("pushed %q in the pause", pushed)
		}
		now = now.Add(1)
	}
	o.In(filepath.Dir(dir), "init", "-q", "--bare", "--template=", dir)
	if pushed := f.sync(); len(pushed) != 1 {
		t.Errorf("pushed %q", pushed)
	}
	if s := f.status(); s.Failures != 0 || s.Error != "" || !s.Retry.IsZero() || s.Behind != 0 {
		t.Errorf("status %+v", s)
	}
}

// A failure that another clock has put into the future makes no pause: it would last until then. The daily push of every
// line does not wait for such a time either.
func TestSyncAfterAClockInTheFuture(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newMachine(t)
	now := time.Now().AddDate(1, 0, 0)
	f.Now = func() time.Time { return now }
	dir := filepath.Join(t.TempDir(), "later.git")
	f.Opt.Sync = dir
	f.track(map[string]string{"a": "1\n"})
	if _, err := f.Sync(t.Context()); err == nil {
		t.Fatal("pushed to a remote that is not there")
	}
	o.In(filepath.Dir(dir), "init", "-q", "--bare", "--template=", dir)
	now = time.Now()
	if s := f.status(); !s.Retry.IsZero() {
		t.Errorf("the next push waits until %v", s.Retry)
	}
	if pushed := f.sync(); len(pushed) != 1 {
		t.Errorf("pushed %q", pushed)
	}
	now = now.AddDate(-1, 0, 0)
	f.pin("@", "p")
	if pushed := f.sync(); len(pushed) != 1 {
		t.Errorf("pushed %q", pushed)
	}
	if s := f.standingOf(dir); !s.Whole.Equal(now.UTC()) {
		t.Errorf("every line was pushed at %v last", s.Whole)
	}
}

// One push of a store at a time: another process that finds the mark held does nothing, and the holder
// pushes what came meanwhile.
func TestSyncOneAtATime(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newMachine(t)
	dir := bareRepository(t, o)
	f.Opt.Sync = dir
	f.track(map[string]string{"a": "1\n"})
	mark := flock.New(f.DB.PrivatePath(markName))
	if ok, err := mark.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if pushed := f.sync(); pushed != nil {
		t.Errorf("pushed %q beside another push", pushed)
	}
	if err := mark.Close(); err != nil {
		t.Fatal(err)
	}
	// A checkpoint comes after the push has read the lines: its own Sync finds the mark held.
	came, asked := false, false
	f.Opt.Progress = func(settings.Progress) {
		if came {
			return
		}
		came = true
		f.track(map[string]string{"a": "2\n"})
		other := machineOf(t, statetest.Reopen(t, f.Store))
		other.Opt.Sync = dir
		asked = len(other.sync()) > 0
	}
	pushed := f.sync()
	if !came || asked || len(pushed) != 2 { // the same line twice
		t.Errorf("pushed %q; a checkpoint came: %v, and another process pushed: %v", pushed, came, asked)
	}
	f.Opt.Progress = nil
	f.wantBehind(o, dir, 0)
}

// silent is a remote that takes connections and never answers. hung receives one value per connection.
func silent(t *testing.T) (url string, hung <-chan net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	calls := make(chan net.Conn, 16)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				close(calls)
				return
			}
			calls <- conn
		}
	}()
	t.Cleanup(func() {
		l.Close()
		for conn := range calls {
			conn.Close()
		}
	})
	return "git://" + l.Addr().String() + "/x.git", calls
}

// While a push waits for a remote that never answers, captures go on: the push holds no lock.
func TestSyncHoldsNoLock(t *testing.T) {
	t.Parallel()
	gittest.NewOracle(t)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	url, hung := silent(t)
	f.Opt.Sync = url
	ended := make(chan error, 1)
	go func() {
		_, err := f.Sync(t.Context())
		ended <- err
	}()
	conn := <-hung
	other := machineOf(t, statetest.Reopen(t, f.Store))
	other.Opt.LockTimeout = 1 // one try
	other.track(map[string]string{"a": "2\n"})
	select {
	case err := <-ended:
		t.Errorf("the push ended: %v", err)
	default:
	}
	conn.Close()
	if err := <-ended; err == nil {
		t.Error("pushed to a remote that says nothing")
	}
}

// Many machines push at once into one remote, in processes of their own: no ref is lost.
func TestManyMachinesAtOnce(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	first := newMachine(t)
	machines := []*machine{first}
	for range 5 {
		machines = append(machines, first.other())
	}
	want := make(map[string]string)
	errs := make(chan error)
	for i, m := range machines {
		m.track(map[string]string{"a": fmt.Sprint(i)})
		m.Opt.Sync = dir
		go func() { // each push is a git process of its own
			_, err := m.Sync(t.Context())
			errs <- err
		}()
	}
	for range machines {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	refs := refsOf(o, dir)
	for _, m := range machines {
		id, err := m.DB.Identity(false)
		if err != nil {
			t.Fatal(err)
		}
		c, err := m.Lookup(t.Context(), "@")
		if err != nil {
			t.Fatal(err)
		}
		want[id] = c.ID
		if !strings.Contains(refs, id+"/"+strings.TrimPrefix(m.Today(), "refs/cairn/")+" "+c.ID) {
			t.Errorf("the line of store %s is lost", id)
		}
	}
	if len(want) != len(machines) {
		t.Errorf("%d stores for %d machines", len(want), len(machines))
	}
	o.In(dir, "fsck", "--strict")
	g := first.other()
	g.fetch(dir)
	for _, id := range want {
		if _, err := g.Lookup(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
}
