package gitstate

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/git"
)

// TestEntriesSum: stores keep sums of earlier releases, so the summed text stays what it was.
func TestEntriesSum(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		w := newWorld(t, "--object-format="+format)
		for _, name := range []string{"plain", "assumed", "skipped", "later", "dir/run", "dir/odd \xff\n"} {
			w.write(name, name)
		}
		w.git("add", "plain", "assumed", "skipped", "dir")
		w.git("update-index", "--chmod=+x", "dir/run")
		w.git("update-index", "--assume-unchanged", "assumed")
		w.git("update-index", "--skip-worktree", "skipped")
		w.git("add", "-N", "later")
		x, err := git.ReadIndex(filepath.Join(w.dir, ".git", "index"), format == "sha256")
		if err != nil {
			t.Fatal(err)
		}
		h, marks := sha256.New(), 0
		for e, id := range x.WithIDs() {
			fmt.Fprintf(h, "%s %o %d %t %t %t %s\x00", id, e.Mode, e.Stage, e.AssumeValid, e.SkipWorktree, e.IntentToAdd, e.Name)
			for _, mark := range []bool{e.AssumeValid, e.SkipWorktree, e.IntentToAdd} {
				if mark {
					marks++
				}
			}
		}
		if got, want := EntriesSum(x), fmt.Sprintf("%x", h.Sum(nil)); got != want || marks != 3 {
			t.Errorf("%s: sum %s, want %s, of entries with %d marks", format, got, want, marks)
		}
	}
}

// TestNameIndex: a record whose index has a name is equal to one with the file, and survives being stored.
func TestNameIndex(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		w := newWorld(t, "--object-format="+format)
		w.write("dir/file", "text")
		w.commit("one")
		w.git("update-index", "--split-index")
		r, file := w.read(), w.read()
		tree := strings.TrimSpace(w.git("rev-parse", "HEAD^{tree}"))
		sum := r.IndexSum()
		if r.NameIndex(sum); r.IndexTree != tree || sum != (IndexSum{"tree " + tree, tree}) || !r.HasIndex() {
			t.Errorf("%s: index %s, sum %v, want %s", format, r.IndexTree, sum, tree)
		}
		for name := range r.Files {
			if IsIndex(name) {
				t.Errorf("%s: the record still has %s", format, name)
			}
		}
		again, err := Parse(r.Parts())
		if err != nil || again.IndexTree != tree || !SameIndex(again, file) || !SameIndex(file, again) || !Compare(file, again).None() {
			t.Errorf("%s: %+v, %v", format, again, err)
		}
		w.write("dir/file", "other")
		w.git("add", "dir/file")
		if other := w.read(); SameIndex(other, again) || other.IndexSum().Tree == tree {
			t.Errorf("%s: another index counts as the same", format)
		}
	}
}

// TestNotNamed: what a tree cannot hold keeps its file.
func TestNotNamed(t *testing.T) {
	t.Parallel()
	for name, mark := range map[string][]string{
		"assumed": {"update-index", "--assume-unchanged", "file"},
		"skipped": {"update-index", "--skip-worktree", "file"},
		"later":   {"add", "-N", "more"},
	} {
		w := newWorld(t)
		w.write("file", "text")
		w.commit("one")
		w.write("more", "more")
		w.git(mark...)
		r := w.read()
		if r.NameIndex(r.IndexSum()); r.IndexTree != "" || r.Files["index"] == nil {
			t.Errorf("%s: it has the name %q", name, r.IndexTree)
		}
	}
	none := &Record{Files: map[string][]byte{"HEAD": nil}}
	if none.NameIndex(none.IndexSum()); none.HasIndex() {
		t.Error("a repository without an index has one")
	}
}

// TestHostileName: a stored name is that of an object, without quotes. An earlier release, which would take the record
// for one without an index, refuses a line without quotes.
func TestHostileName(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("a", 40)
	for text, ok := range map[string]bool{
		id: true, id + "\t": false, strings.ToUpper(id): false, id[:39]: false, id + id[:24]: false, `"` + id + `"`: false, "ref: refs/heads/x": false, "-x": false, "": false,
	} {
		r, err := Parse(map[string][]byte{"about": []byte("format sha1\nindex-tree " + text + "\n")})
		if (err == nil) != ok || ok && r.IndexTree != id {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := strconv.Unquote(id); err == nil {
		t.Error("an earlier release takes the line")
	}
}
