package cairn_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// in is the fixture of another directory with the same data.
func (f *fixture) in(dir string) *fixture {
	f.Helper()
	o := &fixture{T: f.T, root: dir, data: f.data, opt: f.opt}
	o.opt.Root = dir
	return o
}

func (f *fixture) fork(dir string, opt cairn.ForkOptions) (*fixture, *cairn.ForkResult) {
	f.Helper()
	res, err := f.repo().Fork(f.Context(), dir, opt)
	if err != nil {
		f.Fatal(err)
	}
	return f.in(dir), res
}

// TestFork: a fork has the present state and the history. Undo, log and diff work there at once, and
// neither directory shows in the other.
func TestFork(t *testing.T) {
	t.Parallel()
	f := newFixture(t, copiedTree)
	first := f.trackAll()
	f.write("a", "two\n")
	f.track()
	f.restore(first)
	f.write("a", "three, not tracked\n")
	want := f.manifest()
	k, res := f.fork(copyPlace(t), cairn.ForkOptions{})
	gittest.AssertEqual(t, "the fork", want, k.manifest())
	if string(res.Dir) != k.root || string(res.Store) != cairn.StorePath(f.data, k.root) || res.PacksLinked.Files == 0 || res.PacksCopied.Files > 0 || !res.Complete() {
		t.Errorf("%+v", res)
	}
	here, there := f.track(), k.track()
	if here.Checkpoint != there.Checkpoint || there.Changed != 0 {
		t.Errorf("here %+v, there %+v", here, there)
	}
	if text := readAt(t, k, first, "a"); text != "one\n" {
		t.Errorf("history: %q", text)
	}
	k.write("a", "of the fork\n")
	if files := k.patch(here.Hash); !slices.Equal(files, []string{"a"}) {
		t.Errorf("changed in the fork: %v", files)
	}
	merged, err := f.repo().Merge(t.Context(), cairn.MergeSource{Repo: k.repo()}, cairn.MergeOptions{DryRun: true})
	if err != nil || merged.Base != here.Checkpoint || len(merged.Plan) != 1 {
		t.Errorf("merge: %+v %v", merged, err)
	}
	if _, err := k.repo().Undo(t.Context(), cairn.RevertOptions{OnConflict: cairn.Overwrite}); err != nil {
		t.Error(err)
	}
	if text, _ := os.ReadFile(k.path("a")); string(text) != "two\n" {
		t.Errorf("after an undo in the fork: %q", text)
	}
	gittest.AssertEqual(t, "the root", want, f.manifest())
	for _, dir := range []string{f.root, k.root} {
		gittest.NewOracle(t).Fsck(cairn.StorePath(f.data, dir))
	}
}

