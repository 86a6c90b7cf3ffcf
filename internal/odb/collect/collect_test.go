package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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

// gitPacker packs as package git does.
func gitPacker(db *odb.DB) PackFunc {
	return func(ctx context.Context, dir string, objects io.Reader, _ int64) error {
		cmd := exec.CommandContext(ctx, "git", "--git-dir="+db.Dir(), "pack-objects", "-q", "--delta-base-offset", filepath.Join(dir, "pack"))
		cmd.Env = append(os.Environ(), "GIT_OBJECT_DIRECTORY="+dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+odbtest.Path(db, "objects"))
		cmd.Stdin = objects
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
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

// TestR67EmptyLiveSet: a store without a ref is more likely damaged than empty.
func TestR67EmptyLiveSet(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 3)
	must(t, os.RemoveAll(l.Path("refs/cairn")))
	out, err := Run(t.Context(), l.DB, Options{Thorough: true})
	if err != nil || out.Blocked == nil || out.Dropped != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	l.Check(false)
	for id := range l.Of["refs/cairn/tracks/a"] {
		if ok, err := l.Has(id); !ok || err != nil {
			t.Fatalf("%s is gone: %v", id, err)
		}
	}
}

// An object that cannot be read may lead to any other: nothing is dropped. The leftovers of dead
// writers are swept.
func TestCollectIsBlockedByDamage(t *testing.T) {
	t.Parallel()
	torn := func(ref string) func(l *odbtest.Lines) {
		return func(l *odbtest.Lines) { must(l.T, os.WriteFile(l.Path(ref), []byte("1234"), 0o600)) }
	}
	hollow := func(kind object.Kind) func(l *odbtest.Lines) {
		return func(l *odbtest.Lines) { // a ref to something that refers to what is not there
			b := l.NewBatch()
			missing := object.ID{1, 2, 3}
			content := object.AppendTree(nil, []object.Entry{{Name: "d", Mode: object.Dir, ID: missing}})
			if kind == object.Commit {
				content = []byte("tree " + object.EmptyTree.String() + "\nparent " + missing.String() + "\n\n")
			}
			id, err := b.Add(kind, content)
			must(l.T, err)
			must(l.T, b.Commit())
			must(l.T, l.SetRef("refs/cairn/hollow", id))
		}
	}
	tests := map[string]func(l *odbtest.Lines){
		"torn ref":          torn("refs/cairn/tracks/torn"),
		"torn HEAD":         torn("HEAD"),
		"ref to nothing":    func(l *odbtest.Lines) { must(l.T, l.SetRef("refs/cairn/x", object.ID{9})) },
		"missing tree":      hollow(object.Tree),
		"missing parent":    hollow(object.Commit),
		"torn packed-refs":  func(l *odbtest.Lines) { must(l.T, os.WriteFile(l.Path("packed-refs"), []byte("1234 refs/x\n"), 0o600)) },
		"packed-refs noise": func(l *odbtest.Lines) { must(l.T, os.WriteFile(l.Path("packed-refs"), []byte("\x00\x01\n"), 0o600)) },
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := odbtest.NewLines(t)
			l.Fill("refs/cairn/tracks/a", 3)
			l.Fill("refs/cairn/tracks/b", 3)
			gone := l.Of["refs/cairn/tracks/b"]
			l.Forget("refs/cairn/tracks/b")
			damage(l)
			left := l.Path("objects/pack/" + pack.TempPrefix + "0123")
			must(t, os.WriteFile(left, nil, 0o600))
			out, err := Run(t.Context(), l.DB, Options{Thorough: true})
			if err != nil || out.Blocked == nil || out.Dropped != 0 || out.Garbage == 0 {
				t.Fatalf("%+v, %v", out, err)
			}
			for id := range gone {
				if ok, err := l.Has(id); !ok || err != nil {
					t.Fatalf("%s is gone: %v", id, err)
				}
			}
			if _, err := os.Lstat(left); err == nil {
				t.Error("a temporary file is still there")
			}
		})
	}
}

