package team

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
	"github.com/seed-fb9cbc17/cairn/session"
)

// fleet is a remote with machines that push to it.
type fleet struct {
	*testing.T
	remote string
	now    time.Time

	recipients []string // of the pushes; nil = open
	identity   string
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	o := gittest.NewOracle(t)
	f := &fleet{T: t, remote: filepath.Join(t.TempDir(), "fleet.git"), now: time.Unix(1e9, 0)}
	o.In(filepath.Dir(f.remote), "init", "-q", "--bare", "--template=", f.remote)
	return f
}

// pushes records a session on a machine of its own and pushes it. All machines have one project.
func (f *fleet) pushes(user, id, prompt string) {
	f.Helper()
	root := filepath.Join(f.TempDir(), "shop")
	gittest.Create(f.T, root, gittest.Tree{"a": gittest.File("one\n")})
	repo, err := cairn.Open(cairn.Options{Root: root, DataDir: f.TempDir(), NoSync: true, Machine: "box", User: user, Encrypt: f.recipients, Sealer: sealed.Age{}})
	if err != nil {
		f.Fatal(err)
	}
	defer repo.Close()
	if err := repo.SetProjectID(f.Context(), "shop"); err != nil {
		f.Fatal(err)
	}
	all := session.New(repo)
	if _, err := all.BeginStep(f.Context(), session.StepBegin{Session: id, Message: "m1", Step: "s1", Role: session.RoleUser, Prompt: prompt}); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "a"), []byte("by "+user+"\n"), 0o644); err != nil {
		f.Fatal(err)
	}
	if _, err := all.EndStep(f.Context(), session.StepEnd{Session: id, Step: "s1"}); err != nil {
		f.Fatal(err)
	}
	if _, err := repo.Push(f.Context(), f.remote); err != nil {
		f.Fatal(err)
	}
}

