package cairn_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// The rows of the failure table that concern captures. Each test does what the row
// says and fails when its fix is taken out.

func TestR01_NestedRepositoryWithoutCommit(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"a.txt": gittest.File("one\n")})
	o.Init(f.path("in"))
	f.write("in/f", "x\n")
	before := f.trackAll()
	f.write("a.txt", "two\n")
	if after := f.trackAll(); after == before {
		t.Error("the edit is not in the new hash")
	}
	f.restoreAll(before)
	if got := f.read("a.txt"); got != "one\n" {
		t.Errorf("a.txt holds %q", got)
	}
	if ok, err := f.repo().Exists(background, before, "in/f"); !ok || err != nil {
		t.Errorf("file of the nested repository captured: %v, %v", ok, err)
	}
}

func TestR02_NestedRepositoryWithCommits(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"in/f": gittest.File("one\n"), "in/.gitignore": gittest.File("*.log\n"), "in/x.log": gittest.File("log")})
	o.Init(f.path("in"))
	o.Commit(f.path("in"), "first")
	gitBefore := gittest.Manifest(t, f.path("in/.git"))
	before := f.trackAll()
	f.write("in/f", "two\n")
	if got := f.patch(before); !slices.Equal(got, []string{"in/f"}) {
		t.Errorf("patch %q", got)
	}
	f.restoreAll(before)
	if got := f.read("in/f"); got != "one\n" {
		t.Errorf("in/f holds %q", got)
	}
	if ok, _ := f.repo().Exists(background, before, "in/x.log"); ok {
		t.Error("the nested repository's own rules do not count")
	}
	gittest.AssertEqual(t, "the nested .git", gitBefore, gittest.Manifest(t, f.path("in/.git")))
}

func TestR03_FileVanishesWhileListed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"keep": gittest.File("k")})
	stop := churn(t, func(n int) {
		os.WriteFile(f.path("t"), nil, 0o644)
		os.Mkdir(f.path("d"), 0o755)
		os.WriteFile(f.path("d/x"), []byte("x"), 0o644)
		os.RemoveAll(f.path("d"))
		os.Remove(f.path("t"))
	})
	for range 50 {
		f.track()
	}
	stop()
	f.write("keep", "changed")
	before := f.trackAll()
	if got := readAt(t, f, before, "keep"); got != "changed" {
		t.Errorf("keep at the checkpoint: %q", got)
	}
}

func TestR04_UnreadableFile(t *testing.T) {
	if os.Geteuid() == 0 {
		rerunAsUser(t)
		return
	}
	f := newFixture(t, gittest.Tree{"a.txt": gittest.File("one"), "s": gittest.File("secret"), "dir/in": gittest.File("in")})
	first := f.trackAll()
	for _, name := range []string{"s", "dir"} {
		if err := os.Chmod(f.path(name), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(f.path("dir"), 0o755) })
	f.write("a.txt", "two")
	got := f.track()
	skippedAs(t, got.Skipped, "s", "unreadable")
	skippedAs(t, got.Skipped, "dir", "unreadable")
	if got.Reasons["s"] == nil {
		t.Error("the system's answer is missing")
	}
	if text := readAt(t, f, got.Hash, "a.txt"); text != "two" {
		t.Errorf("a.txt at the checkpoint: %q", text)
	}
	if names := f.patch(first); !slices.Equal(names, []string{"a.txt"}) {
		t.Errorf("what could not be read counts as changed: %q", names)
	}
	os.Chmod(f.path("s"), 0o600)
	os.Chmod(f.path("dir"), 0o755)
	res := f.restore(got.Hash)
	if !f.exists("s") || !f.exists("dir/in") {
		t.Errorf("going back deleted what it had not captured: %+v", res)
	}
}

