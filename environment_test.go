package cairn_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// The rows of the failure table that concern locks, crashes and the environment.

// TestMain lets the test binary stand in for another process.
func TestMain(m *testing.M) {
	if root := os.Getenv("CAIRN_TEST_TRACK_ROOT"); root != "" {
		os.Exit(trackAsProcess(root))
	}
	if command := os.Getenv("CAIRN_TEST_COMMAND"); command != "" {
		os.Exit(commandAsProcess(command))
	}
	gittest.Prepare()
	// Runs are repeatable; -rapid.seed=N explores, -rapid.checks=N goes on for longer.
	checks := "30"
	if gittest.Full() {
		checks = "100"
	}
	for name, value := range map[string]string{"rapid.seed": "7", "rapid.checks": checks} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "cairn-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	lender.dir, looseLender.dir = filepath.Join(dir, "lender"), filepath.Join(dir, "loose lender")
	return m.Run()
}

// trackAsProcess edits a file of its own and tracks, eight times over.
func trackAsProcess(root string) int {
	r, err := cairn.Open(cairn.Options{Root: root, DataDir: os.Getenv("CAIRN_TEST_DATA"), NoSync: true})
	if err != nil {
		fmt.Println("open:", err)
		return 1
	}
	defer r.Close()
	own := os.Getenv("CAIRN_TEST_NAME")
	for i := range 8 {
		text := fmt.Sprint(own, " ", i)
		if err := os.WriteFile(filepath.Join(root, own), []byte(text), 0o644); err != nil {
			fmt.Println(err)
			return 1
		}
		got, err := r.Track(background, cairn.TrackOptions{})
		if err != nil {
			fmt.Println("track:", err)
			return 1
		}
		if err := checkContent(r, got.Hash, own, text); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("ok", got.Hash)
	}
	return 0
}

func checkContent(r *cairn.Repo, hash, path, want string) error {
	size, rc, err := r.OpenFile(background, hash, path)
	if err != nil {
		return err
	}
	defer rc.Close()
	buf := make([]byte, size)
	if _, err := rc.Read(buf); err != nil && string(buf) != want {
		return err
	}
	if string(buf) != want {
		return fmt.Errorf("%s at %s is %q, want %q: a stale tree", path, hash, buf, want)
	}
	return nil
}

func TestR87_EightProcessesEightTracks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"shared": gittest.File("s")})
	var procs []*exec.Cmd
	var outs []*strings.Builder
	for i := range 8 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CAIRN_TEST_TRACK_ROOT="+f.root, "CAIRN_TEST_DATA="+f.data, fmt.Sprint("CAIRN_TEST_NAME=file", i))
		out := &strings.Builder{}
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		procs, outs = append(procs, cmd), append(outs, out)
	}
	succeeded := 0
	for i, cmd := range procs {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v\n%s", i, err, outs[i])
		}
		succeeded += strings.Count(outs[i].String(), "ok ")
	}
	if succeeded != 64 {
		t.Errorf("%d of 64 tracks succeeded", succeeded)
	}
	gittest.NewOracle(t).Fsck(f.repo().StoreDir())
}

func TestR86_ForeignLockFilesDoNotMatter(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("one")})
	first := f.trackAll()
	for _, name := range []string{"index.lock", "HEAD.lock", "config.lock", "gc.pid", "packed-refs.lock"} {
		if err := os.WriteFile(filepath.Join(f.repo().StoreDir(), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f.write("a", "two")
	if second := f.trackAll(); second == first {
		t.Error("stale hash")
	}
}

func TestR88_LockHeldByTheLivingIsRespected(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("one")})
	f.trackAll()
	holder := f.repo()
	entered, leave := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		var once sync.Once
		slow := func(cairn.Progress) {
			once.Do(func() { close(entered) })
			<-leave
		}
		opt := f.opt
		opt.Progress = slow
		r, err := cairn.Open(opt)
		if err == nil {
			_, err = r.Track(background, cairn.TrackOptions{})
			err = errors.Join(err, r.Close())
		}
		done <- err
	}()
	<-entered
	f.opt.LockTimeout = 20 * time.Millisecond
	_, err := f.repo().Track(background, cairn.TrackOptions{})
	assertError(t, err, cairn.ErrLocked)
	if err != nil && !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("the error does not name the holder: %v", err)
	}
	close(leave)
	if err := <-done; err != nil {
		t.Errorf("the holder was disturbed: %v", err)
	}
	if _, err := holder.Track(background, cairn.TrackOptions{}); err != nil {
		t.Errorf("after the lock was released: %v", err)
	}
}