// shown opens the caches of the remote in a directory.
func (f *fleet) shown(dir string) (t *Team, registered map[string]string) {
	f.Helper()
	registered = make(map[string]string)
	t, err := New(Options{
		Remote: f.remote, Dir: dir, Every: time.Minute, Patience: time.Hour,
		Settings: func() (cairn.Options, error) {
			return cairn.Options{NoSync: true, Identity: f.identity, Sealer: sealed.Age{}}, nil
		},
		Register: func(root, key string) error { registered[key] = root; return nil },
		Now:      func() time.Time { return f.now },
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(t.Close)
	return t, registered
}

// sessionsOf reads the sessions of a project's cache, as a server does.
func (f *fleet) sessionsOf(t *Team, key string) map[string]string {
	f.Helper()
	repo, err := cairn.Open(cairn.Options{Root: t.Root(key), DataDir: t.DataDir(), Disabled: t.ReadOnly()})
	if err != nil {
		f.Fatal(err)
	}
	defer repo.Close()
	if _, err := repo.Track(f.Context(), cairn.TrackOptions{}); !errors.Is(err, cairn.ErrDisabled) {
		f.Errorf("a cache takes checkpoints: %v", err)
	}
	list, err := session.New(repo).List(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	who := make(map[string]string)
	for _, s := range list {
		if s.Fetched == nil {
			f.Errorf("session %s came from nowhere", s.ID)
			continue
		}
		who[s.ID] = s.Fetched.User
	}
	return who
}

// TestTeamShowsWhatMachinesPushed: looked at once a minute at most, and what was pushed since is there
// after that.
func TestTeamShowsWhatMachinesPushed(t *testing.T) {
	t.Parallel()
	newFleet(t).showsWhatMachinesPushed(t)
}

// TestTeamShowsSealed: the same where machines seal, with the key of the team's server.
func TestTeamShowsSealed(t *testing.T) {
	t.Parallel()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	f := newFleet(t)
	f.recipients, f.identity = []string{id.Recipient().String()}, filepath.Join(t.TempDir(), "key.txt")
	if err := os.WriteFile(f.identity, []byte(id.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.showsWhatMachinesPushed(t)
}

func (f *fleet) showsWhatMachinesPushed(t *testing.T) {
	f.pushes("ann", "ses_a", "Add a cart")
	shown, registered := f.shown(t.TempDir())
	projects, fresh := shown.List(t.Context())
	if fresh.Err != nil || len(projects) != 1 || projects[0].Key != "id-shop" || len(projects[0].Stores) != 1 || registered["id-shop"] != shown.Root("id-shop") {
		t.Fatalf("%+v, %+v, %v", projects, fresh, registered)
	}
	about, fresh, err := shown.Project(t.Context(), "id-shop")
	if err != nil || fresh.Err != nil || about.ID != "shop" {
		t.Fatalf("%+v, %+v, %v", about, fresh, err)
	}
	if who := f.sessionsOf(shown, "id-shop"); len(who) != 1 || who["ses_a"] != "ann" {
		t.Errorf("%v", who)
	}
	f.pushes("bob", "ses_b", "Pay")
	for range 2 {
		if _, _, err := shown.Project(t.Context(), "id-shop"); err != nil {
			t.Fatal(err)
		}
	}
	if who := f.sessionsOf(shown, "id-shop"); len(who) != 1 {
		t.Errorf("looked at again too early: %v", who)
	}
	f.now = f.now.Add(time.Minute)
	about, fresh, err = shown.Project(t.Context(), "id-shop")
	if err != nil || fresh.Err != nil || len(about.Stores) != 2 || !fresh.When.Equal(f.now) {
		t.Fatalf("%+v, %+v, %v", about, fresh, err)
	}
	if who := f.sessionsOf(shown, "id-shop"); len(who) != 2 || who["ses_b"] != "bob" {
		t.Errorf("%v", who)
	}
	for _, key := range []string{"id-other", "../x", "", listRoot, strings.Repeat("0", 40)} {
		if _, _, err := shown.Project(t.Context(), key); !errors.Is(err, cairn.ErrNotFound) {
			t.Errorf("%q: %v", key, err)
		}
	}
	if names, err := os.ReadDir(filepath.Join(shown.opt.Dir, "roots", "id-shop")); err != nil || len(names) > 0 {
		t.Errorf("in the root of the cache: %v, %v", names, err)
	}
}

// TestTeamWithoutItsRemote: the last state is shown with the error, also by the next process. A remote
// that never answered is an error.
func TestTeamWithoutItsRemote(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.pushes("ann", "ses_a", "Add a cart")
	dir := t.TempDir()
	shown, _ := f.shown(dir)
	if _, fresh, err := shown.Project(t.Context(), "id-shop"); err != nil || fresh.Err != nil {
		t.Fatal(fresh.Err, err)
	}
	at := f.now
	if err := os.Rename(f.remote, f.remote+".away"); err != nil {
		t.Fatal(err)
	}
	f.now = f.now.Add(time.Hour)
	next, registered := f.shown(dir)
	next.RegisterKnown()
	if registered["id-shop"] == "" {
		t.Error("the project is not known after a start without the remote")
	}
	for _, team := range []*Team{shown, next} {
		if projects, fresh := team.List(t.Context()); len(projects) != 1 || fresh.Err == nil || !fresh.When.Equal(at) {
			t.Errorf("%+v, %+v", projects, fresh)
		}
		_, fresh, err := team.Project(t.Context(), "id-shop")
		if err != nil || fresh.Err == nil || !fresh.When.Equal(at) {
			t.Errorf("%+v, %v", fresh, err)
		}
		if who := f.sessionsOf(team, "id-shop"); who["ses_a"] != "ann" {
			t.Errorf("%v", who)
		}
	}
	empty, _ := f.shown(t.TempDir())
	if projects, fresh := empty.List(t.Context()); len(projects) > 0 || fresh.Err == nil || !fresh.When.IsZero() {
		t.Errorf("%+v, %+v", projects, fresh)
	}
	if err := os.Rename(f.remote+".away", f.remote); err != nil {
		t.Fatal(err)
	}
	f.now = f.now.Add(time.Hour)
	if _, fresh := next.List(t.Context()); fresh.Err != nil {
		t.Errorf("after the remote is back: %v", fresh.Err)
	}
}

// TestTeamOutlivesItsCallers: a caller that gives up leaves the look to the next one, and a damaged
// note of the last process counts as none.
func TestTeamOutlivesItsCallers(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.pushes("ann", "ses_a", "Add a cart")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, keptFile), []byte(`{"projects":[`), 0o600); err != nil {
		t.Fatal(err)
	}
	shown, _ := f.shown(dir)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	shown.List(gone)
	if projects, fresh := shown.List(t.Context()); len(projects) != 1 || fresh.Err != nil {
		t.Errorf("%+v, %+v", projects, fresh)
	}
}

func TestNameWithoutPassword(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"https://ann:secret@host.invalid/x.git": "https://ann:xxxxx@host.invalid/x.git", "git@host.invalid:x.git": "git@host.invalid:x.git", "/srv/x.git": "/srv/x.git",
	} {
		if got := (&Team{opt: Options{Remote: remote}}).Name(); got != want {
			t.Errorf("%s is called %s", remote, got)
		}
	}
}
