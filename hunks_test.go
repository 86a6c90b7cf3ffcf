package cairn_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// hunksOf lists the hunks of a range, "PATH HEADER" -> name.
func (f *fixture) hunksOf(from, to string) map[string]string {
	f.Helper()
	names := make(map[string]string)
	for d, err := range f.repo().DiffFull(background, from, to, cairn.DiffOptions{Hunks: true}) {
		if err != nil {
			f.Fatal(err)
		}
		for _, h := range d.Hunks {
			names[string(d.File)+" "+h.Header] = h.ID
		}
	}
	return names
}

func (f *fixture) revertHunks(from, to string, opt cairn.RevertOptions) *cairn.Result {
	f.Helper()
	res, err := f.repo().Revert(background, cairn.Range{From: from, To: to}, opt)
	if err != nil {
		f.Fatal(err)
	}
	return res
}

// countTo is a text of n lines, with some lines in the place of others.
func countTo(n int, changed map[int]string) string {
	var text strings.Builder
	for i := 1; i <= n; i++ {
		if line, ok := changed[i]; ok {
			text.WriteString(line)
		} else {
			fmt.Fprintf(&text, "line %d\n", i)
		}
	}
	return text.String()
}

// threeHunks is a project in which a step changed three places of one file and another file.
func threeHunks(t *testing.T) (f *fixture, from, to string) {
	f = newFixture(t, gittest.Tree{"a": gittest.File(countTo(30, nil)), "other": gittest.File("old\n")})
	from = f.track().Checkpoint
	f.write("a", countTo(30, map[int]string{3: "three\n", 15: "fifteen\nand more\n", 28: ""}))
	f.write("other", "new\n")
	return f, from, f.track().Checkpoint
}

func TestRevertOfOneHunk(t *testing.T) {
	t.Parallel()
	f, from, to := threeHunks(t)
	// The user goes on at both ends.
	f.write("a", "title\n"+countTo(30, map[int]string{3: "three\n", 15: "fifteen\nand more\n", 28: "", 30: "the end\n"}))
	names := f.hunksOf(from, to)
	middle := names["a @@ -12,7 +12,8 @@ line 11"]
	if len(names) != 4 || middle == "" {
		t.Fatalf("hunks %q", names)
	}
	res := f.revertHunks(from, to, cairn.RevertOptions{Hunks: []string{middle[:6]}})
	want := "title\n" + countTo(30, map[int]string{3: "three\n", 28: "", 30: "the end\n"})
	if got := f.read("a"); got != want || f.read("other") != "new\n" || !res.Complete() {
		t.Errorf("%+v\n%s", res, got)
	}
	if _, err := f.repo().Undo(background, cairn.RevertOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := f.read("a"); !strings.Contains(got, "fifteen\nand more\n") || !strings.HasPrefix(got, "title\n") {
		t.Errorf("undone: %s", got)
	}
	if _, err := f.repo().Redo(background, cairn.RevertOptions{}); err != nil || f.read("a") != want {
		t.Errorf("redone: %v, %s", err, f.read("a"))
	}
}

// TestRevertOfHunksSinceACheckpoint names hunks of the difference to the disk, which no
// checkpoint holds.
func TestRevertOfHunksSinceACheckpoint(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File(countTo(20, nil))})
	from := f.track().Checkpoint
	f.write("a", countTo(20, map[int]string{2: "two\n", 18: "eighteen\n"}))
	names := f.hunksOf(from, "")
	f.revertHunks(from, "", cairn.RevertOptions{Hunks: []string{names["a @@ -15,6 +15,6 @@ line 14"]}})
	if got, want := f.read("a"), countTo(20, map[int]string{2: "two\n"}); got != want {
		t.Errorf("got %s", got)
	}
}

func TestRevertOfAHunkThatWasChangedSince(t *testing.T) {
	t.Parallel()
	f, from, to := threeHunks(t)
	now := countTo(30, map[int]string{3: "the user's three\n", 15: "fifteen\nand more\n", 28: ""})
	f.write("a", now)
	names := f.hunksOf(from, to)
	hunks := []string{names["a @@ -1,6 +1,6 @@"], names["other @@ -1 +1 @@"]}
	res := f.revertHunks(from, to, cairn.RevertOptions{Hunks: hunks})
	if len(res.Conflicts) != 1 || res.Conflicts[0].Path != "a" || f.read("a") != now || f.read("other") != "old\n" {
		t.Errorf("%+v\n%s", res, f.read("a"))
	}
	res = f.revertHunks(from, to, cairn.RevertOptions{Hunks: hunks, OnConflict: cairn.Overwrite})
	if want := countTo(30, map[int]string{15: "fifteen\nand more\n", 28: ""}); f.read("a") != want || !res.Complete() {
		t.Errorf("overwritten: %+v\n%s", res, f.read("a"))
	}
}

