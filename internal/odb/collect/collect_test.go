package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/keep"
	"github.com/seed-fb9cbc17/cairn/internal/odb/odbtest"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// collect runs a collection that has to succeed.
func collect(t testing.TB, db *odb.DB, opt Options) *Result {
	t.Helper()
	out, err := Run(t.Context(), db, opt)
	if err != nil || out.Blocked != nil {
		t.Fatalf("collect: %+v, %v", out, err)
	}
	return out
}

func packWithGit(t testing.TB, db *odb.DB) PackFunc {
	gittest.NeedGit(t)
	return gitPacker(db)
}

func TestCollect(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 20)
	l.Fill("refs/cairn/tracks/b", 30)
	if out := collect(t, l.DB, Options{}); out.Garbage != 0 || out.Dropped != 0 || out.Live != len(l.Objs) {
		t.Errorf("without garbage: %+v", out)
	}
	l.Check(true)
	l.Forget("refs/cairn/tracks/b")
	before := odbtest.PackBytes(t, l.DB)
	plan := collect(t, l.DB, Options{DryRun: true})
	out := collect(t, l.DB, Options{})
	after := odbtest.PackBytes(t, l.DB)
	if out.Garbage == 0 || out.Garbage != plan.Garbage || out.Dropped != out.Garbage || out.Freed != before-after || out.Size != after || out.Incomplete {
		t.Errorf("plan %+v,\ndone %+v: %d bytes before, %d after", plan, out, before, after)
	}
	if plan.Freed < out.Freed/2 || plan.Freed > out.Freed*2 {
		t.Errorf("was to free %d, has freed %d", plan.Freed, out.Freed)
	}
	if out.Packs > 4 || out.Peak > out.Size*12/10 {
		t.Errorf("%d packs, %d temporary bytes of %d", out.Packs, out.Peak, out.Size)
	}
	l.Check(true)
	odbtest.WantClean(t, l.DB, "collected")
	if out := collect(t, l.DB, Options{Thorough: true}); len(out.Added)+len(out.Removed) != 0 {
		t.Errorf("once more: %+v", out)
	}
}

func TestCollectThorough(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	files := map[string]string{"small": "secret"}
	for i := range 20 {
		files[fmt.Sprint(i)] = string(gittest.Noise(uint64(i), 1000))
	}
	l.Track("refs/cairn/tracks/a", files)
	l.Forget("refs/cairn/tracks/a")
	files["small"] = "not secret"
	b := l.NewBatch()
	l.Of["refs/cairn/x"] = make(map[object.ID]bool)
	for name := range files {
		l.Add(b, object.Blob, []byte(files[name]), l.Of["refs/cairn/x"])
	}
	b.Discard()
	l.Track("refs/cairn/x", files)
	if out := collect(t, l.DB, Options{}); out.Garbage != 4 || out.Dropped != 0 {
		t.Errorf("little garbage: %+v", out)
	}
	l.Check(false)
	if out := collect(t, l.DB, Options{Thorough: true}); out.Dropped != 4 {
		t.Errorf("thorough: %+v", out)
	}
	l.Check(true)
}