// A blob leads to nothing, so a missing one is reported and the collection goes on.
func TestCollectWithAMissingBlob(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 3)
	l.Fill("refs/cairn/tracks/b", 3)
	l.Forget("refs/cairn/tracks/b")
	b := l.NewBatch()
	missing := object.ID{1, 2, 3}
	id, err := b.Add(object.Tree, object.AppendTree(nil, []object.Entry{
		{Name: "lost", Mode: object.Regular, ID: missing}, {Name: "nested", Mode: object.Gitlink, ID: object.ID{7}},
	}))
	must(t, err)
	must(t, b.Commit())
	must(t, l.SetRef("refs/cairn/disk", id))
	out := collect(t, l.DB, Options{})
	if out.Dropped == 0 || len(out.Lost) != 1 || out.Lost[0].ID != missing || !out.Lost[0].Missing {
		t.Fatalf("%+v", out)
	}
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

// A pack of git's holds deltas. A copy keeps them where it can, and every object keeps its
// contents.
func TestCollectDeltas(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"repack", "-adf", "--depth=50"}, {"-c", "repack.useDeltaBaseOffset=false", "repack", "-adf"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			l := odbtest.NewLines(t)
			text := string(gittest.Prose(1, 20000))
			for i := range 30 {
				text = strings.Replace(text, "cairn", fmt.Sprint("c", i), 3)
				l.Track(fmt.Sprint("refs/cairn/tracks/", i), map[string]string{"f": text, "g": text[:9000]})
			}
			gittest.Bare(t, l.Dir(), "", args...)
			if names := l.PackNames(); len(names) != 1 {
				t.Fatal(names)
			}
			for i := range 30 {
				if i%3 != 1 {
					l.Forget(fmt.Sprint("refs/cairn/tracks/", i))
				}
			}
			out := collect(t, l.DB, Options{Thorough: true})
			if out.Dropped == 0 || len(out.Added) != 1 {
				t.Errorf("%+v", out)
			}
			l.Check(true)
		})
	}
}

// With git, the collection makes deltas.
func TestCollectWithGit(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	pack := packWithGit(t, l.DB)
	text := string(gittest.Prose(1, 3000))
	for i := range 20 {
		files := map[string]string{"name\nwith": fmt.Sprint(i)}
		for j := range 60 {
			text = text[1:] + fmt.Sprint(j)
			files[fmt.Sprint(j)] = text
		}
		l.Track("refs/cairn/tracks/a", files)
	}
	l.Fill("refs/cairn/tracks/b", 10)
	l.Forget("refs/cairn/tracks/b")
	gittest.Bare(t, l.Dir(), "a loose one", "hash-object", "-w", "--stdin")
	before := odbtest.PackBytes(t, l.DB)
	out := collect(t, l.DB, Options{Pack: pack})
	if out.Packs != 1 || out.Unpacked != nil || out.Size > before/2 || out.Dropped < out.Garbage {
		t.Errorf("%d bytes before: %+v", before, out)
	}
	l.Check(true)
	odbtest.WantClean(t, l.DB, "packed")
	l.Track("refs/cairn/tracks/a", map[string]string{"f": text, "g": "new"})
	if out := collect(t, l.DB, Options{Pack: pack}); len(out.Removed) != 0 {
		t.Errorf("again, though it does not pay: %+v", out)
	}
	l.Check(true)
}

// The versions of a directory or of a file are named to git in a row: git compares neighbours
// only, and in any other order most deltas are several times as large.
func TestCollectNamesVersionsInARow(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	const versions = 210
	number := make(map[string]map[object.ID]int) // by what it is a version of
	note := func(what string, id object.ID, i int) {
		if number[what] == nil {
			number[what] = make(map[object.ID]int)
		}
		number[what][id] = i
	}
	for i := range versions {
		files := make(map[string]string)
		for _, name := range []string{"a", "b", "c", "d"} {
			files[name] = fmt.Sprint(name, i)
			note(name, object.Sum(object.Blob, []byte(files[name])), i)
		}
		commit := l.Track("refs/cairn/tracks/a", files)
		c, err := object.ParseCommit(l.Objs[commit])
		must(t, err)
		note("commit", commit, i)
		note("root", c.Tree, i)
	}
	order := make(map[string][]int)
	collect(t, l.DB, Options{Pack: func(_ context.Context, _ string, r io.Reader, size int64) error {
		if now := odbtest.PackBytes(t, l.DB); size < now/4 || size > now {
			t.Errorf("asked to pack %d bytes, where there are %d", size, now)
		}
		text, err := io.ReadAll(r)
		must(t, err)
		for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
			id, err := object.ParseID(line[:2*len(object.ID{})])
			must(t, err)
			for what, versions := range number {
				if i, ok := versions[id]; ok {
					order[what] = append(order[what], i)
				}
			}
		}
		return errors.New("seen")
	}})
	for what := range number {
		if got := order[what]; len(got) != versions || !slices.IsSorted(got) && !slices.IsSortedFunc(got, func(a, b int) int { return b - a }) {
			t.Errorf("versions of %s: %v", what, got)
		}
	}
}

