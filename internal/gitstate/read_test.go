package gitstate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/git"
)

// TestRefs compares the record with git's own answers after each kind of change.
func TestRefs(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "--object-format="+format)
			w.check(w.dir, w.read()) // unborn
			w.commit("one")
			w.check(w.dir, w.read())
			w.git("branch", "topic/deep/er")
			w.git("tag", "-a", "-m", "text", "v1")
			w.git("update-ref", "refs/odd/ünï+(name)", "HEAD")
			w.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
			w.git("symbolic-ref", "refs/heads/nowhere", "refs/heads/none")
			w.check(w.dir, w.read())
			w.git("pack-refs", "--all")
			w.check(w.dir, w.read())
			w.commit("two") // a loose ref over a packed one
			w.git("branch", "-D", "topic/deep/er")
			w.check(w.dir, w.read())
			w.git("checkout", "-q", "--detach")
			w.check(w.dir, w.read())
			for _, text := range []string{"a", "b"} {
				w.write("file", text)
				w.git("stash", "push", "-q", "-m", text)
			}
			w.check(w.dir, w.read())
			w.git("stash", "drop", "-q", "stash@{1}")
			w.check(w.dir, w.read())
			if r := w.read(); len(r.Notes) > 0 || r.SHA256 != (format == "sha256") {
				t.Errorf("notes %q, sha256 %v", r.Notes, r.SHA256)
			}
		})
	}
}

// TestIndex has git list the entries of the recorded index.
func TestIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("a/x", "x")
	w.write("b/y", "y")
	w.commit("one")
	w.git("update-index", "--assume-unchanged", "a/x")
	w.git("update-index", "--skip-worktree", "b/y")
	w.write("new", "")
	w.git("add", "-N", "new")
	w.checkIndex(w.read())
	w.git("update-index", "--split-index")
	w.write("c", "c")
	w.git("add", "c")
	r := w.read()
	if !slices.ContainsFunc(keys(r.Files), func(name string) bool { return strings.HasPrefix(name, "sharedindex.") }) {
		t.Fatal("the shared index is not in the record")
	}
	w.checkIndex(r)
}

func keys(files map[string][]byte) (names []string) {
	for name := range files {
		names = append(names, name)
	}
	return names
}

// TestConflictIndex: the stages of an open merge are in the recorded index.
func TestConflictIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("base")
	w.git("checkout", "-q", "-b", "side")
	w.commit("theirs")
	w.git("checkout", "-q", "main")
	w.commit("ours")
	if _, err := w.Try(w.dir, "merge", "side"); err == nil {
		t.Fatal("the merge has no conflict")
	}
	w.checkIndex(w.read())
}

// TestUnder: the operation that is in progress is named, and its state is kept.
func TestUnder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  string
		under string
		file  string
	}{
		{"merge side", "merge", "MERGE_HEAD"},
		{"rebase side", "rebase", "rebase-merge/onto"},
		{"rebase --apply side", "rebase", "rebase-apply/onto"},
		{"cherry-pick side", "cherry-pick", "CHERRY_PICK_HEAD"},
		{"revert --no-edit HEAD~1", "revert", "REVERT_HEAD"},
		{"bisect start HEAD HEAD~2", "bisect", "BISECT_LOG"},
		{"status", "", "index"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.commit("base")
			w.git("checkout", "-q", "-b", "side")
			w.commit("theirs")
			w.git("checkout", "-q", "main")
			w.commit("ours")
			w.commit("ours again")
			w.commit("ours once more")
			_, _ = w.Try(w.dir, strings.Fields(c.args)...)
			r := w.read()
			if r.Under() != c.under {
				t.Errorf("in progress: %q", r.Under())
			}
			want, err := os.ReadFile(filepath.Join(w.dir, ".git", filepath.FromSlash(c.file)))
			if err != nil {
				t.Fatal(err)
			}
			if string(r.Files[c.file]) != string(want) {
				t.Errorf("%s: record has %q, git %q", c.file, r.Files[c.file], want)
			}
			w.check(w.dir, r)
		})
	}
}

// TestLinkedWorktrees: each work tree has a HEAD and some refs of its own.
func TestLinkedWorktrees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("one")
	w.commit("two")
	linked := filepath.Join(filepath.Dir(w.dir), "linked")
	w.git("worktree", "add", "-q", "-b", "topic", linked)
	w.In(linked, "bisect", "start", "HEAD", "HEAD~1")
	w.git("update-ref", "refs/worktree/mine", "HEAD")
	main := w.read()
	w.check(w.dir, main)
	if len(main.Worktrees) != 1 || main.Worktrees[0].Name != "linked" || main.Worktrees[0].Head == "" {
		t.Errorf("work trees of the main one: %+v", main.Worktrees)
	}
	other, _ := w.readFrom(linked)
	w.check(linked, other)
	if len(other.Worktrees) != 1 || other.Worktrees[0].Head != "ref: refs/heads/main" {
		t.Errorf("work trees of the linked one: %+v", other.Worktrees)
	}
	if other.Under() != "bisect" || main.Under() != "" {
		t.Errorf("in progress: %q and %q", other.Under(), main.Under())
	}
}