// Every kind of name keeps the objects that it leads to.
func TestCollectRoots(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	for i, line := range []string{"head", "packed", "journal", "torn", "root", "tag", "tree", "blob", "parent", "none"} {
		l.Fill("refs/cairn/x/"+line, 1+i%2)
	}
	tip := func(name string) object.ID { return must1(l.Ref("refs/cairn/x/" + name)) }
	// gone deletes a ref of which something else keeps what it leads to.
	gone := func(name string) { must(t, l.DeleteRef("refs/cairn/x/"+name)) }
	must(t, os.WriteFile(l.Path("HEAD"), []byte(tip("head").String()+"\n"), 0o600))
	gone("head")
	must(t, os.WriteFile(l.Path("packed-refs"), []byte(tip("packed").String()+" refs/cairn/x/packed\n"), 0o600))
	must(t, os.Remove(l.Path("refs/cairn/x/packed")))
	must(t, l.WriteJournal("operation", []byte(`{"before":"`+tip("journal").String()+`","absent":"`+strings.Repeat("12", 20)+`"}`), nil))
	gone("journal")
	must(t, os.WriteFile(l.Path("cairn/journal/torn"), []byte("cairn journal 1 \n"+tip("torn").String()), 0o600))
	gone("torn")
	root := tip("root")
	gone("root")
	b := l.NewBatch()
	tag := must1(b.Add(object.Tag, []byte("object "+tip("tag").String()+"\ntype commit\ntag v1\ntagger a <a@b> 1 +0000\n\nx\n")))
	merge := must1(b.Add(object.Commit, []byte("tree "+object.EmptyTree.String()+"\nparent "+tip("blob").String()+"\nparent "+tip("parent").String()+
		"\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx")))
	must1(b.Add(object.Tree, nil))
	must(t, b.Commit())
	must(t, l.SetRef("refs/tags/v1", tag))
	gone("tag")
	must(t, l.SetRef("refs/cairn/operations", merge))
	gone("parent")
	gone("blob")
	commit, content, err := l.Read(tip("tree"))
	must(t, err)
	id := must1(object.ParseID(string(content[len("tree "):][:2*len(object.ID{})])))
	if commit != object.Commit {
		t.Fatal(commit)
	}
	must(t, l.SetRef("refs/cairn/disk", id))
	gone("tree")
	for lost := range l.Of["refs/cairn/x/tree"] {
		if kind, _, err := l.Stat(lost); err != nil || kind == object.Commit {
			delete(l.Of["refs/cairn/x/tree"], lost)
		}
	}
	l.Forget("refs/cairn/x/none")
	lone := odbtest.Commit(t, l.DB, "a blob with a ref of its own")[0]
	must(t, l.SetRef("refs/cairn/lone", lone))
	out := collect(t, l.DB, Options{Roots: []object.ID{root, {1, 2}}, Thorough: true})
	if out.Dropped == 0 {
		t.Errorf("%+v", out)
	}
	l.Check(true)
	odbtest.WantBlob(t, l.DB, lone, "a blob with a ref of its own")
}

// Loose objects of git's become part of a pack.
func TestCollectLoose(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 2)
	large := filepath.Join(t.TempDir(), "large")
	must(t, os.WriteFile(large, gittest.Prose(3, pack.StreamAbove+10), 0o600))
	live := []string{
		strings.TrimSpace(gittest.Bare(t, l.Dir(), "loose", "hash-object", "-w", "--stdin")),
		strings.TrimSpace(gittest.Bare(t, l.Dir(), "", "hash-object", "-w", large)),
	}
	for i, hex := range live {
		must(t, l.SetRef(fmt.Sprint("refs/cairn/loose", i), must1(object.ParseID(hex))))
	}
	garbage := t.TempDir()
	var paths strings.Builder
	for i := range 100 {
		path := filepath.Join(garbage, fmt.Sprint(i))
		must(t, os.WriteFile(path, fmt.Append(nil, "garbage ", i), 0o600))
		fmt.Fprintln(&paths, path)
	}
	gittest.Bare(t, l.Dir(), paths.String(), "hash-object", "-w", "--stdin-paths")
	bad := must1(object.ParseID(strings.TrimSpace(gittest.Bare(t, l.Dir(), "to be damaged", "hash-object", "-w", "--stdin"))))
	must(t, l.SetRef("refs/cairn/bad", bad))
	must(t, os.Chmod(l.Loose(bad).Path, 0o600))
	data, err := os.ReadFile(l.Loose(bad).Path)
	must(t, err)
	must(t, os.WriteFile(l.Loose(bad).Path, append(data[:len(data)-1], data[len(data)-1]^1), 0o600))
	out := collect(t, l.DB, Options{})
	if out.Dropped < 100 {
		t.Errorf("%+v", out)
	}
	left, err := l.LooseObjects()
	if err != nil || !slices.Equal(left, []object.ID{bad}) {
		t.Errorf("left %v, %v", left, err)
	}
	must(t, l.DeleteRef("refs/cairn/bad"))
	collect(t, l.DB, Options{})
	l.Check(true)
	odbtest.WantBlob(t, l.DB, must1(object.ParseID(live[1])), string(gittest.Prose(3, pack.StreamAbove+10)))
}

