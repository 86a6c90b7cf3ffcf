package cairn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/retention"
)

// gitFixture is a root that is a git repository.
type gitFixture struct {
	*fixture
	o *gittest.Oracle
}

func newGitFixture(t *testing.T, args ...string) *gitFixture {
	t.Helper()
	gittest.NeedGit(t)
	f := &gitFixture{newFixture(t, nil), gittest.NewOracle(t)}
	f.begin("three commits", args, func(f *gitFixture) {
		for _, text := range []string{"one", "two", "three"} {
			f.commit(text)
		}
	})
	return f
}

// originals are the repositories that tests begin with.
var originals gittest.Originals

// begin makes the root a copy of the repository of a name, which fill fills after git init once.
func (f *gitFixture) begin(name string, args []string, fill func(f *gitFixture)) {
	f.Helper()
	originals.Copy(f, f.root, strings.Join(append(args, name), " "), func(dir string) {
		fill(&gitFixture{&fixture{T: f.T, root: f.o.Init(dir, args...)}, f.o})
	})
	f.git("status") // refreshes the index, which may have unmerged paths
}

func (f *gitFixture) git(args ...string) string {
	f.Helper()
	return strings.TrimSpace(f.o.In(f.root, args...))
}

func (f *gitFixture) commit(text string) string {
	f.Helper()
	f.write("file", text+"\n")
	return f.o.Commit(f.root, text)
}

// store runs git in the store.
func (f *gitFixture) store(args ...string) string {
	f.Helper()
	return strings.TrimSpace(f.o.In(f.repo().StoreDir(), args...))
}

func (f *gitFixture) records() []string {
	f.Helper()
	return strings.Fields(f.store("for-each-ref", "--format=%(refname)", "refs/cairn/git/"))
}

// record returns the record of a checkpoint: the tree that its metadata names.
func (f *gitFixture) record(checkpoint string) string {
	f.Helper()
	_, rest, ok := strings.Cut(f.store("cat-file", "-p", checkpoint), `"git":"`)
	if !ok {
		f.Fatalf("checkpoint %s names no record", checkpoint)
	}
	return rest[:40]
}

func (f *gitFixture) moved(from string) []string {
	f.Helper()
	words, err := f.repo().GitMoved(f.Context(), from, "")
	if err != nil {
		f.Fatal(err)
	}
	return words
}

func (f *gitFixture) vault() string {
	f.Helper()
	return filepath.Join(f.repo().StoreDir(), "cairn", "kept")
}

// TestGitRecord: any git reads the record of a checkpoint, and no git drops it. The checkpoint's tree
// is what git write-tree gives.
func TestGitRecord(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			f := newGitFixture(t, "--object-format="+format)
			f.git("branch", "topic")
			f.write("file", "stashed")
			f.git("stash", "-q")
			before := f.manifest(gittest.WantTimes, gittest.WantDirTimes)
			got := f.track()
			gittest.AssertEqual(t, "the repository", before, f.manifest(gittest.WantTimes, gittest.WantDirTimes))
			if tree := f.o.WriteTree(f.root); got.Hash != tree {
				t.Errorf("tree %s, git says %s", got.Hash, tree)
			}
			f.store("gc", "-q", "--prune=now")
			record := f.record(got.Checkpoint)
			for ref, name := range map[string]string{"HEAD": "refs/heads/main", "refs/heads/topic": "refs/heads/topic", "refs/stash": "refs/stash"} {
				want := name + " " + f.git("rev-parse", ref)
				if refs := f.store("cat-file", "-p", record+":refs"); !slices.Contains(strings.Split(refs, "\n"), want) {
					t.Errorf("the record lacks %q:\n%s", want, refs)
				}
			}
			if head := f.store("cat-file", "-p", record+":HEAD"); head != "ref: refs/heads/main" {
				t.Errorf("HEAD of the record: %q", head)
			}
			f.o.Fsck(f.repo().StoreDir())
		})
	}
}