// TestForkWithoutSymlinks: a fork where no symlink can be made lists them, and neither a merge of it nor one of its own
// fork takes them for deleted.
func TestForkWithoutSymlinks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{
		"a": gittest.File("one\n"), "link": gittest.Link("a"), "d/link": gittest.Link("../a"), "d/taken": gittest.Link("../a"), "file/link": gittest.Link("../a"),
	})
	f.trackAll()
	here := gittest.LinklessDir(t)
	k, res := f.fork(filepath.Join(here, "fork"), cairn.ForkOptions{})
	var lacks []string
	for _, c := range res.Conflicts {
		lacks = append(lacks, string(c.Path))
	}
	if !slices.Equal(lacks, []string{"d/link", "d/taken", "file/link", "link"}) {
		t.Errorf("not made: %+v", res.Conflicts)
	}
	second, _ := k.fork(filepath.Join(here, "second"), cairn.ForkOptions{})
	for _, from := range []*fixture{k, second} {
		from.write("a", "two\n"+from.root)
		from.write("d/taken/file", "a directory now\n")
		from.remove("file")
		from.write("file", "a file now\n")
		compared, err := f.repo().Compare(t.Context(), []cairn.MergeSource{{Repo: from.repo()}}, cairn.CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range compared.Sources[0].Files {
			if strings.HasSuffix(string(file.File), "link") && file.File != "file/link" {
				t.Errorf("compared: %+v", file)
			}
		}
		if _, err := f.repo().Merge(t.Context(), cairn.MergeSource{Repo: from.repo()}, cairn.MergeOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, link := range []string{"link", "d/link"} {
			if _, err := os.Readlink(f.path(link)); err != nil {
				t.Errorf("merged: %v", err)
			}
		}
		f.undo(cairn.RevertOptions{})
	}
}

// TestForkReadsNothing: the first capture of a fork finds a stat cache.
func TestForkReadsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, copiedTree)
	f.track()
	k, _ := f.fork(copyPlace(t), cairn.ForkOptions{})
	if _, err := os.Stat(filepath.Join(cairn.StorePath(f.data, k.root), "cairn", "index")); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"forking"} {
		if _, err := os.Stat(filepath.Join(cairn.StorePath(f.data, k.root), "cairn", name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestForkOfAFork: histories of three directories, and no store needs another one.
func TestForkOfAFork(t *testing.T) {
	t.Parallel()
	f := newFixture(t, copiedTree)
	first := f.trackAll()
	k, _ := f.fork(copyPlace(t), cairn.ForkOptions{})
	k.write("a", "of the first fork\n")
	second := k.trackAll()
	g, _ := k.fork(copyPlace(t), cairn.ForkOptions{})
	gittest.AssertEqual(t, "the fork of the fork", k.manifest(), g.manifest())
	for _, dir := range []string{f.root, k.root} {
		if err := os.RemoveAll(cairn.StorePath(f.data, dir)); err != nil {
			t.Fatal(err)
		}
	}
	g.restoreAll(first)
	g.restoreAll(second)
	if faults, err := g.repo().Check(t.Context(), cairn.CheckOptions{}); err != nil || len(faults) > 0 {
		t.Errorf("%v %v", faults, err)
	}
}

// TestForkSessionWithSubAgents: a fork of a session begins with what a sub-agent did after it.
func TestForkSessionWithSubAgents(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	all := session.New(f.repo())
	step := func(id, path string) {
		t.Helper()
		if _, err := all.BeginStep(t.Context(), session.StepBegin{Session: id, Message: "m-" + path, Step: path, Role: session.RoleUser}); err != nil {
			t.Fatal(err)
		}
		f.write(path, path)
		if _, err := all.EndStep(t.Context(), session.StepEnd{Session: id, Step: path}); err != nil {
			t.Fatal(err)
		}
	}
	step("s", "b")
	if _, err := all.Begin(t.Context(), session.SessionBegin{ID: "kid", Parent: "s"}); err != nil {
		t.Fatal(err)
	}
	step("kid", "c")
	then := f.manifest()
	step("other", "d")
	at := copyPlace(t)
	if _, err := answers.Fork(t.Context(), f.repo(), at, cairn.ForkOptions{Session: "s"}); err != nil {
		t.Fatal(err)
	}
	gittest.AssertEqual(t, "the fork", then, gittest.Manifest(t, at))
	if _, err := all.NewestState(t.Context(), "none"); !errors.Is(err, cairn.ErrNotFound) {
		t.Error(err)
	}
}

// TestForkSession: a fork of a session has its newest state, and an undo there leads to the present one.
func TestForkSession(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
	all := session.New(f.repo())
	step := func(id, path, text string) {
		t.Helper()
		if _, err := all.BeginStep(t.Context(), session.StepBegin{Session: id, Message: "m" + text, Step: text, Role: session.RoleUser}); err != nil {
			t.Fatal(err)
		}
		f.write(path, text)
		if _, err := all.EndStep(t.Context(), session.StepEnd{Session: id, Step: text}); err != nil {
			t.Fatal(err)
		}
	}
	step("s", "a", "of s\n")
	then := f.manifest()
	step("other", "b", "of other\n")
	f.write("a", "mine\n")
	f.write("new", "mine\n")
	now := f.manifest()
	k, res := f.fork(copyPlace(t), cairn.ForkOptions{Session: "s"})
	gittest.AssertEqual(t, "the fork", then, k.manifest())
	if res.Session != "s" {
		t.Errorf("%+v", res)
	}
	there := session.New(k.repo())
	turn, err := there.Turn(t.Context(), "s", "")
	if err != nil || len(turn.Steps()) != 1 || !slices.Equal(turn.Steps()[0].Patch.Files, cairn.Paths{filepath.ToSlash(k.path("a"))}) {
		t.Errorf("session in the fork: %+v %v", turn, err)
	}
	if files := k.patch("@"); len(files) > 0 {
		t.Errorf("%v differ from the newest checkpoint", files)
	}
	if _, err := k.repo().Undo(t.Context(), cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	gittest.AssertEqual(t, "the fork after an undo", now, k.manifest())
	if _, err := k.repo().Redo(t.Context(), cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := there.Revert(t.Context(), "s", session.Target{Start: true}, session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(k.path("a")); string(text) != "1\n" {
		t.Errorf("after a revert in the fork: %q", text)
	}
	gittest.AssertEqual(t, "the root", now, f.manifest())
	k.write("c", "new in the fork\n")
	merged, err := f.repo().Merge(t.Context(), cairn.MergeSource{Repo: k.repo()}, cairn.MergeOptions{DryRun: true})
	if err != nil || len(merged.Plan) != 1 {
		t.Errorf("merge: %+v %v", merged, err)
	}
	for _, id := range []string{"none", ""} {
		_, err := f.repo().Fork(t.Context(), copyPlace(t), cairn.ForkOptions{Session: id})
		if (id == "") != (err == nil) || err != nil && !errors.Is(err, cairn.ErrNotFound) {
			t.Errorf("session %q: %v", id, err)
		}
	}
}

// TestForkOfSeveralRoots: a session of two directories is not forked, and what was done in both goes back
// in the fork alone.
func TestForkOfSeveralRoots(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	o := f.in(filepath.Join(t.TempDir(), "other"))
	gittest.Create(t, o.root, gittest.Tree{"o": gittest.File("1\n")})
	all := session.New(f.repo())
	if _, err := all.Begin(t.Context(), session.SessionBegin{ID: "s", Further: []string{o.root}}); err != nil {
		t.Fatal(err)
	}
	if _, err := all.BeginStep(t.Context(), session.StepBegin{Session: "s", Message: "m", Step: "1", Role: session.RoleUser}); err != nil {
		t.Fatal(err)
	}
	f.write("a", "2\n")
	o.write("o", "2\n")
	if _, err := all.EndStep(t.Context(), session.StepEnd{Session: "s", Step: "1"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := all.Revert(t.Context(), "s", session.Target{Start: true}, session.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.repo().Fork(t.Context(), copyPlace(t), cairn.ForkOptions{Session: "s"}); !errors.Is(err, cairn.ErrPlace) {
		t.Errorf("%v", err)
	}
	k, res := f.fork(copyPlace(t), cairn.ForkOptions{})
	if len(res.NotForked) != 1 || res.NotForked[0] != "s" {
		t.Errorf("%+v", res)
	}
	if _, err := session.New(k.repo()).Get(t.Context(), "s"); !errors.Is(err, cairn.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := k.repo().Undo(t.Context(), cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{k.path("a"): "2\n", f.path("a"): "1\n", o.path("o"): "1\n"} {
		if text, _ := os.ReadFile(path); string(text) != want {
			t.Errorf("%s: %q, want %q", path, text, want)
		}
	}
}

// TestForkPlaces: inside the root only where the root ignores it, and nowhere that a checkout refuses.
func TestForkPlaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("/forks/\n/alone\n"), "forks": gittest.Dir(), "sub": gittest.Dir(), "a": gittest.File("a")})
	base := t.TempDir()
	gittest.Create(t, base, gittest.Tree{"full/x": gittest.File("x"), "file": gittest.File("x")})
	for what, dir := range map[string]string{
		"not empty": filepath.Join(base, "full"), "a file": filepath.Join(base, "file"), "no parent": filepath.Join(base, "no", "where"), "the root": f.root,
		"inside the root": f.path("sub/fork"), "the data": filepath.Join(f.data, "copy"), "nothing": "", "made beside": f.path("alone"),
	} {
		for _, dry := range []bool{true, false} {
			opt := cairn.ForkOptions{CheckoutOptions: cairn.CheckoutOptions{DryRun: dry}}
			if _, err := f.repo().Fork(t.Context(), dir, opt); !errors.Is(err, cairn.ErrPlace) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	if stores, err := cairn.Stores(f.data); err != nil || len(stores) != 1 {
		t.Errorf("%v %v", stores, err)
	}
	k, _ := f.fork(f.path("forks/one"), cairn.ForkOptions{})
	_, res := f.fork(f.path("forks/two"), cairn.ForkOptions{CheckoutOptions: cairn.CheckoutOptions{WithIgnored: true}})
	if res.Ignored.Files > 0 || len(res.LeftOut) != 1 || res.LeftOut[0].Path != "forks/one" {
		t.Errorf("a fork came along: %+v", res)
	}
	k.write("a", "of the fork")
	if got := f.track(); got.Changed != 0 {
		t.Errorf("the root sees %d changes", got.Changed)
	}
	if root, err := cairn.FindRootIn(k.root, f.data); err != nil || root != k.root {
		t.Errorf("the root of a fork is %s, %v", root, err)
	}
}

// TestForkInsideARepository: git's repository around a fork is another one's.
func TestForkInsideARepository(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("/.worktrees/\n"), "a": gittest.File("a"), "sub/b": gittest.File("b"), "sub/x.log": gittest.File("log")})
	if _, err := o.Try(f.root, "init", "-q"); err != nil {
		t.Fatal(err)
	}
	f.write(".git/info/exclude", "*.log\n")
	gittest.Create(t, f.root, gittest.Tree{".worktrees": gittest.Dir()})
	f.track()
	k, _ := f.fork(f.path(".worktrees/one"), cairn.ForkOptions{CheckoutOptions: cairn.CheckoutOptions{WithIgnored: true}})
	if got := k.track(); got.Changed != 0 || got.Files != 3 {
		t.Errorf("%+v", got)
	}
	if root, err := cairn.FindRootIn(k.path("sub"), f.data); err != nil || root != k.root {
		t.Errorf("the root of a fork is %s, %v", root, err)
	}
	k.write("sub/b", "changed")
	if got := k.track(); got.Changed != 1 {
		t.Errorf("%+v", got)
	}
	s := f.in(f.path("sub"))
	if got := s.track(); got.Files != 1 {
		t.Errorf("%+v", got)
	}
	below, _ := s.fork(copyPlace(t), cairn.ForkOptions{CheckoutOptions: cairn.CheckoutOptions{WithIgnored: true}})
	if got := below.track(); got.Files != 1 || got.Changed != 0 {
		t.Errorf("the rules above the root are lost: %+v", got)
	}
}

// TestForkAgentFiles: files for agents come along although they are ignored, unless the checkpoint has something
// in their place. Nothing else that is ignored does.
func TestForkAgentFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{
		".gitignore": gittest.File("*.local\n/all/\n/link\n/pipe.local/\n"), "a": gittest.File("a"), ".agent/hooks.local": gittest.File("hooks"),
		".agent/other.local": gittest.File("o"), ".agent/kept": gittest.File("kept"), "all/deep/er/hooks": gittest.Exec("x"), "all/other": gittest.File("o"),
		"real/x.local": gittest.File("x"), "link": gittest.Link("real"), "pipe.local/x": gittest.File("x"),
	})
	f.opt.AgentFiles = func(root string) []string {
		if root != f.root {
			t.Errorf("asked for %s", root)
		}
		return []string{".agent/hooks.local", ".agent/kept", "all/deep/er/hooks", "all/missing", "link/x.local", "pipe.local", "../out", "a/below"}
	}
	want := []string{".agent/hooks.local", "all/deep/er/hooks"}
	for _, opt := range []cairn.CheckoutOptions{{DryRun: true}, {}, {WithIgnored: true, Ignored: []string{"all/other"}}, {WithIgnored: true}} {
		dir := copyPlace(t)
		res, err := f.repo().Fork(t.Context(), dir, cairn.ForkOptions{CheckoutOptions: opt})
		if err != nil {
			t.Fatal(err)
		}
		carried := want
		if opt.WithIgnored && opt.Ignored == nil {
			carried = nil // they came with all others
		}
		if !slices.Equal([]string(res.AgentFiles), carried) || len(res.Conflicts) > 0 {
			t.Errorf("%+v: %+v", opt, res)
		}
		if opt.DryRun {
			continue
		}
		whole, got := f.manifest(), gittest.Manifest(t, dir)
		for path := range whole {
			_, there := got[path]
			if known := strings.Contains(path, "hooks"); known && !there || there && got[path] != whole[path] {
				t.Errorf("%+v: %s: %+v, want %+v", opt, path, got[path], whole[path])
			}
		}
		if _, there := got[".agent/other.local"]; there && !opt.WithIgnored {
			t.Error("another ignored file came along")
		}
		if res, err := f.repo().RemoveFork(t.Context(), dir, cairn.RemoveForkOptions{}); err != nil {
			t.Errorf("%+v: %v", res, err)
		}
	}
}

// TestForkTwice: the store of an earlier directory of the same name is never dropped once it has work of
// its own, not even with the mark of an unfinished fork.
func TestForkTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a")})
	dir := copyPlace(t)
	k, _ := f.fork(dir, cairn.ForkOptions{})
	store := cairn.StorePath(f.data, dir)
	refs, err := gittest.NewOracle(t).Try(store, "for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		t.Fatal(err)
	}
	var mark strings.Builder
	for ref := range strings.Lines(string(refs)) {
		if ref = strings.TrimSpace(ref); ref != "" && !strings.HasSuffix(ref, "refs/cairn/disk") {
			fmt.Fprintln(&mark, ref)
		}
	}
	again := func() error {
		t.Helper()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(store, "cairn", "forking"), []byte(mark.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := f.repo().Fork(t.Context(), dir, cairn.ForkOptions{})
		return err
	}
	if err := os.Remove(filepath.Join(store, "refs", "cairn", "disk")); err != nil {
		t.Fatal(err)
	}
	k.closeAll()
	if err := again(); err != nil {
		t.Errorf("a fork that was killed at its end: %v", err)
	}
	k.write("a", "work")
	k.track()
	k.closeAll()
	for range 2 {
		if err := again(); !errors.Is(err, cairn.ErrExists) {
			t.Errorf("work in the fork: %v", err)
		}
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
	}
}

// newForkRun is a fork in a process of its own, run over and over.
func newForkRun(t *testing.T) (c *crashRun, dir string) {
	t.Helper()
	c = newCrashRun(t)
	c.new = maps.Clone(c.old)
	delete(c.new, "big") // above the limit of size, so a fork does not have it
	return c, copyPlace(t)
}

func (c *crashRun) forkEnv(dir string) []string {
	return append(c.env("fork"), "CAIRN_TEST_DIR="+dir)
}

// wholeFork fails unless a fork is whole or absent.
func (c *crashRun) wholeFork(dir, when string) (there bool) {
	c.Helper()
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	k := c.in(dir)
	defer k.closeAll()
	gittest.AssertEqual(c.T, "the fork, "+when, c.new, k.manifest())
	c.oracle.Fsck(cairn.StorePath(c.data, dir))
	if text := readAt(c.T, k, c.before, "a"); text != "one\n" {
		c.Errorf("%s: history of the fork: %q", when, text)
	}
	return true
}

// TestForkKilled kills a fork before its write-type system calls: it is whole or absent, the root is as it
// was, and the next fork to the same directory works where there is none.
func TestForkKilled(t *testing.T) {
	t.Parallel()
	c, dir := newForkRun(t)
	gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
		c.reset()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		return gittest.KillAt(t, []string{os.Args[0]}, c.forkEnv(dir), gittest.WriteCalls, n)
	}, func(when string) {
		there := c.wholeFork(dir, when)
		gittest.AssertEqual(t, "the root, "+when, c.old, c.manifest())
		c.checkStore(when)
		if !there {
			if _, err := c.repo().Fork(t.Context(), dir, cairn.ForkOptions{}); err != nil {
				t.Fatalf("%s: the next fork: %v", when, err)
			}
			assertAlone(t, dir)
		}
		k := c.in(dir)
		k.write("a", "work in the fork\n")
		k.track()
		k.closeAll()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := c.repo().Fork(t.Context(), dir, cairn.ForkOptions{}); !errors.Is(err, cairn.ErrExists) {
			t.Errorf("%s: a later fork drops work: %v", when, err)
		}
		c.closeAll()
	})
	if !c.wholeFork(dir, "undisturbed") {
		t.Error("no fork")
	}
	gittest.AssertEqual(t, "the root, undisturbed", c.old, c.manifest())
	c.checkStore("undisturbed")
}

// TestForkWriteErrors lets one system call fail: either the fork succeeds, or it says so; the directory is
// whole or absent then, and with it goes a store.
func TestForkWriteErrors(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO} {
		t.Run(errno.Error(), func(t *testing.T) {
			t.Parallel()
			c, dir := newForkRun(t)
			fail := func(n int, errno syscall.Errno) gittest.Crash {
				c.reset()
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				return gittest.FailAt(t, []string{os.Args[0]}, c.forkEnv(dir), gittest.WriteCalls, n, errno)
			}
			gittest.Failed(t, []syscall.Errno{errno}, gittest.First(), gittest.Stride(), fail, func(when string, crash gittest.Crash) {
				if there := c.wholeFork(dir, when); crash.ExitCode == 0 && !there {
					t.Errorf("%s: success without a fork", when)
				} else if !there {
					if _, err := c.repo().Fork(t.Context(), dir, cairn.ForkOptions{}); err != nil {
						t.Errorf("%s: the next fork: %v", when, err)
					}
				}
				gittest.AssertEqual(t, "the root, "+when, c.old, c.manifest())
				c.closeAll()
			})
		})
	}
}
