package session_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// hunks lists the hunks of a scope, "PATH HEADER" -> name.
func (f *fixture) hunks(id string, in session.Scope) map[string]string {
	f.Helper()
	names := make(map[string]string)
	for d, err := range f.Diff(background, id, in, cairn.DiffOptions{Hunks: true}) {
		if err != nil {
			f.Fatal(err)
		}
		for _, h := range d.Hunks {
			names[string(d.File)+" "+h.Header] = h.ID
		}
	}
	return names
}

// named returns the names of the hunks whose path and header begin with one of some texts.
func (f *fixture) named(id string, in session.Scope, beginnings ...string) (names []string) {
	f.Helper()
	all := f.hunks(id, in)
	for key, name := range all {
		if slices.ContainsFunc(beginnings, func(text string) bool { return strings.HasPrefix(key, text) }) {
			names = append(names, name)
		}
	}
	if len(names) < len(beginnings) {
		f.Fatalf("%q among %q", beginnings, all)
	}
	return names
}

func (f *fixture) revertHunks(id string, in session.Scope, opt cairn.RevertOptions) *cairn.Result {
	f.Helper()
	res, err := f.RevertHunks(background, id, in, opt)
	if err != nil {
		f.Fatal(err)
	}
	return res
}

// thereAndBack undoes and redoes the last operation and compares every byte.
func (f *fixture) thereAndBack(before gittest.Listing) {
	f.Helper()
	after := gittest.Manifest(f.T, f.root)
	if _, err := f.repo.Undo(background, cairn.RevertOptions{}); err != nil {
		f.Fatal(err)
	}
	gittest.AssertEqual(f.T, "undone", before, gittest.Manifest(f.T, f.root))
	if _, err := f.repo.Redo(background, cairn.RevertOptions{}); err != nil {
		f.Fatal(err)
	}
	gittest.AssertEqual(f.T, "redone", after, gittest.Manifest(f.T, f.root))
}

// TestHunkOfATurn takes one of three hunks of a turn back. The turn has two steps, a later turn and
// the user went on in the same file.
func TestHunkOfATurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(lines(26, nil)), "b": gittest.File("b\n")})
	f.step("s", "m1", "1", func() { f.write("a", lines(26, map[int]string{2: "two"})); f.write("b", "B\n") })
	f.step("s", "m1", "2", func() { f.write("a", lines(26, map[int]string{2: "two", 10: "ten", 20: "twenty"})) })
	f.step("s", "m2", "3", func() { f.write("a", lines(26, map[int]string{2: "two", 10: "ten", 15: "next", 20: "twenty"})) })
	f.write("a", "title\n"+f.read("a"))
	before := gittest.Manifest(t, f.root)
	turn := session.Scope{Message: "m1", Turn: true}
	if all := f.hunks("s", turn); len(all) != 4 {
		t.Errorf("hunks %q", all)
	}
	res := f.revertHunks("s", turn, cairn.RevertOptions{Hunks: f.named("s", turn, "a @@ -8,7")})
	want := "title\n" + lines(26, map[int]string{2: "two", 15: "next", 20: "twenty"})
	if got := f.read("a"); got != want || f.read("b") != "B\n" || !res.Complete() || res.Operation == "" {
		t.Errorf("%+v\n%s", res, got)
	}
	f.thereAndBack(before)
	if s := f.get("s"); s.Revert != nil || s.Steps != 3 {
		t.Errorf("the session has moved: %+v", s)
	}
	gittest.NewOracle(t).Fsck(f.repo.StoreDir())
}