// TestGitRecordUnchanged: a new checkpoint is made when git has moved, and else not.
func TestGitRecordUnchanged(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t)
	first := f.track()
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(f.path("file"), past, past); err != nil {
		t.Fatal(err)
	}
	f.git("status") // refreshes the index
	f.git("pack-refs", "--all")
	f.git("gc", "-q")
	if again := f.track(); again.Checkpoint != first.Checkpoint {
		t.Errorf("a new checkpoint, although only stat data and packs differ: records %v", f.records())
	}
	for _, args := range []string{"branch topic", "commit -q --allow-empty -m x", "checkout -q --detach", "update-index --assume-unchanged file"} {
		before := f.track()
		f.git(strings.Fields(args)...)
		after := f.track()
		if after.Checkpoint == before.Checkpoint || after.Hash != before.Hash || after.Changed != 0 {
			t.Errorf("git %s: %+v after %+v", args, after, before)
		}
		if again := f.track(); again.Checkpoint != after.Checkpoint {
			t.Errorf("git %s: two checkpoints for one change", args)
		}
	}
}

// TestGitRecordWatching: a Repo that watches sees that only git has moved.
func TestGitRecordWatching(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t)
	f.opt.Watch = true
	r := f.repo()
	first := f.trackBy(r)
	f.trackBy(r)
	f.git("branch", "topic")
	if f.trackBy(r).Checkpoint == first.Checkpoint {
		t.Error("the new branch is not recorded")
	}
}

// TestGitMoved: the words for what git commands have done since a checkpoint, and what survives them.
func TestGitMoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		harm func(f *gitFixture)
		want string
	}{
		"nothing": {func(*gitFixture) {}, ""},
		"reset and gc": {func(f *gitFixture) {
			f.git("reset", "-q", "--hard", "HEAD~2")
			f.git("reflog", "expire", "--expire=now", "--all")
			f.git("gc", "-q", "--prune=now")
		}, "main: 2 commits away (A..B), 1 stash dropped, index changed"},
		"stash and branches": {func(f *gitFixture) {
			f.git("stash", "drop", "-q")
			f.git("branch", "-D", "a", "b")
		}, "2 branches deleted, 1 stash dropped"},
		"rm -rf .git": {func(f *gitFixture) { f.remove(".git") }, "the repository is gone"},
		"refresh":     {func(f *gitFixture) { f.git("update-index", "-q", "--really-refresh") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newGitFixture(t)
			f.git("branch", "a")
			f.git("branch", "b")
			f.write("file", "stashed")
			f.git("stash", "-q")
			stash, head := f.git("rev-parse", "refs/stash"), f.git("rev-parse", "HEAD")
			hash := f.track().Hash
			c.harm(f)
			now := head
			if name == "reset and gc" {
				now = f.git("rev-parse", "HEAD")
			}
			want := strings.NewReplacer("A", head[:7], "B", now[:7]).Replace(c.want)
			if got := strings.Join(f.moved(hash), ", "); got != want {
				t.Errorf("moved %q, want %q", got, want)
			}
			for _, id := range []string{stash, head} {
				f.o.In(f.vault(), "rev-list", "--objects", id)
			}
			f.track() // after the harm
			f.o.In(f.vault(), "rev-list", "--objects", stash)
		})
	}
}

// TestGitOff: without records the store has none, and no objects of git.
func TestGitOff(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t)
	f.opt.NoGit = true
	first := f.track()
	f.git("branch", "topic")
	if f.track().Checkpoint != first.Checkpoint || len(f.records()) > 0 || len(f.moved(first.Hash)) > 0 {
		t.Error("git is recorded although it is switched off")
	}
	if _, err := os.Lstat(f.vault()); err == nil {
		t.Error("objects of git are kept although it is switched off")
	}
	if p := f.repo().GitProtection(); p.On || p.Reason == "" {
		t.Errorf("protection %+v", p)
	}
}

// newSecretFixture is newGitFixture with a file that is not to be stored.
func newSecretFixture(t *testing.T) *gitFixture {
	t.Helper()
	f := newGitFixture(t)
	f.opt.NoBorrow = true
	f.write("secret", secret)
	f.o.Commit(f.root, "secret")
	f.git("gc", "-q")
	return f
}

