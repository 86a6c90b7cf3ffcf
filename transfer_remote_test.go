package cairn_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// other is the same root on another machine: it has a store of its own.
func (f *fixture) other() *fixture {
	g := *f
	g.data = filepath.Join(f.TempDir(), "data")
	g.opt.DataDir = g.data
	return &g
}

func (f *fixture) push(remote string) []string {
	f.Helper()
	pushed, err := f.repo().Push(f.Context(), remote)
	if err != nil {
		f.Fatalf("push: %v", err)
	}
	slices.Sort(pushed)
	return pushed
}

func (f *fixture) fetch(remote string) []string {
	f.Helper()
	fetched, err := f.repo().Fetch(f.Context(), remote)
	if err != nil {
		f.Fatalf("fetch: %v", err)
	}
	for i, name := range fetched {
		if store, line, ok := strings.Cut(name, "/"); ok && len(store) == 16 {
			fetched[i] = line
		}
	}
	slices.Sort(fetched)
	return fetched
}

func (f *fixture) refs(o *gittest.Oracle, dir string) []string {
	f.Helper()
	return strings.Split(strings.TrimSpace(o.In(dir, "for-each-ref", "--format=%(refname) %(objectname)")), "\n")
}

func bareRepository(t *testing.T, o *gittest.Oracle) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "fleet.git")
	o.In(filepath.Dir(dir), "init", "-q", "--bare", dir)
	o.In(dir, "config", "receive.fsckObjects", "true")
	o.In(dir, "config", "http.receivepack", "true")
	return dir
}

// exchange pushes from one machine, fetches on another, and compares.
func exchange(t *testing.T, o *gittest.Oracle, dir, remote string) {
	tree := manyKinds()
	delete(tree, "zeros")
	if remote != dir { // git's work for it is the same on every way; this is more than git sends at once
		tree["large"] = gittest.File(noise(1, 2<<20))
	}
	f := newFixture(t, tree)
	first := f.track()
	f.write("a", "2\n")
	second := f.track()
	f.pin(first.Hash, "Before the migration")
	f.restoreAll(first.Hash)
	f.imported(f.export("@"))
	want := f.manifest()
	pushed := f.push(remote)
	if len(pushed) != 4 || pushed[1] != "operations" || !strings.HasPrefix(pushed[0], "imported/") || !strings.HasPrefix(pushed[2], "pins/") || !strings.HasPrefix(pushed[3], "tracks/") {
		t.Errorf("pushed %q", pushed)
	}
	project := cairn.ProjectID(f.repo().Root()) + "/"
	for _, ref := range f.refs(o, dir) {
		if !strings.HasPrefix(ref, "refs/cairn/"+project) && !strings.HasPrefix(ref, "refs/cairn/about/"+project) {
			t.Errorf("%s on the remote is outside %s", ref, project)
		}
	}
	o.In(dir, "fsck", "--strict")
	if again := f.push(remote); len(again) > 0 {
		t.Errorf("pushed again: %q", again)
	}
	if fetched := f.fetch(remote); len(fetched) > 0 {
		t.Errorf("fetched its own lines: %q", fetched)
	}

	g := f.other()
	own := g.track()
	before := f.refs(o, g.repo().StoreDir())
	if fetched := g.fetch(remote); !slices.Equal(fetched, pushed) {
		t.Errorf("fetched %q, pushed %q", fetched, pushed)
	}
	after := f.refs(o, g.repo().StoreDir())
	for _, ref := range before {
		if !slices.Contains(after, ref) {
			t.Errorf("%s was moved", ref)
		}
	}
	for _, ref := range after {
		if !slices.Contains(before, ref) && !strings.HasPrefix(ref, "refs/cairn/remotes/") {
			t.Errorf("%s has come", ref)
		}
	}
	o.In(g.repo().StoreDir(), "fsck", "--strict", "--full")
	for _, spec := range []string{first.Checkpoint, second.Checkpoint, second.Hash, second.Hash[:9]} {
		if _, err := g.repo().Lookup(t.Context(), spec); err != nil {
			t.Errorf("%s is not found: %v", spec, err)
		}
	}
	if c, err := g.repo().Lookup(t.Context(), "@"); err != nil || c.ID != own.Checkpoint {
		t.Errorf("@ has become %v, %v", c, err)
	}
	g.restoreAll(second.Checkpoint)
	if g.read("a") != "2\n" {
		t.Errorf("restored %q", g.read("a"))
	}
	g.restoreAll(first.Checkpoint)
	if diff := cmp.Diff(want, g.manifest()); diff != "" {
		t.Error(diff)
	}
	if again := g.fetch(remote); len(again) > 0 {
		t.Errorf("fetched again: %q", again)
	}

	// Back, and onward.
	g.push(remote)
	f.write("a", "3\n")
	third := f.track()
	if fetched := f.fetch(remote); !slices.Contains(fetched, "operations") {
		t.Errorf("fetched %q", fetched)
	}
	if pushed := f.push(remote); len(pushed) != 1 || !strings.HasPrefix(pushed[0], "tracks/") {
		t.Errorf("pushed %q", pushed)
	}
	g.fetch(remote)
	if _, err := g.repo().Lookup(t.Context(), third.Hash); err != nil {
		t.Error(err)
	}
	noQuarantine(t, g.repo().StoreDir())
}

// noQuarantine looks for what a fetch may leave.
func noQuarantine(t *testing.T, store string) {
	t.Helper()
	for name := range gittest.Manifest(t, store) {
		if strings.Contains(name, "tmp_") || strings.HasSuffix(name, "FETCH_HEAD") {
			t.Errorf("left behind: %s", name)
		}
	}
}

func TestPushFetchPath(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	exchange(t, o, dir, dir)
}

func TestPushFetchHTTP(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	o := gittest.NewOracle(t)
	gitProgram(t, o, "git-remote-http")
	backend := gitProgram(t, o, "git-http-backend")
	dir := bareRepository(t, o)
	handler := &cgi.Handler{
		Path: backend,
		Env:  []string{"GIT_PROJECT_ROOT=" + filepath.Dir(dir), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "HOME=" + t.TempDir()},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		// CGI wants to know the length, which git does not say of large packs.
		body, err := io.ReadAll(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		req.Body, req.ContentLength, req.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
		handler.ServeHTTP(w, req)
	}))
	defer server.Close()
	exchange(t, o, dir, server.URL+"/fleet.git")
}

func TestPushFetchDaemon(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	o := gittest.NewOracle(t)
	daemon := gitProgram(t, o, "git-daemon")
	dir := bareRepository(t, o)
	l := loopback(t)
	go serveEach(l, func() *exec.Cmd {
		cmd := exec.Command(daemon, "--inetd", "--export-all", "--enable=receive-pack", "--base-path="+filepath.Dir(dir))
		cmd.Env = gitEnv()
		return cmd
	})
	exchange(t, o, dir, "git://"+l.Addr().String()+"/fleet.git")
}

// gitEnv is the environment of a git server.
func gitEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "LC_ALL=C"}
}

func gitProgram(t *testing.T, o *gittest.Oracle, name string) string {
	t.Helper()
	path := filepath.Join(strings.TrimSpace(o.Git("--exec-path")), name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}