// TestHunksWithoutTheWorkBetweenSteps: the user and another session change the file between two
// steps. The hunks have none of it, and when all go back it stays.
func TestHunksWithoutTheWorkBetweenSteps(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(lines(26, nil))})
	edits := map[int]string{2: "agent"}
	write := func(line int, text string) func() {
		return func() { edits[line] = text; f.write("a", lines(26, edits)) }
	}
	f.step("s", "m1", "1", write(2, "agent"))
	write(5, "user")()
	f.step("o", "o1", "o", write(12, "other"))
	f.step("s", "m2", "2", write(8, "agent again"))
	others := lines(26, map[int]string{5: "user", 12: "other"})
	for d, err := range f.Diff(background, "s", session.Scope{}, cairn.DiffOptions{Hunks: true}) {
		if err != nil || d.Before != others || len(d.Hunks) != 2 || d.Additions != 2 {
			t.Errorf("%+v, %v", d, err)
		}
	}
	for d, err := range f.Diff(background, "s", session.Scope{}, cairn.DiffOptions{}) {
		if err != nil || d.Before != lines(26, nil) {
			t.Errorf("without hunks: %+v, %v", d, err)
		}
	}
	var text strings.Builder
	if err := f.WriteDiff(background, &text, "s", session.Scope{}, cairn.DiffOptions{Hunks: true}); err != nil || strings.Contains(text.String(), "+user") {
		t.Errorf("%v\n%s", err, &text)
	}
	before := gittest.Manifest(t, f.root)
	res := f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: f.named("s", session.Scope{}, "a @@ -1", "a @@ -7")})
	if got := f.read("a"); got != others || !res.Complete() {
		t.Errorf("%+v\n%s", res, got)
	}
	f.thereAndBack(before)
}

// TestHunksOfWorkThatCannotBeSeparated: the user overwrote the line of a step before the next one.
// The session shows what the newer step did, the older step still shows its own.
func TestHunksOfWorkThatCannotBeSeparated(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(lines(20, nil)), "binary": gittest.File("\x000")})
	f.step("s", "m1", "1", func() { f.write("a", lines(20, map[int]string{2: "agent"})); f.write("binary", "\x001") })
	f.write("a", lines(20, map[int]string{2: "user"}))
	f.write("binary", "\x002")
	f.step("s", "m2", "2", func() { f.write("a", lines(20, map[int]string{2: "user", 12: "agent"})); f.write("binary", "\x003") })
	before := gittest.Manifest(t, f.root)
	all := f.hunks("s", session.Scope{})
	if len(all) != 2 || all["a @@ -10,7 +10,7 @@ line i"] == "" || all["binary binary file modified"] == "" {
		t.Errorf("hunks %q", all)
	}
	first := session.Scope{Step: "1"}
	res := f.revertHunks("s", first, cairn.RevertOptions{Hunks: f.named("s", first, "a @@ -1", "binary")})
	if len(res.Conflicts) != 2 || res.Operation != "" {
		t.Errorf("%+v", res)
	}
	gittest.AssertEqual(t, "in conflict", before, gittest.Manifest(t, f.root))
	f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: f.named("s", session.Scope{}, "binary")})
	if got := f.read("binary"); got != "\x002" {
		t.Errorf("binary %q", got)
	}
}

// TestStepsBeforeOneThatCannotBeSeparated: the steps before it are in no hunk either, as Revert leaves
// them. The session shows the newest step alone.
func TestStepsBeforeOneThatCannotBeSeparated(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(lines(26, nil))})
	edits := map[int]string{}
	write := func(line int, text string) func() {
		return func() { edits[line] = text; f.write("a", lines(26, edits)) }
	}
	f.step("s", "m1", "1", write(2, "first"))
	write(20, "user")()
	f.step("s", "m2", "2", write(8, "second"))
	write(8, "user")()
	f.step("s", "m3", "3", write(14, "third"))
	for in, want := range map[session.Scope]int{{}: 1, {Message: "m1", Rest: true}: 1, {Message: "m2"}: 1, {Message: "m1"}: 1} {
		if all := f.hunks("s", in); len(all) != want {
			t.Errorf("%+v: hunks %q", in, all)
		}
	}
}