// TestGitNever: contents that are never to be stored do not come into the store by way of git.
func TestGitNever(t *testing.T) {
	t.Parallel()
	f := newSecretFixture(t)
	f.opt.Never = []string{"secret"}
	f.write(".git/rebase-apply/patch", secret) // git am has stopped at it
	f.write(".git/rebase-apply/onto", "")
	got := f.track()
	if files := f.store("ls-tree", "-r", "--name-only", f.record(got.Checkpoint)); !strings.Contains(files, "files/rebase-apply/onto") {
		t.Errorf("the record does not show the operation in progress:\n%s", files)
	}
	f.wantNoTrace(secret[:60])
	if p := f.repo().GitProtection(); !p.On || p.Reason == "" {
		t.Errorf("protection %+v", p)
	}
	f.opt.Never = nil
	f.track()
	f.o.In(f.vault(), "rev-list", "--objects", f.git("rev-parse", "HEAD"))
	if p := f.repo().GitProtection(); !p.On || p.Reason != "" {
		t.Errorf("protection without the deny list: %+v", p)
	}
}

// TestGitVaultLost: objects are linked again if they were removed from the store.
func TestGitVaultLost(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t)
	f.track()
	if err := os.RemoveAll(f.vault()); err != nil {
		t.Fatal(err)
	}
	f.track()
	f.o.In(f.vault(), "rev-list", "--objects", f.git("rev-parse", "HEAD"))
}

// TestGitPurge: a purge takes the records and the objects of git away, and both stay away.
func TestGitPurge(t *testing.T) {
	t.Parallel()
	f := newSecretFixture(t)
	f.write("other", "")
	hash := f.track().Hash
	if len(f.traces(secret[:60])) == 0 {
		t.Fatal("the store has no trace of the contents before the purge")
	}
	if _, err := f.repo().Purge(f.Context(), []string{"secret"}); err != nil {
		t.Fatal(err)
	}
	f.wantNoTrace(secret[:60])
	f.git("branch", "topic")
	f.track()
	f.wantNoTrace(secret[:60])
	if words := f.moved(hash); len(words) > 0 {
		t.Errorf("words of a record that is gone: %q", words)
	}
	f.sound()
}

// TestGitRetention: a record lives as long as a checkpoint that names it, and so do the objects.
func TestGitRetention(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t)
	a := &aged{f.fixture, time.Now()}
	lost := f.git("rev-parse", "HEAD")
	old := a.trackAgo(60*time.Hour, "old")
	f.git("reset", "-q", "--hard", "HEAD~2")
	f.git("reflog", "expire", "--expire=now", "--all")
	f.git("gc", "-q", "--prune=now")
	young := a.trackAgo(time.Hour, "young")
	keep := cairn.CleanOptions{Retention: cairn.Retention{MaxAge: 100 * time.Hour, KeepLast: 1}}
	before := len(f.records())
	a.clean(keep)
	if len(f.records()) != before {
		t.Errorf("records %v after a cleaning that removes nothing", f.records())
	}
	f.o.In(f.vault(), "cat-file", "-e", lost)
	if len(f.moved(old)) == 0 {
		t.Error("nothing is said to have moved")
	}
	keep.MaxAge = 30 * time.Hour
	a.clean(keep)
	if got := f.records(); len(got) != 1 || got[0] != "refs/cairn/git/"+f.record(young) {
		t.Errorf("records %v", got)
	}
	a.time = a.time.Add(48 * time.Hour)
	f.write("a", "younger")
	if _, err := a.at().Track(background, cairn.TrackOptions{}); err != nil {
		t.Fatal(err)
	}
	a.clean(keep)
	if _, err := f.o.Try(f.vault(), "cat-file", "-e", lost); err == nil {
		t.Error("the lost commit is kept, although no checkpoint names it")
	}
	f.o.In(f.vault(), "rev-list", "--objects", f.git("rev-parse", "HEAD"))
}