func TestR05_FileRewrittenWhileRead(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	f := newFixture(t, gittest.Tree{"quiet": gittest.File("q")})
	block := strings.Repeat("0123456789abcdef", 4096)
	stop := churn(t, func(n int) {
		os.WriteFile(f.path("busy"), []byte(fmt.Sprint(n, block)), 0o644)
	})
	sawBusy := false
	for range 20 {
		got := f.track()
		for _, s := range got.Skipped {
			sawBusy = true
			if s.Path != "busy" || s.Reason != "unstable" {
				t.Errorf("skipped %+v", s)
			}
		}
		if len(got.Skipped) == 0 {
			if ok, _ := f.repo().Exists(background, got.Hash, "busy"); ok {
				checkWhole(t, readAt(t, f, got.Hash, "busy"), block)
			}
		}
		if text := readAt(t, f, got.Hash, "quiet"); text != "q" {
			t.Fatalf("quiet: %q", text)
		}
	}
	stop()
	t.Logf("reported as unstable: %v", sawBusy)
	f.trackAll()
}

// checkWhole fails for a mixture of two versions of the busy file. Truncation to
// nothing or a part is a state that the file really had.
func checkWhole(t *testing.T, text, block string) {
	t.Helper()
	digits := strings.IndexByte(text, '0')
	if len(text) > len(block) && !strings.HasSuffix(text, block) || digits < 0 && text != "" && len(text) > 20 {
		t.Errorf("captured a state that never was: %d bytes", len(text))
	}
}

func TestR06_NamesThatJSONCannotCarry(t *testing.T) {
	t.Parallel()
	names := []string{"a\xffb", "\xff", "nul", "aux.txt", "a\xc3", "\xed\xa0\x80", "日本\xe6"}
	tree := gittest.Tree{}
	for _, n := range names {
		tree[n] = gittest.File(n)
	}
	f := newFixture(t, tree)
	before := f.trackAll()
	for _, n := range names {
		f.write(n, "changed")
	}
	state := f.manifest()
	p, err := f.repo().Patch(background, before, "")
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back cairn.Patch
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(back.Files, p.Files) || len(p.Files) != len(names) {
		t.Errorf("%q came back as %q", p.Files, back.Files)
	}
	if res := f.revert(back); !res.Complete() {
		t.Errorf("%+v", res)
	}
	gittest.AssertTree(t, f.root, tree)
	_ = state
}

func TestR07_NamesWithTabsNewlinesQuotesAndBlanks(t *testing.T) {
	t.Parallel()
	names := []string{"t\tab", "new\nline", `quo"te`, " lead", "trail ", "back\\slash", "-rf", ":(top)x", "*", "[a]", "\x01", "\x7f", strings.Repeat("n", 255)}
	tree := gittest.Tree{}
	for _, n := range names {
		tree[n] = gittest.File(n)
	}
	f := newFixture(t, tree)
	before := f.trackAll()
	for _, n := range names {
		f.write(n, "changed")
	}
	f.remove(" lead")
	f.write("lead", "not the same file")
	want := append(slices.Clone(names), "lead")
	slices.Sort(want)
	if got := f.patch(before); !slices.Equal(got, want) {
		t.Errorf("patch\n%q, want\n%q", got, want)
	}
	f.restoreAll(before)
	gittest.AssertTree(t, f.root, tree)
}

func TestR09_ScopeIsTheWholeRoot(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"pkg/p": gittest.File("p1"), "other/o": gittest.File("o1")})
	o.Init(f.root)
	root, err := cairn.FindRoot(f.path("pkg"))
	if err != nil || root != mustEval(t, f.root) {
		t.Fatalf("root of pkg: %s, %v", root, err)
	}
	before := f.trackAll()
	f.write("other/o", "o2")
	if got := f.patch(before); !slices.Equal(got, []string{"other/o"}) {
		t.Errorf("patch %q", got)
	}
	if got := readAt(t, f, f.trackAll(), "other/o"); got != "o2" {
		t.Errorf("sibling is stale: %q", got)
	}
}

func TestR10_LargeUntrackedFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"at": gittest.File(strings.Repeat("x", 1000)), "over": gittest.File(strings.Repeat("x", 1001))})
	f.opt.MaxFileSize = 1000
	got := f.track()
	skippedAs(t, got.Skipped, "over", "too large")
	if len(got.Skipped) != 1 || got.Skipped[0].Size != 1001 || got.Files != 1 {
		t.Errorf("%+v", got)
	}
	f.opt.MaxFileSize = cairn.NoLimit
	if unlimited := f.track(); len(unlimited.Skipped) != 0 || unlimited.Files != 2 {
		t.Errorf("without a limit: %+v", unlimited)
	}
}

