package diff

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

type files = map[string]statetest.File

// text prints the difference between two states.
func text(t *testing.T, store *history.Store, a, b state.State, opt DiffOptions) string {
	t.Helper()
	var out strings.Builder
	if err := (&Differ{Store: store}).WriteDiff(t.Context(), &out, changes(t, store, a, b), opt); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func changes(t *testing.T, store *history.Store, a, b state.State) []history.Change {
	t.Helper()
	list, err := store.Changes(t.Context(), a, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// filesBelow reads the files and symlinks of a directory.
func filesBelow(t *testing.T, root string) files {
	t.Helper()
	all := make(files)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		file := statetest.File{Mode: object.Symlink}
		if e.Type()&fs.ModeSymlink != 0 {
			file.Content, err = os.Readlink(path)
			all[filepath.ToSlash(rel)] = file
			return err
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		if file.Mode = object.Regular; info.Mode()&0o100 != 0 {
			file.Mode = object.Executable
		}
		data, err := os.ReadFile(path)
		file.Content = string(data)
		all[filepath.ToSlash(rel)] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// removeIgnoreFiles removes the rule files that a random edit has made: git would leave files out.
func removeIgnoreFiles(t *testing.T, root string) {
	t.Helper()
	for path := range gittest.Manifest(t, root) {
		if filepath.Base(path) == ".gitignore" {
			if err := os.RemoveAll(filepath.Join(root, filepath.FromSlash(path))); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestDiffEqualsGit compares the text of diffs between random states.
func TestDiffEqualsGit(t *testing.T) {
	t.Parallel()
	oracle := gittest.NewOracle(t)
	for seed := range gittest.Rounds(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			o := oracle.For(t)
			rng := rand.New(rand.NewPCG(4, uint64(seed)))
			root, store := filepath.Join(t.TempDir(), "root"), statetest.NewStore(t)
			gittest.Create(t, root, gittest.RandomTree(rng, gittest.RandomOptions{NoIgnoreFiles: true}))
			before := statetest.NewStateOf(t, store, filesBelow(t, root))
			if tree := o.WriteTree(root); tree != before.Tree.String() {
				t.Fatalf("the state has the tree %s, git's has %s", before.Tree, tree)
			}
			gittest.Mutate(t, rng, root, 10)
			removeIgnoreFiles(t, root)
			after := statetest.NewStateOf(t, store, filesBelow(t, root))
			o.WriteTree(root)
			want := o.Git("-c", "core.quotePath=false", "diff-tree", "-r", "-p", "--no-renames", "--abbrev=7",
				"--no-ext-diff", "--no-textconv", before.Tree.String(), after.Tree.String())
			if got := text(t, store, before, after, DiffOptions{}); got != want {
				t.Errorf("diff\n%s\ngit has\n%s", got, want)
			}
		})
	}
}

// lines returns numbered lines, some of them replaced.
func lines(n int, edits map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if edit, ok := edits[i]; ok {
			b.WriteString(edit + "\n")
		} else {
			fmt.Fprintf(&b, "%d\n", i)
		}
	}
	return b.String()
}

// diffCase is one changed file.
type diffCase struct {
	name        string
	before, now files
	opt         DiffOptions
	want        string // the text without the lines of headers
	note        string
	add, del    int
}

var diffCases = []diffCase{
	{
		name: "one line", before: files{"f": {Content: "a\nb\nc\n"}}, now: files{"f": {Content: "a\nB\nc\n"}},
		want: "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", add: 1, del: 1,
	},
	{
		name: "no context", before: files{"f": {Content: lines(9, nil)}}, now: files{"f": {Content: lines(9, map[int]string{5: "x"})}},
		opt: DiffOptions{Context: NoContext}, want: "@@ -5 +5 @@\n-5\n+x\n", add: 1, del: 1,
	},
	{
		name: "the whole file", before: files{"f": {Content: lines(9, nil)}}, now: files{"f": {Content: lines(9, map[int]string{9: "x"})}},
		opt: DiffOptions{Context: -1}, want: "@@ -1,9 +1,9 @@\n 1\n 2\n 3\n 4\n 5\n 6\n 7\n 8\n-9\n+x\n", add: 1, del: 1,
	},
	{
		name: "one line of context", before: files{"f": {Content: lines(9, nil)}}, now: files{"f": {Content: lines(9, map[int]string{5: "x"})}},
		opt: DiffOptions{Context: 1}, want: "@@ -4,3 +4,3 @@\n 4\n-5\n+x\n 6\n", add: 1, del: 1,
	},
	{
		name: "a new file without a line end", now: files{"f": {Content: "a"}},
		want: "@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n", add: 1,
	},
	{
		name: "an empty file", now: files{"f": {}},
	},
	{
		name: "binary", before: files{"f": {Content: "a\x00"}}, now: files{"f": {Content: "b\x00"}},
		want: "Binary files a/f and b/f differ\n", note: "binary",
	},
	{
		name: "the mode alone", before: files{"f": {Content: "a\n"}}, now: files{"f": {Content: "a\n", Mode: object.Executable}},
	},
	{
		name: "a file becomes a link", before: files{"f": {Content: "a\n"}}, now: files{"f": {Content: "to", Mode: object.Symlink}},
		want: "@@ -1 +0,0 @@\n-a\n@@ -0,0 +1 @@\n+to\n\\ No newline at end of file\n", add: 1, del: 1,
	},
}

// TestFileDiffs holds text, counts and note of one file. The patch of a file is its text, empty
// where lines are not compared, and Stat counts the same.
func TestFileDiffs(t *testing.T) {
	t.Parallel()
	for _, c := range diffCases {
		store := statetest.NewStore(t)
		a, b := statetest.NewStateOf(t, store, c.before), statetest.NewStateOf(t, store, c.now)
		list := changes(t, store, a, b)
		if len(list) != 1 {
			t.Fatalf("%s: %d changes", c.name, len(list))
		}
		r := &Differ{Store: store}
		for d, err := range r.FileDiffs(t.Context(), list, c.opt) {
			if err != nil {
				t.Fatal(err)
			}
			whole := text(t, store, a, b, c.opt)
			if got := body(whole); got != c.want || d.Note != c.note || d.Additions != c.add || d.Deletions != c.del {
				t.Errorf("%s: %q, %q, +%d -%d", c.name, got, d.Note, d.Additions, d.Deletions)
			}
			if whole != d.Patch && c.note == "" || d.Patch != "" && c.note != "" {
				t.Errorf("%s: the text is %q, the patch of the file %q", c.name, whole, d.Patch)
			}
		}
		add, del, note, err := r.CountLines(&list[0], c.opt)
		if err != nil || add != c.add || del != c.del || note != c.note {
			t.Errorf("%s: counted +%d -%d, %q, %v", c.name, add, del, note, err)
		}
	}
}

// body leaves the headers of a patch out.
func body(patch string) string {
	var b strings.Builder
	for line := range strings.Lines(patch) {
		header := false
		for _, prefix := range []string{"diff --git ", "index ", "--- ", "+++ ", "new file mode ", "deleted file mode ", "old mode ", "new mode "} {
			header = header || strings.HasPrefix(line, prefix)
		}
		if !header {
			b.WriteString(line)
		}
	}
	return b.String()
}

// A file above the limit gets one line, and its contents are not read: they may be lost.
func TestTooLargeIsNotRead(t *testing.T) {
	t.Parallel()
	store := statetest.NewStore(t)
	a := statetest.NewStateOf(t, store, files{"f": {Content: strings.Repeat("a\n", 100)}, "g": {Content: "1\n"}})
	b := statetest.NewStateOf(t, store, files{"f": {Content: strings.Repeat("b\n", 100)}, "g": {Content: "2\n"}})
	opt := DiffOptions{MaxFileSize: 100}
	got := map[string]FileDiff{}
	for d, err := range (&Differ{Store: store}).FileDiffs(t.Context(), changes(t, store, a, b), opt) {
		if err != nil {
			t.Fatal(err)
		}
		got[string(d.File)] = d
	}
	if f := got["f"]; f.Note != "too large" || f.Before != "" || f.After != "" || f.Additions+f.Deletions != 0 {
		t.Errorf("%+v", f)
	}
	if g := got["g"]; g.Note != "" || g.Before != "1\n" || g.After != "2\n" {
		t.Errorf("%+v", g)
	}
}

// A lost content is an error, and no diff against an empty file.
func TestDiffOfALostContent(t *testing.T) {
	t.Parallel()
	store := statetest.NewStore(t)
	a := statetest.NewStateOf(t, store, files{"f": {Content: "a\n", Lost: true}})
	b := statetest.NewStateOf(t, store, files{"f": {Content: "b\n"}})
	var out strings.Builder
	if err := (&Differ{Store: store}).WriteDiff(t.Context(), &out, changes(t, store, a, b), DiffOptions{}); err == nil {
		t.Errorf("printed %q", out.String())
	}
}