// TestHunksOfSharedPaths: a path that a step of another session changed as well belongs to neither.
func TestHunksOfSharedPaths(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n"), "c": gittest.File("1\n")})
	f.begin("s", "m1", "1", "b")
	f.begin("o", "o1", "o", "c")
	for _, name := range []string{"a", "b", "c"} {
		f.write(name, "2\n")
	}
	f.end("o", "o")
	f.end("s", "1")
	if all := f.hunks("s", session.Scope{}); len(all) != 1 || all["b @@ -1 +1 @@"] == "" {
		t.Errorf("hunks %q", all)
	}
	for _, policy := range []cairn.Policy{cairn.Merge, cairn.Overwrite} {
		res := f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: f.named("s", session.Scope{}, "b"), OnConflict: policy})
		if f.read("a")+f.read("b")+f.read("c") != "2\n1\n2\n" || !res.Complete() {
			t.Errorf("%s: others' files changed, or are listed: %+v", policy, res)
		}
		f.write("b", "2\n")
	}
}

// TestHunksOfFilesThatCameAndWent: files made, deleted, renamed, made and deleted again, with the
// directories around them.
func TestHunksOfFilesThatCameAndWent(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{
		"gone": gittest.File("gone\nfor good\n"), "old": gittest.File(lines(8, nil)), "dir/last": gittest.File("last\n"), "empty": gittest.File(""),
		"was": gittest.Dir(),
	})
	if err := os.Chmod(f.path("dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := gittest.Manifest(t, f.root)
	f.step("s", "m1", "1", func() {
		f.write("new/deep/file", "made\n")
		f.write("was/file", "made\n")
		f.write("brief", "brief\n")
		f.remove("gone")
		f.remove("dir")
		f.remove("empty")
		if err := os.Rename(f.path("old"), f.path("moved")); err != nil {
			t.Fatal(err)
		}
	})
	f.step("s", "m2", "2", func() { f.remove("brief") })
	after := gittest.Manifest(t, f.root)
	all := f.hunks("s", session.Scope{})
	if len(all) != 7 {
		t.Errorf("hunks %q", all)
	}
	res := f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: f.named("s", session.Scope{}, "new", "was", "gone", "dir", "empty", "old", "moved")})
	gittest.AssertEqual(t, "all taken back", before, gittest.Manifest(t, f.root))
	if !res.Complete() {
		t.Errorf("%+v", res)
	}
	f.thereAndBack(after)

	if _, err := f.repo.Undo(background, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Lines: []cairn.LineRange{{Path: "moved", From: 3, To: 4}, {Path: "gone", From: 1, To: 1}}})
	if f.read("moved") != strings.ReplaceAll(lines(8, nil), "line c\nline d\n", "") || f.read("gone") != "gone\nfor good\n" || f.read("old") != "(absent)" {
		t.Errorf("parts: %q, %q", f.read("moved"), f.read("gone"))
	}
}

// TestFileWhoseNameBecameADirectory: the files that a step made in the place of a file go when the
// file comes back, and nothing does if the user has changed one of them.
func TestFileWhoseNameBecameADirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"x": gittest.File("file\n")})
	f.step("s", "m1", "1", func() { f.remove("x"); f.write("x/y", "made\n"); f.write("x/z/y", "made\n") })
	after := gittest.Manifest(t, f.root)
	file := f.hunks("s", session.Scope{})["x @@ -1 +0,0 @@"]
	f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: []string{file}})
	gittest.AssertTree(t, f.root, gittest.Tree{"x": gittest.File("file\n")})
	f.thereAndBack(after)
	if _, err := f.repo.Undo(background, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	f.write("x/y", "mine\n")
	changed := gittest.Manifest(t, f.root)
	res := f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: []string{file}})
	gittest.AssertEqual(t, "in conflict", changed, gittest.Manifest(t, f.root))
	if len(res.Conflicts) == 0 || res.Operation != "" {
		t.Errorf("%+v", res)
	}
}