// A packer that fails, or that makes another pack than it was asked for, changes nothing.
func TestCollectDistrustsThePacker(t *testing.T) {
	t.Parallel()
	packers := map[string]func(t *testing.T, l *odbtest.Lines) PackFunc{
		"fails": func(t *testing.T, l *odbtest.Lines) PackFunc {
			return func(context.Context, string, io.Reader, int64) error { return errors.New("boom") }
		},
		"dies half-way": func(t *testing.T, l *odbtest.Lines) PackFunc {
			return func(_ context.Context, dir string, _ io.Reader, _ int64) error {
				must(t, os.Mkdir(filepath.Join(dir, "pack"), 0o700))
				must(t, os.WriteFile(filepath.Join(dir, "pack", "tmp_pack_1"), []byte("half"), 0o600))
				return errors.New("killed")
			}
		},
		"makes nothing": func(t *testing.T, l *odbtest.Lines) PackFunc {
			return func(_ context.Context, _ string, r io.Reader, _ int64) error {
				_, err := io.Copy(io.Discard, r)
				return err
			}
		},
		"leaves one out": func(t *testing.T, l *odbtest.Lines) PackFunc {
			good := packWithGit(t, l.DB)
			return func(ctx context.Context, dir string, r io.Reader, size int64) error {
				data, err := io.ReadAll(r)
				must(t, err)
				_, rest, _ := strings.Cut(string(data), "\n")
				return good(ctx, dir, strings.NewReader(rest), size)
			}
		},
		"damages one": func(t *testing.T, l *odbtest.Lines) PackFunc {
			good := packWithGit(t, l.DB)
			return func(ctx context.Context, dir string, r io.Reader, size int64) error {
				must(t, good(ctx, dir, r, size))
				names, err := filepath.Glob(filepath.Join(dir, "*.pack"))
				must(t, err)
				must(t, os.Chmod(names[0], 0o600))
				data, err := os.ReadFile(names[0])
				must(t, err)
				data[len(data)/2] ^= 4
				return os.WriteFile(names[0], data, 0o600)
			}
		},
	}
	for name, packer := range packers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := odbtest.NewLines(t)
			for i := range 5 {
				files := make(map[string]string)
				for j := range 210 {
					files[fmt.Sprint(j)] = fmt.Sprint(i, j)
				}
				l.Track("refs/cairn/tracks/a", files)
			}
			l.Fill("refs/cairn/tracks/b", 3)
			l.Forget("refs/cairn/tracks/b")
			out := collect(t, l.DB, Options{Pack: packer(t, l), Thorough: true})
			if out.Unpacked == nil || out.Incomplete {
				t.Errorf("%+v", out)
			}
			l.Check(true)
			odbtest.WantClean(t, l.DB, name)
		})
	}
}

func TestCollectLeavesKeptPacksAlone(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/b", 1)
	kept := l.PackNames()[0]
	must(t, os.WriteFile(l.Path("objects/pack/"+kept+".keep"), nil, 0o600))
	l.Fill("refs/cairn/tracks/a", 3)
	l.Forget("refs/cairn/tracks/b")
	collect(t, l.DB, Options{Thorough: true})
	if !slices.Contains(l.PackNames(), kept) {
		t.Error("a pack with .keep is gone")
	}
	l.Check(false)
	must(t, os.Remove(l.Path("objects/pack/"+kept+".keep")))
	collect(t, l.DB, Options{Thorough: true})
	l.Check(true)
}

func TestCollectWithAMultiPackIndex(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 3)
	l.Fill("refs/cairn/tracks/b", 3)
	gittest.Bare(t, l.Dir(), "", "multi-pack-index", "write")
	l.Forget("refs/cairn/tracks/b")
	if out := collect(t, l.DB, Options{}); out.Dropped == 0 {
		t.Errorf("%+v", out)
	}
	l.Check(true)
}