func TestR11_LargeFileWithWildcardName(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"[ab].bin": gittest.File(strings.Repeat("x", 2000)), "a.bin": gittest.File("a"), "b.bin": gittest.File("b")})
	f.opt.MaxFileSize = 1000
	got := f.track()
	if len(got.Skipped) != 1 || got.Files != 2 {
		t.Errorf("%+v", got)
	}
}

func TestR12_TrackedAlthoughIgnored(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{
		".gitignore": gittest.File("*.log\nbuild/\n.env\n"), "x.log": gittest.File("one"), "y.log": gittest.File("y"),
		"build/kept": gittest.File("one"), "build/out": gittest.File("out"), ".env": gittest.File("KEY=1"),
	})
	o.Init(f.root)
	o.In(f.root, "add", "-f", "x.log", "build/kept")
	before := f.trackAll()
	f.write("x.log", "two")
	f.write("build/kept", "two")
	f.write("y.log", "yy")
	f.write(".env", "KEY=2")
	if got := f.patch(before); !slices.Equal(got, []string{"build/kept", "x.log"}) {
		t.Errorf("patch %q", got)
	}
	f.restoreAll(before)
	if f.read("x.log") != "one" || f.read("build/kept") != "one" {
		t.Error("tracked files did not come back")
	}
	if f.read(".env") != "KEY=2" || f.read("build/out") != "out" || f.read("y.log") != "yy" {
		t.Error("ignored files were touched")
	}
	f.remove("x.log")
	f.remove("build")
	f.trackAll()
	f.write("x.log", "three")
	f.write("build/kept", "three")
	f.opt.Include = []string{".env*"}
	hash := f.trackAll()
	for _, name := range []string{"x.log", "build/kept", ".env"} {
		if ok, err := f.repo().Exists(background, hash, name); !ok || err != nil {
			t.Errorf("%s: captured %v, %v", name, ok, err)
		}
	}
}

func TestR13_AgentAddsAnIgnoreRule(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"src/a": gittest.File("one")})
	before := f.trackAll()
	f.write(".gitignore", "src/\n")
	f.write("src/a", "two")
	f.write("src/new", "not known before, so the rule counts")
	if got := f.patch(before); !slices.Equal(got, []string{".gitignore", "src/a"}) {
		t.Errorf("patch %q", got)
	}
	f.track()
	// The stat cache may go; what the last capture held stays captured.
	removeIndex(t, f)
	if got := readAt(t, f, f.trackAll(), "src/a"); got != "two" {
		t.Errorf("src/a without a stat cache: %q", got)
	}
	f.restore(before)
	if got := f.read("src/a"); got != "one" {
		t.Errorf("src/a holds %q", got)
	}
}

func TestR14_RulesFromEverywhere(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	home := t.TempDir()
	gittest.Create(t, home, gittest.Tree{
		".gitconfig": gittest.File("[core]\n\texcludesFile = ~/global\n"), "global": gittest.File("*.global\n"),
	})
	f := newFixture(t, gittest.Tree{
		".gitignore": gittest.File("\ufeff*.bom\r\n*.cr\r\n"), "sub/.gitignore": gittest.File("*.sub\n!keep.bom\n"),
		"linked/target": gittest.File("*.linked\n"), "linked/.gitignore": gittest.Link("target"),
		"x.bom": gittest.File(""), "x.cr": gittest.File(""), "x.global": gittest.File(""), "x.info": gittest.File(""), "x.sub": gittest.File(""),
		"sub/x.sub": gittest.File(""), "sub/keep.bom": gittest.File(""), "linked/x.linked": gittest.File(""),
	})
	o.Init(f.root)
	f.write(".git/info/exclude", "*.info\n")
	f.opt.Home = home
	oracle := gittest.NewOracle(t)
	oracle.ExcludesFile = filepath.Join(home, "global")
	if got, want := f.trackAll(), oracle.WriteTree(f.root); got != want {
		t.Errorf("tree %s, git has %s", got, want)
	}
}