// TestDirectoryInWhosePlaceAFileStood: an empty directory comes back with its own bits where the file
// goes that a step made in its place.
func TestDirectoryInWhosePlaceAFileStood(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"dir/a": gittest.File("a\n"), "other/a": gittest.File("a\n")})
	if err := os.Mkdir(f.path("empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := gittest.Manifest(t, f.root)
	f.step("s", "m1", "1", func() { f.remove("empty"); f.write("empty", "file\n") })
	after := gittest.Manifest(t, f.root)
	f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: f.named("s", session.Scope{}, "empty")})
	gittest.AssertEqual(t, "taken back", before, gittest.Manifest(t, f.root))
	f.thereAndBack(after)
}

// TestDirectoriesInWhosePlaceAFileStood: a directory of directories comes back whole. Of one with files
// the directories without files come back with the file that goes, and the rest with the files.
func TestDirectoriesInWhosePlaceAFileStood(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n"), "mixed/in/x": gittest.File("x\n"), "mixed/empty": gittest.Dir()})
	for _, dir := range []string{"hollow", "hollow/in", "hollow/in/deep", "hollow/side"} {
		if err := os.Mkdir(f.path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	before := gittest.Manifest(t, f.root)
	f.step("s", "m1", "1", func() {
		f.remove("hollow")
		f.write("hollow", "file\n")
		f.remove("mixed")
		f.write("mixed", "file\n")
	})
	after := gittest.Manifest(t, f.root)
	hunks := cairn.RevertOptions{Hunks: f.named("s", session.Scope{}, "hollow @@", "mixed @@")}
	f.revertHunks("s", session.Scope{}, hunks)
	partly := maps.Clone(before)
	delete(partly, "mixed/in")
	delete(partly, "mixed/in/x")
	gittest.AssertEqual(t, "without the file", partly, gittest.Manifest(t, f.root))
	f.thereAndBack(after)
	f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: f.named("s", session.Scope{}, "mixed/in/x")})
	gittest.AssertEqual(t, "taken back", before, gittest.Manifest(t, f.root))
}

// TestHalfOfARenameStays: of a rename one half was changed since, so the other half stays, too.
func TestHalfOfARenameStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"old": gittest.File(lines(8, nil))})
	f.step("s", "m1", "1", func() {
		if err := os.Rename(f.path("old"), f.path("new")); err != nil {
			t.Fatal(err)
		}
	})
	f.write("new", "mine\n")
	before := gittest.Manifest(t, f.root)
	res := f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: f.named("s", session.Scope{}, "old", "new")})
	if len(res.Conflicts) != 2 || res.Operation != "" {
		t.Errorf("%+v", res)
	}
	gittest.AssertEqual(t, "in conflict", before, gittest.Manifest(t, f.root))
	f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: f.named("s", session.Scope{}, "old")})
	if f.read("old") != lines(8, nil) || f.read("new") != "mine\n" {
		t.Error("the half that was chosen alone")
	}
}