// Loose objects of git's become part of a pack.
func TestCollectLoose(t *testing.T) {
	t.Parallel()
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

// Without room nothing is copied. A pack that is all garbage goes.
func TestR62CollectWithoutRoom(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 10)
	l.Fill("refs/cairn/tracks/b", 1)
	l.Forget("refs/cairn/tracks/b")
	b := l.NewBatch() // a pack that is half garbage
	must1(b.Add(object.Blob, gittest.Noise(1, 50000)))
	half := must1(b.Add(object.Blob, gittest.Noise(2, 50000)))
	must(t, b.Commit())
	must(t, l.SetRef("refs/cairn/half", half))
	free := func() (int64, error) { return 40000, nil }
	before := odbtest.PackBytes(t, l.DB)
	out, err := Run(t.Context(), l.DB, Options{Free: free, Reserve: 30000})
	if !errors.Is(err, ErrNoSpace) || out.Peak > 10000 {
		t.Fatalf("%+v, %v", out, err)
	}
	if odbtest.PackBytes(t, l.DB) >= before {
		t.Error("garbage is still there")
	}
	odbtest.WantClean(t, l.DB, "no room")
	l.Check(false)
	collect(t, l.DB, Options{})
	l.Check(true)
}

// The caller hears of every pack that goes while the pack is still there, and its error keeps the
// packs.
func TestCollectBeforeRemove(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 10)
	l.Fill("refs/cairn/tracks/b", 10)
	l.Forget("refs/cairn/tracks/b")
	before := l.PackNames()
	objection := errors.New("no")
	if _, err := Run(t.Context(), l.DB, Options{BeforeRemove: func(gone, left []string) error { return objection }}); !errors.Is(err, objection) {
		t.Fatal(err)
	}
	for _, name := range before {
		if !slices.Contains(l.PackNames(), name) {
			t.Fatalf("%s is gone", name)
		}
	}
	l.Check(false)
	known := l.PackNames()
	collect(t, l.DB, Options{BeforeRemove: func(gone, left []string) error {
		for _, name := range gone {
			if !slices.Contains(l.PackNames(), name) || slices.Contains(left, name) {
				t.Errorf("%s is gone already, or not", name)
			}
		}
		known = left
		return nil
	}})
	if !slices.Equal(known, l.PackNames()) {
		t.Errorf("said %q, there are %q", known, l.PackNames())
	}
	l.Check(true)
}

// A damaged pack stays as it is, and the others are cleaned.
func TestCollectAroundADamagedPack(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/b", 5)
	b := l.NewBatch()
	id := must1(b.Add(object.Blob, gittest.Noise(1, 5000)))
	must1(b.Add(object.Blob, gittest.Noise(2, 50000)))
	must(t, b.Commit())
	must(t, l.SetRef("refs/cairn/damaged", id))
	var bad *pack.Pack
	for _, p := range must1(l.Packs()) {
		if p.Has(id) {
			bad = p
		}
	}
	data, err := os.ReadFile(bad.Stem + pack.Ext)
	must(t, err)
	off, _, err := bad.Find(id)
	must(t, err)
	data[off+100] ^= 1
	must(t, os.WriteFile(bad.Stem+pack.Ext, data, 0o600))
	l.Fill("refs/cairn/tracks/a", 5)
	l.Forget("refs/cairn/tracks/b")
	out := collect(t, l.DB, Options{Thorough: true})
	if !slices.Contains(l.PackNames(), bad.Name()) || out.Dropped == 0 {
		t.Errorf("%+v", out)
	}
	must(t, l.DeleteRef("refs/cairn/damaged"))
	out = collect(t, l.DB, Options{Thorough: true})
	if slices.Contains(l.PackNames(), bad.Name()) {
		t.Errorf("garbage stays because it is damaged: %+v", out)
	}
	l.Check(true)
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

// A store that has never had a ref has lost none.
func TestV15_CollectWithoutAnyRef(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	out, err := Run(t.Context(), l.DB, Options{})
	if err != nil || out.Blocked != nil {
		t.Errorf("%+v, %v", out, err)
	}
}