func TestR16_R17_BytesAsTheyLie(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	tree := gittest.Tree{
		".gitattributes": gittest.File("* text=auto eol=lf\n*.id ident\n*.big filter=lfs diff=lfs\n*.u16 working-tree-encoding=UTF-16\n"),
		"crlf.txt":       gittest.File("a\r\nb\r\n"), "x.id": gittest.File("$Id: 1234 $\n"), "x.big": gittest.File("big\n"), "x.u16": gittest.File("\xff\xfea\x00"),
	}
	f := newFixture(t, tree)
	o.Init(f.root)
	f.write(".git/config", "[core]\n\tautocrlf = true\n[filter \"lfs\"]\n\tclean = touch "+f.path("ran")+"\n\tsmudge = false\n\trequired = true\n")
	before := f.trackAll()
	for _, name := range []string{"crlf.txt", "x.id", "x.big", "x.u16"} {
		f.write(name, "changed\n")
	}
	f.trackAll()
	f.restoreAll(before)
	if f.exists("ran") {
		t.Error("a filter ran")
	}
	gittest.AssertTree(t, f.root, tree)
}

func TestR18_PermissionBits(t *testing.T) {
	t.Parallel()
	tree := gittest.Tree{
		"a": gittest.FileMode("a", 0o600), "b": gittest.FileMode("b", 0o640), "c": gittest.FileMode("c", 0o755),
		"d": gittest.FileMode("d", 0o700), "e": gittest.FileMode("e", 0o444), "f": gittest.File("f"), "g": gittest.File("g"),
		"p": gittest.DirMode(0o700), "p/in": gittest.File("in"), "q": gittest.DirMode(0o750),
	}
	f := newFixture(t, tree)
	before := f.trackAll()
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		if err := os.Chmod(f.path(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	os.Chmod(f.path("p"), 0o755)
	f.remove("g")
	f.remove("q")
	if got := f.patch(before); len(got) != 8 {
		t.Errorf("patch %q", got)
	}
	f.restoreAll(before)
	gittest.AssertTree(t, f.root, tree)
}

func TestR19_EmptyDirectories(t *testing.T) {
	t.Parallel()
	tree := gittest.Tree{"f": gittest.File("f"), "e": gittest.Dir(), "deep/er/still": gittest.Dir(), "both/x": gittest.File("x")}
	f := newFixture(t, tree)
	before := f.trackAll()
	f.remove("e")
	f.remove("deep")
	f.write("n/made/file", "n")
	os.MkdirAll(f.path("m/k"), 0o755)
	f.remove("both/x")
	f.restoreAll(before)
	gittest.AssertTree(t, f.root, tree)

	f.write("n/made/file", "n")
	f.revert(cairn.Patch{Hash: before, Files: []string{f.path("n/made/file")}})
	gittest.AssertTree(t, f.root, tree)
}

func TestR20_SpecialFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"f": gittest.File("f"), "pipe": gittest.FIFO()})
	got := f.track()
	skippedAs(t, got.Skipped, "pipe", "special file")
	f.write("f", "g")
	f.restore(got.Hash)
	if !f.exists("pipe") {
		t.Error("the pipe is gone")
	}
}

func TestR21_SymlinksAreNeverFollowed(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	gittest.Create(t, outside, gittest.Tree{"secret": gittest.File("secret")})
	tree := gittest.Tree{
		"file": gittest.Link(filepath.Join(outside, "secret")), "dir": gittest.Link(outside),
		"dangling": gittest.Link("nowhere"), "a": gittest.Link("b"), "b": gittest.Link("a"), "self": gittest.Link("."),
	}
	f := newFixture(t, tree)
	before := f.track()
	if before.Files != 6 || len(before.Skipped) != 0 {
		t.Errorf("%+v", before)
	}
	if got := readAt(t, f, before.Hash, "dir"); got != outside {
		t.Errorf("dir is %q", got)
	}
	for name := range tree {
		f.remove(name)
		f.write(name, "file now")
	}
	f.restoreAll(before.Hash)
	gittest.AssertTree(t, f.root, tree)
}

func TestR22_FlagsOfTheUsersIndexDoNotCount(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("one"), "b": gittest.File("one")})
	o.Init(f.root)
	o.Commit(f.root, "first")
	o.In(f.root, "update-index", "--assume-unchanged", "a")
	o.In(f.root, "update-index", "--skip-worktree", "b")
	before := f.trackAll()
	f.write("a", "two")
	f.write("b", "two")
	if got := f.patch(before); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("patch %q", got)
	}
}