func TestR90_DamagedStatCache(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a"), "d/b": gittest.File("b")})
	want := f.trackAll()
	path := filepath.Join(f.repo().StoreDir(), "cairn", "index")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range [][]byte{nil, whole[:len(whole)/2], whole[:7], []byte("garbage"), append([]byte{whole[0] ^ 1}, whole[1:]...), append(append([]byte{}, whole...), 0)} {
		if err := os.WriteFile(path, damage, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := f.trackAll(); got != want {
			t.Errorf("with %d damaged bytes: %s, want %s", len(damage), got, want)
		}
	}
}

func TestR91_HalfMadeStore(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a")})
	store := cairn.StorePath(f.data, mustEval(t, f.root))
	if err := os.MkdirAll(filepath.Join(store, "objects"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := cairn.Open(f.opt)
	if err == nil {
		f.trackAll() // repaired
		return
	}
	assertError(t, err, cairn.ErrStore)
	if !strings.Contains(err.Error(), store) {
		t.Errorf("the error does not name the store: %v", err)
	}
}

func TestR99_R100_EnvironmentIsNotInherited(t *testing.T) {
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("one"), "b": gittest.File("b")})
	o.Init(f.root)
	o.Commit(f.root, "first")
	hooks := filepath.Join(t.TempDir(), "hooks")
	gittest.Create(t, hooks, gittest.Tree{"post-checkout": gittest.Exec("#!/bin/sh\ntouch " + f.path("ran") + "\n")})
	home := t.TempDir()
	gittest.Create(t, home, gittest.Tree{".gitconfig": gittest.File("[core]\n\thooksPath = " + hooks + "\n[commit]\n\tgpgSign = true\n[diff]\n\texternal = false\n")})
	for name, value := range map[string]string{
		"GIT_DIR": f.path(".git"), "GIT_INDEX_FILE": f.path(".git/index"), "GIT_WORK_TREE": "/nowhere", "GIT_OBJECT_DIRECTORY": f.path(".git/objects"),
		"GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig"), "GIT_EXTERNAL_DIFF": "false", "PATH": "",
	} {
		t.Setenv(name, value)
	}
	f.opt.Home = home
	want := gittest.Manifest(t, f.path(".git"), gittest.WantTimes)
	before := f.trackAll()
	f.write("a", "two")
	f.remove("b")
	if err := f.repo().Diff(background, &strings.Builder{}, before, "", cairn.DiffOptions{}); err != nil {
		t.Error(err)
	}
	f.restoreAll(before)
	if f.read("a") != "one" || f.read("b") != "b" || f.exists("ran") {
		t.Error("not restored, or a hook ran")
	}
	gittest.AssertEqual(t, ".git", want, gittest.Manifest(t, f.path(".git"), gittest.WantTimes))
}

func TestR101_R103_StateOfTheUsersIndex(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("base"), "forced.log": gittest.File("f"), ".gitignore": gittest.File("*.log\n")})
	o.Init(f.root)
	o.In(f.root, "add", "-f", ".")
	o.In(f.root, "commit", "-qm", "base")
	o.In(f.root, "checkout", "-qb", "side")
	f.write("a", "side")
	o.In(f.root, "commit", "-qam", "side")
	o.In(f.root, "checkout", "-q", "main")
	f.write("a", "main")
	o.In(f.root, "commit", "-qam", "main")
	o.Try(f.root, "merge", "side") // conflicts
	for _, change := range [][]string{nil, {"update-index", "--split-index"}, {"update-index", "--index-version", "4"}, {"update-index", "--untracked-cache"}} {
		if change != nil {
			o.Try(f.root, change...)
		}
		got := f.track()
		if ok, err := f.repo().Exists(background, got.Hash, "forced.log"); !ok || err != nil {
			t.Errorf("%v: tracked although ignored: %v, %v", change, ok, err)
		}
	}
	os.WriteFile(f.path(".git/index"), []byte("DIRC garbage"), 0o644)
	f.write("a", "resolved")
	if got := readAt(t, f, f.trackAll(), "a"); got != "resolved" {
		t.Errorf("with a damaged index of the user's: %q", got)
	}
}