// TestGitKinds: linked work trees, work trees of bare repositories, submodules, shallow clones.
func TestGitKinds(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t)
	parent := t.TempDir()
	at := func(name string) string { return filepath.Join(parent, name) }
	f.git("worktree", "add", "-q", "-b", "topic", at("linked"))
	f.o.In(parent, "clone", "-q", "--bare", f.root, at("bare.git"))
	f.o.In(at("bare.git"), "worktree", "add", "-q", "-b", "other", at("of-bare"))
	f.o.In(parent, "clone", "-q", "--depth=1", "file://"+f.root, at("shallow"))
	f.o.In(parent, "clone", "-q", "--shared", f.root, at("shared"))
	f.o.Init(at("super"))
	f.o.In(at("super"), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", f.root, "sub")
	for _, root := range []string{at("linked"), at("of-bare"), at("shallow"), at("shared"), at("super/sub")} {
		g := &gitFixture{&fixture{T: t, root: root, data: filepath.Join(t.TempDir(), "data")}, f.o}
		g.opt = cairn.Options{Root: root, DataDir: g.data, NoSync: true}
		before := g.track().Checkpoint // the newest checkpoint with the tree is another one afterwards
		branch := strings.TrimSpace(f.o.In(root, "symbolic-ref", "--short", "HEAD"))
		f.o.In(root, "commit", "-q", "--allow-empty", "-m", "x")
		g.track()
		words := g.moved(before)
		if len(words) == 0 || !strings.HasPrefix(words[0], branch+": 1 commit away") {
			t.Errorf("%s: moved %q", filepath.Base(root), words)
		}
		g.sound()
	}
}

// TestGitEnvironment: GIT_DIR and friends change neither what is recorded nor the repository.
func TestGitEnvironment(t *testing.T) {
	f := newGitFixture(t)
	other := f.o.Init(filepath.Join(t.TempDir(), "other"))
	for name, value := range map[string]string{"GIT_DIR": filepath.Join(other, ".git"), "GIT_INDEX_FILE": filepath.Join(other, "index"), "GIT_OBJECT_DIRECTORY": filepath.Join(other, "objects"), "GIT_WORK_TREE": other} {
		t.Setenv(name, value)
	}
	head := f.git("rev-parse", "HEAD")
	hash := f.track()
	if refs := f.store("cat-file", "-p", f.record(hash.Checkpoint)+":refs"); refs != "refs/heads/main "+head {
		t.Errorf("refs of the record: %q", refs)
	}
	f.git("reset", "-q", "--soft", "HEAD~1")
	if words := f.moved(hash.Hash); len(words) == 0 || !strings.HasPrefix(words[0], "main: 1 commit away") {
		t.Errorf("moved %q", words)
	}
}

// TestGitRecordLarge: a record of many refs and a large index comes back byte by byte. A small change
// adds little to the store.
func TestGitRecordLarge(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t)
	id := f.git("rev-parse", "HEAD")
	var refs strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&refs, "%s refs/heads/branch-%05d\n", id, i)
	}
	f.write(".git/packed-refs", "# pack-refs with: peeled fully-peeled sorted \n"+refs.String())
	var lines strings.Builder
	blob := f.git("rev-parse", "HEAD:file")
	for i := range 5_000 {
		fmt.Fprintf(&lines, "100644 %s\tdir/file-%05d\n", blob, i)
	}
	f.o.Feed(f.root, lines.String(), "update-index", "--index-info")
	first := f.record(f.track().Checkpoint)
	index, err := os.ReadFile(f.path(".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.part(first, "files/index"); got != string(index) {
		t.Errorf("the recorded index has %d bytes, the index %d", len(got), len(index))
	}
	if got := f.part(first, "refs"); strings.Count(got, "\n") != 10_001 || !strings.Contains(got, "refs/heads/branch-09999 "+id+"\n") {
		t.Errorf("the record has %d refs", strings.Count(got, "\n"))
	}
	before, err := retention.SizeOf(f.repo().StoreDir())
	if err != nil {
		t.Fatal(err)
	}
	f.git("update-ref", "refs/heads/branch-05000", "HEAD~1")
	if f.record(f.track().Checkpoint) == first {
		t.Fatal("the move is not recorded")
	}
	after, err := retention.SizeOf(f.repo().StoreDir())
	if err != nil {
		t.Fatal(err)
	}
	if after-before > 200_000 {
		t.Errorf("one moved ref takes %d bytes", after-before)
	}
	f.sound()
}