func TestR23_RacyTimestamps(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	f := newFixture(t, gittest.Tree{"f": gittest.File("aa")})
	r := f.repo()
	stamp := time.Now().Add(-time.Hour)
	seen := map[string]bool{}
	for i := range 200 {
		// Same size, same mtime, no pause: only ctime can tell, and within one tick
		// of the clock not even that.
		f.write("f", fmt.Sprintf("%02d", i%100))
		if err := os.Chtimes(f.path("f"), stamp, stamp); err != nil {
			t.Fatal(err)
		}
		got, err := r.Track(background, cairn.TrackOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if text := readAt(t, f, got.Hash, "f"); text != fmt.Sprintf("%02d", i%100) {
			t.Fatalf("round %d captured %q", i, text)
		}
		seen[got.Hash] = true
	}
	if len(seen) != 100 {
		t.Errorf("%d different hashes for 100 contents", len(seen))
	}
}

func TestR48_SparseCheckout(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"in/f": gittest.File("in"), "out/g": gittest.File("out"), "out/deep/h": gittest.File("h"), "top": gittest.File("t")})
	o.Init(f.root)
	o.Commit(f.root, "first")
	o.In(f.root, "sparse-checkout", "set", "in")
	got := f.track()
	skippedAs(t, got.Skipped, "out", "sparse checkout")
	f.write("in/f", "changed")
	f.restore(got.Hash)
	if f.exists("out") {
		t.Error("the restore materialised what the sparse checkout leaves out")
	}
	o.In(f.root, "sparse-checkout", "disable")
	res := f.restore(got.Hash)
	if !f.exists("out/g") || !f.exists("out/deep/h") {
		t.Errorf("absent by a sparse checkout was taken for deleted: %+v", res)
	}
}

func TestR102_R104_R105_AnyDirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"one/f": gittest.File("1"), "two/f": gittest.File("2"), "f": gittest.File("0")})
	o := gittest.NewOracle(t)
	o.Init(f.path("one"))
	o.Init(f.path("two"), "--object-format=sha256")
	o.Commit(f.path("two"), "sha256")
	before := f.trackAll() // the parent is no repository
	f.write("two/f", "changed")
	f.restoreAll(before)
	sub := &fixture{T: t, root: f.path("two"), data: f.data, opt: cairn.Options{Root: f.path("two"), DataDir: f.data}}
	hash := sub.trackAll()
	sub.write("f", "again")
	if got := sub.patch(hash); !slices.Equal(got, []string{"f"}) {
		t.Errorf("in the SHA-256 repository: %q", got)
	}
	sub.restoreAll(hash)
}

// churn runs edit over and over until the returned function is called.
func churn(t *testing.T, edit func(n int)) (stop func()) {
	t.Helper()
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			default:
				edit(n)
			}
		}
	})
	stop = sync.OnceFunc(func() { close(done); wg.Wait() })
	t.Cleanup(stop)
	return stop
}

func readAt(t *testing.T, f *fixture, hash, path string) string {
	t.Helper()
	_, rc, err := f.repo().OpenFile(background, hash, path)
	if err != nil {
		t.Fatalf("%s at %s: %v", path, hash, err)
	}
	defer rc.Close()
	data, err := io.ReadAll(rc)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func mustEval(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

func removeIndex(t *testing.T, f *fixture) {
	t.Helper()
	for _, name := range []string{"index", "index.delta"} {
		if err := os.RemoveAll(filepath.Join(f.repo().StoreDir(), "cairn", name)); err != nil {
			t.Fatal(err)
		}
	}
}

// rerunAsUser runs the calling test once more as a user without privileges, for
// whom permissions mean something.
func rerunAsUser(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "test.bin") // the build's own directory is closed to others
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	gittest.Program(t, binary, data)
	cmd := exec.Command(binary, "-test.run=^"+t.Name()+"$", "-test.v")
	for d := dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	if !asNobody(cmd) {
		t.Skip("permissions do not stop this user, and there is no other to be had")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as another user: %v\n%s", err, out)
	} else if !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Skipf("the test binary cannot be run by another user:\n%s", out)
	}
}