func TestR106_IdentityOfRoots(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a")})
	want := f.trackAll()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(f.root, link); err != nil {
		t.Skip(err)
	}
	through := &fixture{T: t, root: link, data: f.data, opt: cairn.Options{Root: link, DataDir: f.data}}
	if got := through.trackAll(); got != want || through.repo().StoreDir() != f.repo().StoreDir() {
		t.Error("a symlink to the root has another store")
	}
	other := filepath.Join(t.TempDir(), "other")
	os.Rename(f.repo().StoreDir(), cairn.StorePath(f.data, mustMkdir(t, other)))
	_, err := cairn.Open(cairn.Options{Root: other, DataDir: f.data})
	assertError(t, err, cairn.ErrStore)
	if err != nil && !strings.Contains(err.Error(), f.root) {
		t.Errorf("the error does not say whose store it is: %v", err)
	}
}

func mustMkdir(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return mustEval(t, path)
}

func TestR28_LinkedWorktree(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("a")})
	o.Init(f.root)
	o.Commit(f.root, "first")
	linked := filepath.Join(t.TempDir(), "linked")
	o.In(f.root, "worktree", "add", "-q", linked)
	f.write(".git/info/exclude", "*.info\n")
	w := &fixture{T: t, root: linked, data: f.data, opt: cairn.Options{Root: linked, DataDir: f.data}}
	w.write("x.info", "ignored by the common exclude file")
	w.write("b.log", "forced")
	w.write(".gitignore", "*.log\n")
	o.In(linked, "add", "-f", "b.log")
	main, before := f.track(), w.track()
	if ok, _ := w.repo().Exists(background, before.Hash, "x.info"); ok {
		t.Error("info/exclude of the common directory does not count")
	}
	if ok, _ := w.repo().Exists(background, before.Hash, "b.log"); !ok {
		t.Error("the worktree's own index does not count")
	}
	w.write("a", "changed in the worktree")
	if got := f.patch(main.Hash); len(got) != 0 {
		t.Errorf("the main worktree sees %q", got)
	}
	w.restoreAll(before.Hash)
}

func TestR108_StoreInsideTheRoot(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a")})
	f.data = f.path(".cairn/data")
	f.opt.DataDir = f.data
	before := f.track()
	if before.Files != 1 {
		t.Errorf("captured %d files", before.Files)
	}
	f.write("a", "b")
	f.write("new", "n")
	f.restoreAll(before.Hash)
	if again := f.track(); again.Hash != before.Hash {
		t.Error("the store was captured, or the restore is not exact")
	}
	for _, bad := range []cairn.Options{
		{Root: f.root, DataDir: f.root}, {Root: f.data, DataDir: f.data}, {Root: filepath.Join(f.data, "snapshot"), DataDir: f.data, MustExist: true},
		{Root: f.path("a"), DataDir: f.data}, {Root: f.path("none"), DataDir: f.data}, {DataDir: f.data},
	} {
		if _, err := cairn.Open(bad); err == nil {
			t.Errorf("opened %+v", bad)
		}
	}
	_, err := cairn.Open(cairn.Options{Root: f.root})
	assertError(t, err, cairn.ErrStore)
}

func TestR109_DataDirectoryCannotBeWritten(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a")})
	if err := os.WriteFile(f.data, []byte("a file"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := cairn.Open(f.opt)
	assertError(t, err, cairn.ErrStore)
	if err != nil && !strings.Contains(err.Error(), f.data) {
		t.Errorf("the error does not name the directory: %v", err)
	}
}

func TestStorePermissions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a")})
	f.trackAll()
	f.write("a", "b")
	f.restoreAll("@")
	for path, e := range gittest.Manifest(t, f.data) {
		if e.Perm&0o077 != 0 {
			t.Errorf("%s: %v", path, e)
		}
	}
}

func TestResultJSON(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a\xff": gittest.File("a")})
	before := f.trackAll()
	f.write("a\xff", "b")
	data, err := json.Marshal(f.restore(before))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"operation", "restored", "deleted", "kept", "conflicts"} {
		if got[key] == nil {
			t.Errorf("%s is missing or null in %s", key, data)
		}
	}
	if list := got["restored"].([]any); len(list) != 1 || list[0] != "a\x00ff" {
		t.Errorf("restored %q", list)
	}
}