// TestKinds: a work tree of a bare repository, shallow clones and partial ones.
func TestKinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("one")
	w.commit("two")
	w.git("config", "uploadpack.allowFilter", "true")
	parent := t.TempDir()
	at := func(name string, args ...string) string {
		dir := filepath.Join(parent, name)
		w.In(parent, append(args, "file://"+w.dir, dir)...)
		return dir
	}
	for _, dir := range []string{at("shallow", "clone", "-q", "--depth=1"), at("partial", "clone", "-q", "--filter=blob:none")} {
		r, _ := w.readFrom(dir)
		w.check(dir, r)
	}
	shallow, _ := w.readFrom(filepath.Join(parent, "shallow"))
	if len(shallow.Files["common/shallow"]) == 0 {
		t.Error("the ends of a shallow clone are not in the record")
	}
	bare := at("bare.git", "clone", "-q", "--bare")
	tree := filepath.Join(parent, "tree")
	w.In(bare, "worktree", "add", "-q", "-b", "topic", tree)
	r, _ := w.readFrom(tree)
	w.check(tree, r)
}

// TestBroken: what git takes for no ref is none, and is noted.
func TestBroken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.commit("one")
	dir := filepath.Join(w.dir, ".git", "refs", "heads")
	for name, text := range map[string]string{
		"empty": "", "garbage": "garbage\n", "zero": strings.Repeat("0", 40) + "\n", "outside": "ref: ../../../etc/passwd\n",
		"sp ace": id + "\n", "line\nfeed": id + "\n", ".dot": id + "\n", "a..b": id + "\n", "held.lock": id + "\n", "twice": id + id + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := w.read()
	if len(r.Refs) != 1 || r.Refs["refs/heads/main"] != id {
		t.Errorf("refs %q", r.Refs)
	}
	if len(r.Notes) != 9 {
		t.Errorf("notes %q", r.Notes)
	}
	if err := os.WriteFile(filepath.Join(w.dir, ".git", "packed-refs"), []byte("# pack-refs with: peeled \nbroken\n"+id+" refs/heads/ok\n^"+id+"\n"+id+" bad name\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r = w.read(); r.Refs["refs/heads/ok"] != id || len(r.Refs) != 2 {
		t.Errorf("refs with packed ones: %q", r.Refs)
	}
}

// TestLargeFiles: a file beyond the limit is noted and not read.
func TestLargeFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("one")
	for _, name := range []string{"MERGE_MSG", "refs/heads/large"} {
		f, err := os.Create(filepath.Join(w.dir, ".git", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(1 << 40); err != nil {
			t.Skip("no sparse files here:", err)
		}
		f.Close()
	}
	r := w.read()
	if r.Files["MERGE_MSG"] != nil || r.Refs["refs/heads/large"] != "" || len(r.Notes) != 2 {
		t.Errorf("notes %q", r.Notes)
	}
}

// TestAskedRefs: the way through the git program, which a reftable needs, gives the same refs.
func TestAskedRefs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("one")
	w.git("tag", "v1")
	w.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
	want := w.read().Refs
	r := &Reader{record: &Record{Refs: make(map[string]string)}}
	r.asked(w.git("for-each-ref", "--format=%(refname) %(objectname) %(symref)"))
	if got := r.record.Refs; len(got) != len(want) {
		t.Errorf("asked %q, read %q", got, want)
	}
	for name, value := range want {
		if r.record.Refs[name] != value {
			t.Errorf("%s: asked %q, read %q", name, r.record.Refs[name], value)
		}
	}
}

// TestKnownIndex: contents that the caller has read are recorded; without them the file is read.
func TestKnownIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("one")
	read := w.read()
	repo, err := git.Find(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, known := range map[string][]byte{"known": []byte("contents"), "changed": nil} {
		want := string(read.Files["index"])
		if known != nil {
			want = string(known)
		}
		reader := Reader{Repo: repo, Index: func() []byte { return known }}
		r, _, err := reader.Read(t.Context())
		if err != nil || string(r.Files["index"]) != want {
			t.Errorf("%s: %d bytes, %v, want %d", name, len(r.Files["index"]), err, len(want))
		}
	}
}