// The vault gets loose objects that a collection drops, but not those of a purge.
func TestCollectForTheVault(t *testing.T) {
	t.Parallel()
	for _, purge := range []bool{false, true} {
		l := odbtest.NewLines(t)
		l.Fill("refs/cairn/tracks/a", 2)
		hex := strings.TrimSpace(gittest.Bare(t, l.Dir(), "a secret", "hash-object", "-w", "--stdin"))
		_, err := vaultOf(l.DB).Keep(t.Context(), nil, keep.Options{Beside: l.Path("objects")})
		must(t, err)
		collect(t, l.DB, Options{Thorough: true, Purge: purge})
		left, err := filepath.Glob(l.Path(filepath.Join("cairn", odb.KeptDir, "objects", hex[:2], hex[2:])))
		if gone := len(left) == 0; err != nil || gone != purge {
			t.Errorf("purge %v: %q is left, %v", purge, left, err)
		}
	}
}

// TestR89TwoCollects: the second one leaves the work to the first.
func TestR89TwoCollects(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 3)
	other := odbtest.Reopen(t, l.DB)
	collect(t, l.DB, Options{BeforeRemove: func(gone, left []string) error {
		if _, err := Run(t.Context(), other, Options{}); !errors.Is(err, ErrBusy) {
			t.Errorf("the second says %v", err)
		}
		return nil
	}})
	collect(t, other, Options{})
	l.Check(true)
}

func TestCollectStopsWithItsContext(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 100)
	l.Fill("refs/cairn/tracks/b", 10)
	l.Forget("refs/cairn/tracks/b")
	ctx, cancel := context.WithCancel(t.Context())
	free := func() (int64, error) { cancel(); return 1 << 40, nil }
	if _, err := Run(ctx, l.DB, Options{Free: free}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	l.Check(false)
	odbtest.WantClean(t, l.DB, "cancelled")
}

// The parents of a commit at which a line is cut off go. If the line is no longer cut off when
// they are about to go, they stay.
func TestCollectShallow(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 5)
	old := l.Of["refs/cairn/tracks/a"]
	cut := l.Track("refs/cairn/tracks/a", map[string]string{"f": "cut here"})
	delete(l.Of, "refs/cairn/tracks/a")
	last := l.Track("refs/cairn/tracks/a", map[string]string{"f": "last"})
	for _, id := range []object.ID{cut, last} {
		must(t, l.SetRef("refs/cairn/tracks/a", id))
	}
	if out := collect(t, l.DB, Options{Thorough: true}); out.Garbage != 0 {
		t.Errorf("nothing was cut: %+v", out)
	}
	plan := collect(t, l.DB, Options{Thorough: true, DryRun: true, Cut: []object.ID{cut}})
	must(t, l.SetShallow([]object.ID{cut}))
	g := &collector{db: l.DB, opt: Options{Thorough: true, Free: func() (int64, error) { return 1 << 40, nil }}, out: &Result{}}
	must(t, g.mark(t.Context()))
	must(t, l.SetShallow(nil))
	must(t, g.sweepGarbage(t.Context()))
	if g.out.Dropped != 0 {
		t.Errorf("not cut any more: %+v", g.out)
	}
	must(t, l.SetShallow([]object.ID{cut}))
	out := collect(t, l.DB, Options{Thorough: true})
	if out.Dropped == 0 || out.Dropped != plan.Garbage {
		t.Errorf("plan %+v, done %+v", plan, out)
	}
	for id := range old {
		if ok, err := l.Has(id); ok || err != nil {
			t.Errorf("%s is still there, %v", id, err)
		}
	}
	odbtest.Fsck(t, l.DB)
}