// TestHunksOfWholeFiles takes back changes that have no lines of their own, and the only hunk of
// a file that came or went.
func TestHunksOfWholeFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{
		"gone": gittest.File("gone\n"), "bits": gittest.Exec("one\ntwo\n"), "binary": gittest.File("\x00old"),
		"link": gittest.Link("gone"), "kind": gittest.File("file\n"), "empty": gittest.File(""),
	})
	before := f.manifest()
	from := f.track().Checkpoint
	f.remove("gone")
	f.remove("empty")
	f.write("made", "made\n")
	f.write("bits", "ONE\ntwo\n")
	f.write("binary", "\x00new")
	for _, path := range []string{"link", "kind"} {
		f.remove(path)
		if err := os.Symlink("made", f.path(path)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(f.path("bits"), 0o644); err != nil {
		t.Fatal(err)
	}
	to := f.track().Checkpoint
	names := f.hunksOf(from, to)
	if len(names) != 8 {
		t.Fatalf("hunks %q", names)
	}
	bits := names["bits mode 100755/755 became 100644/644"]
	f.revertHunks(from, to, cairn.RevertOptions{Hunks: []string{bits}})
	if info, err := os.Stat(f.path("bits")); err != nil || info.Mode().Perm() != 0o755 || f.read("bits") != "ONE\ntwo\n" {
		t.Errorf("the bits alone: %v, %v, %s", info.Mode(), err, f.read("bits"))
	}
	var rest []string
	for _, name := range names {
		if name != bits {
			rest = append(rest, name)
		}
	}
	if res := f.revertHunks(from, to, cairn.RevertOptions{Hunks: rest}); !res.Complete() {
		t.Errorf("%+v", res)
	}
	f.same(before)
}

// TestHunkInThePlaceOfADirectory: an empty directory comes back with its own bits where a file goes.
func TestHunkInThePlaceOfADirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"dir/a": gittest.File("a\n"), "other/a": gittest.File("a\n")})
	if err := os.Mkdir(f.path("empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := f.manifest()
	from := f.track().Checkpoint
	f.remove("empty")
	f.write("empty", "file\n")
	to := f.track().Checkpoint
	f.revertHunks(from, to, cairn.RevertOptions{Hunks: []string{f.hunksOf(from, to)["empty @@ -0,0 +1 @@"]}})
	f.same(before)
}

func TestRevertOfLines(t *testing.T) {
	t.Parallel()
	f, from, _ := threeHunks(t)
	f.write("b", "made\nby\nthe step\n")
	to := f.track().Checkpoint
	f.revertHunks(from, to, cairn.RevertOptions{Lines: []cairn.LineRange{{Path: "a", From: 16, To: 28}, {Path: f.path("b"), From: 2, To: 2}}})
	if got, want := f.read("a"), countTo(30, map[int]string{3: "three\n", 15: "fifteen\n"}); got != want {
		t.Errorf("got %s", got)
	}
	if got := f.read("b"); got != "made\nthe step\n" {
		t.Errorf("of the made file: %q", got)
	}
}

func TestHunksThatAreNotThere(t *testing.T) {
	t.Parallel()
	f, from, to := threeHunks(t)
	before := f.manifest()
	for name, c := range map[string]struct {
		opt  cairn.RevertOptions
		want error
	}{
		"an unknown name":     {cairn.RevertOptions{Hunks: []string{"000000000000"}}, cairn.ErrNotFound},
		"a beginning of none": {cairn.RevertOptions{Hunks: []string{"zzzz"}}, cairn.ErrNotFound},
		"too short":           {cairn.RevertOptions{Hunks: []string{""}}, cairn.ErrAmbiguous},
		"unchanged lines":     {cairn.RevertOptions{Lines: []cairn.LineRange{{Path: "a", From: 8, To: 9}}}, cairn.ErrNotFound},
		"an unknown path":     {cairn.RevertOptions{Lines: []cairn.LineRange{{Path: "x", From: 1, To: 9}}}, cairn.ErrNotFound},
		"a path outside":      {cairn.RevertOptions{Lines: []cairn.LineRange{{Path: "../a", From: 1, To: 9}}}, cairn.ErrOutside},
		"lines the wrong way": {cairn.RevertOptions{Lines: []cairn.LineRange{{Path: "a", From: 9, To: 1}}}, cairn.ErrNotFound},
	} {
		res, err := f.repo().Revert(background, cairn.Range{From: from, To: to}, c.opt)
		if assertError(t, err, c.want); err == nil {
			t.Errorf("%s: %+v", name, res)
		}
	}
	f.same(before)
	if _, err := f.repo().Undo(background, cairn.RevertOptions{Hunks: []string{"abcdef"}}); err == nil || !strings.Contains(err.Error(), "nothing to undo") {
		t.Errorf("undo of a hunk: %v", err)
	}
}

// TestPlanOfHunks has a dry run change nothing, and its plan carried out or refused.
func TestPlanOfHunks(t *testing.T) {
	t.Parallel()
	f, from, to := threeHunks(t)
	names := f.hunksOf(from, to)
	opt := cairn.RevertOptions{Hunks: []string{names["a @@ -1,6 +1,6 @@"]}, DryRun: true}
	before := f.manifest()
	dry := f.revertHunks(from, to, opt)
	f.same(before)
	opt.DryRun, opt.Plan = false, dry.PlanID
	other := opt
	other.Hunks = []string{names["other @@ -1 +1 @@"]}
	_, err := f.repo().Revert(background, cairn.Range{From: from, To: to}, other)
	assertError(t, err, cairn.ErrMoved)
	if res := f.revertHunks(from, to, opt); !slices.Equal(res.Restored, dry.Restored) && len(res.Restored) != 1 {
		t.Errorf("%+v, planned %+v", res, dry)
	}
}

// TestHunksMergeAsGitDoes takes random hunks of a random step back over random later edits.
// The oracle makes the text without the hunks with "git apply -R" of the patch that WriteDiff
// names the hunks in, and merges it with "git merge-file".
func TestHunksMergeAsGitDoes(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	r := rand.New(rand.NewPCG(5, 6))
	conflicts := 0
	for range gittest.Rounds(40) {
		m := mergeCase{r: r, before: strings.Split(strings.TrimSuffix(countTo(20+r.IntN(60), nil), "\n"), "\n")}
		m.after = m.edited(m.before)
		m.now = m.edited(m.after)
		if !m.check(t, o) {
			conflicts++
		}
	}
	if conflicts == 0 && !testing.Short() {
		t.Error("no case had a conflict")
	}
}

// mergeCase is a file before and after a step, and as it is now.
type mergeCase struct {
	r                  *rand.Rand
	before, after, now []string
	next               int
}

// edited changes lines so far apart that no two hunks are one to git. All lines stay different,
// so that git has one place for each hunk.
func (m *mergeCase) edited(lines []string) (out []string) {
	for i, line := range lines {
		m.next++
		fresh := fmt.Sprint("edit ", m.next, []string{"", "\r"}[m.r.IntN(2)])
		switch what := m.r.IntN(6); {
		case i%9 != 4 || what > 2:
			out = append(out, line)
		case what == 0:
			out = append(out, fresh)
		case what == 1:
			out = append(out, line, fresh)
		}
	}
	return out
}

func (m *mergeCase) text(lines []string) string { return strings.Join(lines, "\n") }

// check reports whether the case merges without a conflict.
func (m *mergeCase) check(t *testing.T, o *gittest.Oracle) (clean bool) {
	t.Helper()
	f := newFixture(t, gittest.Tree{"a": gittest.File(m.text(m.before))})
	from := f.track().Checkpoint
	f.write("a", m.text(m.after))
	to := f.track().Checkpoint
	f.write("a", m.text(m.now))
	chosen, patch := m.choose(f, from, to)
	if len(chosen) == 0 {
		return true
	}
	want, clean := o.MergeFile(m.text(m.now), m.text(m.after), o.ApplyReverse(m.text(m.after), patch))
	res := f.revertHunks(from, to, cairn.RevertOptions{Hunks: chosen})
	if clean != res.Complete() || f.read("a") != want {
		t.Fatalf("%+v\npatch %s\nnow %q\ngot %q, %+v\nwant %q", m, patch, m.text(m.now), f.read("a"), res, want)
	}
	return clean
}

// choose picks hunks from the text of a diff, in which they have their names.
func (m *mergeCase) choose(f *fixture, from, to string) (chosen []string, patch string) {
	f.Helper()
	var text bytes.Buffer
	if err := f.repo().Diff(background, &text, from, to, cairn.DiffOptions{Hunks: true}); err != nil {
		f.Fatal(err)
	}
	return gittest.SomeHunks(text.String(), func() bool { return m.r.IntN(2) == 0 })
}