// TestHunksOfTextsAndBits: CRLF, a last line without its end, bits alone, binary files, symlinks.
func TestHunksOfTextsAndBits(t *testing.T) {
	t.Parallel()
	crlf := strings.ReplaceAll(lines(12, nil), "\n", "\r\n")
	f := newFixture(t, gittest.Tree{
		"crlf": gittest.File(crlf), "end": gittest.File(lines(12, nil) + "last"), "bits": gittest.Exec(lines(12, nil)),
		"binary": gittest.File("\x00old"), "link": gittest.Link("crlf"), "kind": gittest.File("file\n"),
	})
	before := gittest.Manifest(t, f.root)
	f.step("s", "m1", "1", func() {
		f.write("crlf", strings.ReplaceAll(lines(12, map[int]string{1: "one", 10: "ten"}), "\n", "\r\n"))
		f.write("end", lines(12, map[int]string{1: "one"})+"last\nand more")
		f.write("bits", lines(12, map[int]string{1: "one"}))
		f.write("binary", "\x00new")
		for _, name := range []string{"link", "kind"} {
			f.remove(name)
			if err := os.Symlink("end", f.path(name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(f.path("bits"), 0o644); err != nil {
			t.Fatal(err)
		}
	})
	after := gittest.Manifest(t, f.root)
	all := f.hunks("s", session.Scope{})
	if len(all) != 9 {
		t.Errorf("hunks %q", all)
	}
	f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: f.named("s", session.Scope{}, "crlf @@ -8", "end @@ -10", "bits mode")})
	wantCRLF := strings.ReplaceAll(lines(12, map[int]string{1: "one"}), "\n", "\r\n")
	if f.read("crlf") != wantCRLF || f.read("end") != lines(12, map[int]string{1: "one"})+"last" || f.read("bits") != lines(12, map[int]string{1: "one"}) {
		t.Errorf("%q\n%q\n%q", f.read("crlf"), f.read("end"), f.read("bits"))
	}
	if info, err := os.Stat(f.path("bits")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("bits: %v, %v", info.Mode(), err)
	}
	f.thereAndBack(after)
	var names []string
	for _, name := range all {
		names = append(names, name)
	}
	if res := f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: names}); !res.Complete() {
		t.Errorf("%+v", res)
	}
	gittest.AssertEqual(t, "all taken back", before, gittest.Manifest(t, f.root))
}

// TestHunkNamesHold: the names of other hunks stay when one is taken back and when a later turn
// brings more. A hunk that went back is no change of the session any more.
func TestHunkNamesHold(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(lines(26, nil))})
	f.step("s", "m1", "1", func() { f.write("a", lines(26, map[int]string{2: "two", 10: "ten", 18: "eighteen"})) })
	first := f.hunks("s", session.Scope{})
	f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: []string{first["a @@ -8,7 +8,7 @@ line g"]}})
	f.step("s", "m2", "2", func() { f.write("a", "title\n"+lines(26, map[int]string{2: "two", 18: "eighteen", 24: "late"})) })
	now := f.hunks("s", session.Scope{})
	var names []string
	for _, name := range now {
		names = append(names, name)
	}
	for key, name := range first {
		if slices.Contains(names, name) != !strings.Contains(key, "-8,7") {
			t.Errorf("%s of %q is in %q", name, first, now)
		}
	}
	if len(now) != 4 {
		t.Errorf("hunks %q", now)
	}
	if turn := f.hunks("s", session.Scope{Message: "m1", Turn: true}); len(turn) != 3 {
		t.Errorf("of the turn: %q", turn)
	}
}

// TestPlanOfSessionHunks has a dry run change nothing, and its plan carried out or refused.
func TestPlanOfSessionHunks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(lines(20, nil)), "b": gittest.File("b\n")})
	f.step("s", "m1", "1", func() { f.write("a", lines(20, map[int]string{2: "two", 12: "twelve"})); f.write("b", "B\n") })
	before := gittest.Manifest(t, f.root)
	opt := cairn.RevertOptions{Hunks: f.named("s", session.Scope{}, "a @@ -1,"), DryRun: true}
	dry := f.revertHunks("s", session.Scope{}, opt)
	gittest.AssertEqual(t, "a dry run", before, gittest.Manifest(t, f.root))
	if !dry.DryRun || dry.PlanID == "" || len(dry.Plan) != 1 || dry.Plan[0].Action != "modify" {
		t.Errorf("%+v", dry)
	}
	opt.DryRun, opt.Plan = false, dry.PlanID
	other := opt
	other.Hunks = f.named("s", session.Scope{}, "b")
	if _, err := f.RevertHunks(background, "s", session.Scope{}, other); err == nil {
		t.Error("another plan was carried out")
	}
	gittest.AssertEqual(t, "a refused plan", before, gittest.Manifest(t, f.root))
	if res := f.revertHunks("s", session.Scope{}, opt); !slices.Equal(res.Restored, []string{"a"}) || f.read("a") != lines(20, map[int]string{12: "twelve"}) {
		t.Errorf("%+v", res)
	}
}
