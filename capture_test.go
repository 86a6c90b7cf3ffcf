package cairn_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// The rows of the failure table that concern captures: here names, kinds and modes of paths, in
// capturerules_test.go what is captured, in capturemoving_test.go files that change or cannot be read.
// Each test does what the row says and fails when its fix is taken out.

// TestLongMessages: a message is kept whole, or refused before anything is stored.
func TestLongMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	longest := strings.Repeat("é", cairn.MaxMessage)
	_, err := f.repo().Track(background, cairn.TrackOptions{Message: longest + "e"})
	assertError(t, err, cairn.ErrMessage)
	if _, err := f.repo().Track(background, cairn.TrackOptions{Message: longest}); err != nil {
		t.Fatal(err)
	}
	if log := f.log(); len(log) != 1 || log[0].Message != longest {
		t.Errorf("%d checkpoints", len(log))
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

func mustEval(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}
