package cairn_test

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// counted serves a directory of repositories by git daemon, and counts what it sends, in bytes.
func counted(t *testing.T, o *gittest.Oracle, base string) (url string, sent *atomic.Int64) {
	t.Helper()
	daemon := gitProgram(t, o, "git-daemon")
	inner, outer := loopback(t), loopback(t)
	go serveEach(inner, func() *exec.Cmd {
		cmd := exec.Command(daemon, "--inetd", "--export-all", "--enable=receive-pack", "--base-path="+base)
		cmd.Env = gitEnv()
		return cmd
	})
	sent = new(atomic.Int64)
	go func() {
		for {
			conn, err := outer.AcceptTCP()
			if err != nil {
				return
			}
			go relay(conn, inner.Addr().String(), sent)
		}
	}()
	return "git://" + outer.Addr().String() + "/", sent
}

// relay passes bytes both ways until the server has ended.
func relay(conn *net.TCPConn, to string, sent *atomic.Int64) {
	defer conn.Close()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, conn) // ends with the connection
		_ = server.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(io.MultiWriter(conn, counter{sent}), server)
}

type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) { c.n.Add(int64(len(p))); return len(p), nil }

// sessionOf records a session of one step that writes a file.
func (f *fixture) sessionOf(id, file, content string) {
	f.Helper()
	all := session.New(f.repo())
	ctx := f.Context()
	if _, err := all.Begin(ctx, session.SessionBegin{ID: id}); err != nil {
		f.Fatal(err)
	}
	if _, err := all.AddMessage(ctx, session.MessageBegin{Session: id, Message: "m", Role: session.RoleUser}); err != nil {
		f.Fatal(err)
	}
	if _, err := all.BeginStep(ctx, session.StepBegin{Session: id, Message: "m", Step: "p"}); err != nil {
		f.Fatal(err)
	}
	f.write(file, content)
	if _, err := all.EndStep(ctx, session.StepEnd{Session: id, Step: "p"}); err != nil {
		f.Fatal(err)
	}
}

// packedObjects counts the objects of a store, and the bytes of its packs.
func packedObjects(t *testing.T, o *gittest.Oracle, store string) (objects, bytes int) {
	t.Helper()
	for line := range strings.Lines(o.In(store, "count-objects", "-v")) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, _ := strconv.Atoi(value)
		switch key {
		case "count", "in-pack":
			objects += n
		case "size", "size-pack":
			bytes += n << 10
		}
	}
	return objects, bytes
}

// TestFetchMovesOneSession: of many checkpoints, a fetch of the newest session moves those of its line
// and nothing else.
func TestFetchMovesOneSession(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	const checkpoints = 60
	for i := range checkpoints {
		f.write("log", noise(i, 10_000)) // bytes that do not compress
		f.track()
	}
	f.remove("log")
	f.sessionOf("last", "b", "2\n")
	f.push(dir)
	g := f.other()
	if _, _, err := g.repo().FetchSession(t.Context(), dir, "@"); err != nil {
		t.Fatal(err)
	}
	own := strings.TrimSpace(o.In(dir, "for-each-ref", "--format=%(refname)", "refs/cairn/"+cairn.ProjectID(f.repo().Root())+"/*/sessions/*"))
	want := strings.Count(o.In(dir, "rev-list", "--objects", own), "\n")
	objects, bytes := packedObjects(t, o, g.repo().StoreDir())
	if objects > want+4 || bytes > 100_000 { // a few of an empty store; the remote has 600 kB
		t.Errorf("moved %d objects, %d bytes; the session has %d objects", objects, bytes, want)
	}
	if _, bytes := packedObjects(t, o, dir); bytes < checkpoints*9_000 {
		t.Errorf("the remote has only %d bytes", bytes)
	}
}

// TestFleetOnOneRemote: beside the refs of many other projects, list and fetch receive what they receive
// from a remote without them.
func TestFleetOnOneRemote(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	f.sessionOf("s", "b", "2\n")
	costs := make(map[int][]int64)
	for _, refs := range []int{0, 20_000} {
		dir := bareRepository(t, o)
		f.push(dir)
		id := strings.Fields(o.In(dir, "for-each-ref", "--count=1", "--format=%(objectname)", "refs/cairn/"))[0]
		var b strings.Builder
		for i := range refs {
			fmt.Fprintf(&b, "create refs/cairn/%016x/%016x/tracks/%d %s\n", i%200, i%1000, i, id)
		}
		o.Feed(dir, b.String(), "update-ref", "--stdin")
		o.In(dir, "pack-refs", "--all")
		url, sent := counted(t, o, filepath.Dir(dir))
		url += filepath.Base(dir)
		g := f.other()
		for _, call := range []func() error{
			func() error { _, err := g.repo().ListRemote(t.Context(), url, false); return err },
			func() error { _, _, err := g.repo().FetchSession(t.Context(), url, "@"); return err },
		} {
			before := sent.Load()
			if err := call(); err != nil {
				t.Fatal(err)
			}
			costs[refs] = append(costs[refs], sent.Load()-before)
		}
	}
	for i, call := range []string{"list", "fetch of a session"} {
		alone, beside := costs[0][i], costs[20_000][i]
		if alone == 0 || beside > 2*alone {
			t.Errorf("%s: %d bytes beside a fleet, %d without", call, beside, alone)
		}
	}
}
