package httpapi

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
)

// newShop is a fixture whose project has an id and a remote. more are further settings.
func newShop(t *testing.T, remote, content string, more ...func(*cairn.Options)) *fixture {
	t.Helper()
	f := newFixture(t, gittest.Tree{"a": gittest.File(content)}, func(o *Options) {
		inner := o.Settings
		o.Settings = func(root string) (cairn.Options, error) {
			opt, err := inner(root)
			opt.Sync = remote
			for _, set := range more {
				set(&opt)
			}
			return opt, err
		}
	})
	repo, err := cairn.Open(cairn.Options{Root: f.root, DataDir: f.dataDir, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	if err := repo.SetProjectID(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	return f
}

// holds compares the file of a shop.
func (f *fixture) holds(want string) {
	f.t.Helper()
	if data, err := os.ReadFile(filepath.Join(f.root, "a")); err != nil || string(data) != want {
		f.t.Errorf("a holds %q, want %q, %v", data, want, err)
	}
}

// TestRemoteOperations: a session of one project is pushed, listed, fetched and resumed in another, and undo
// takes the resume back. Nothing in a request names a remote.
func TestRemoteOperations(t *testing.T) {
	t.Parallel()
	remoteOperations(t)
}

// TestSealedRemoteOperations: the same with a remote that the settings seal.
func TestSealedRemoteOperations(t *testing.T) {
	t.Parallel()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(t.TempDir(), "key.txt")
	if err := os.WriteFile(key, []byte(id.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	remoteOperations(t, func(opt *cairn.Options) {
		opt.Encrypt, opt.Identity, opt.Sealer = []string{id.Recipient().String()}, key, sealed.Age{}
	})
}

func remoteOperations(t *testing.T, more ...func(*cairn.Options)) {
	remote := filepath.Join(t.TempDir(), "team.git")
	gittest.NewOracle(t).In(filepath.Dir(remote), "init", "-q", "--bare", "--template=", remote)
	first, second := newShop(t, remote, "1\n", more...), newShop(t, remote, "mine\n", more...)
	second.track()
	first.step("ses_a", "m", "1", func() { first.write("a", "2\n") })
	var pushed PushedLines
	first.call("POST", "/push", nil).want(t, 200, &pushed)
	if !slices.Contains(pushed.Lines, "sessions/ses_a") {
		t.Errorf("%+v", pushed)
	}
	if r := first.call("POST", "/push", nil).want(t, 200, nil); !strings.Contains(string(r.body), `"lines":[]`) {
		t.Errorf("%s", r.body)
	}

	var about answers.Remote
	second.call("GET", "/remote", nil).want(t, 200, &about)
	if about.Status.Remote != remote || about.Status.Behind == 0 || !about.Status.Sync || len(about.Projects) != 1 || !about.Projects[0].Here || about.Projects[0].Stores[0].Sessions[0].ID != "ses_a" {
		t.Errorf("%+v", about)
	}
	second.call("GET", "/remote?all=true", nil).want(t, 200, &about)
	var got answers.Fetched
	second.call("POST", "/fetch", FetchRequest{Session: "@"}).want(t, 200, &got)
	if got.Session != "ses_a" || len(got.Lines) != 1 {
		t.Errorf("%+v", got)
	}
	second.call("POST", "/fetch", nil).want(t, 200, nil)
	second.call("POST", "/fetch", FetchRequest{Session: "none"}).problem(t, 404, "not-found")
	second.call("POST", "/resume", ResumeRequest{Session: "none"}).problem(t, 404, "not-found")

	second.call("POST", "/session/ses_a/revert", SessionRevert{Start: true}).problem(t, 409, "refused") // resume comes first

	var plan, done cairn.Result
	second.call("POST", "/resume", ResumeRequest{Session: "ses", DryRun: true}).want(t, 200, &plan)
	second.holds("mine\n")
	second.call("POST", "/resume", ResumeRequest{Plan: plan.PlanID, Fetch: true}).want(t, 200, &done)
	second.holds("2\n")
	if done.Operation == "" {
		t.Errorf("%+v", done)
	}
	second.call("POST", "/undo", nil).want(t, 200, nil)
	second.holds("mine\n")

	elsewhere := filepath.Join(t.TempDir(), "elsewhere.git")
	for _, target := range []string{"POST /fetch", "POST /resume", "POST /push?remote=" + elsewhere, "GET /remote?remote=" + elsewhere} {
		method, path, _ := strings.Cut(target, " ")
		second.call(method, path, map[string]string{"remote": elsewhere}).problem(t, 400, "bad-request")
	}
	if _, err := os.Lstat(elsewhere); err == nil {
		t.Error("a request has named a remote")
	}

	if err := os.Rename(remote, remote+".away"); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"POST /push", "POST /fetch", "GET /remote"} {
		method, path, _ := strings.Cut(target, " ")
		second.call(method, path, nil).problem(t, 502, "unreachable")
	}
	second.call("POST", "/resume", ResumeRequest{Session: "none"}).problem(t, 502, "unreachable")
	second.call("POST", "/resume", ResumeRequest{Session: "ses_a"}).want(t, 200, nil) // it is here
	second.holds("2\n")
}

// TestNoRemote: the answer says how a project gets a remote.
func TestNoRemote(t *testing.T) {
	t.Parallel()
	f := newShop(t, "", "1\n")
	f.track()
	for _, target := range []string{"POST /push", "POST /fetch", "GET /remote"} {
		method, path, _ := strings.Cut(target, " ")
		if text := f.call(method, path, nil).problem(t, 409, "no-remote"); !strings.Contains(text, "push to one by its URL or path") {
			t.Errorf("%s: %s", target, text)
		}
	}
	f.call("POST", "/resume", ResumeRequest{Session: "none"}).problem(t, 404, "not-found")
	f.call("POST", "/resume", ResumeRequest{Session: "none", Fetch: true}).problem(t, 409, "no-remote")
}

// TestRemotePasswords: no answer has the password of a remote.
func TestRemotePasswords(t *testing.T) {
	t.Parallel()
	f := newShop(t, "http://ann:sesame@127.0.0.1:1/team.git", "1\n")
	f.track()
	for _, target := range []string{"POST /push", "POST /fetch", "GET /remote", "POST /resume"} {
		method, path, _ := strings.Cut(target, " ")
		r := f.call(method, path, nil)
		r.problem(t, 502, "unreachable")
		if strings.Contains(string(r.body), "sesame") || !strings.Contains(string(r.body), "127.0.0.1:1/team.git") {
			t.Errorf("%s: %s", target, r.body)
		}
	}
}

// TestRemoteStatuses: errors of remotes that this test cannot make have a status and a kind.
func TestRemoteStatuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
		kind   protocol.Kind
	}{
		{cairn.ErrStalled, 504, protocol.Unreachable},
		{cairn.ErrNoGit, 409, protocol.NoGit},
		{cairn.ErrNoRemote, 409, protocol.NoRemote},
	} {
		err := ofRemote(c.err)
		if kind := kindOf(err); StatusOf(err) != c.status || kind != c.kind {
			t.Errorf("%v: %d %s", c.err, StatusOf(err), kind)
		}
	}
}
