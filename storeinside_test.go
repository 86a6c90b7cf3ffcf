package cairn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// inner is a store inside the root of a fixture that belongs to a data directory of its own.
type inner struct {
	f    *fixture
	opt  cairn.Options
	path string // of the store, below the root
}

func newInner(f *fixture) *inner {
	opt := f.opt
	opt.DataDir = filepath.Join(f.root, ".agent")
	return &inner{f, opt, filepath.ToSlash(filepath.Join(".agent", "snapshot", cairn.ProjectID(mustEval(f.T, f.root))))}
}

// track makes a checkpoint in the store inside.
func (in *inner) track() *cairn.TrackResult {
	in.f.Helper()
	r, err := cairn.Open(in.opt)
	if err != nil {
		in.f.Fatal(err)
	}
	defer r.Close()
	t, err := r.Track(in.f.Context(), cairn.TrackOptions{})
	if err != nil {
		in.f.Fatal(err)
	}
	return t
}

// has asserts that the store inside still has its newest checkpoint.
func (in *inner) has(want *cairn.TrackResult) {
	in.f.Helper()
	r, err := cairn.Open(in.opt)
	if err != nil {
		in.f.Fatal(err)
	}
	defer r.Close()
	for got, err := range r.Checkpoints(in.f.Context()) {
		if err != nil || got.ID != want.Checkpoint {
			in.f.Errorf("the newest checkpoint inside is %v (%v), not %s", got, err, want.Checkpoint)
		}
		break
	}
	found, err := r.Check(in.f.Context(), cairn.CheckOptions{})
	if err != nil || len(found) > 0 {
		in.f.Errorf("the store inside: %v, %v", found, err)
	}
}

func (in *inner) full() string { return filepath.Join(in.f.root, filepath.FromSlash(in.path)) }

func TestV12_StoreOfAnotherDataDirectory(t *testing.T) {
	t.Parallel()
	for _, watch := range []bool{false, true} {
		t.Run(fmt.Sprintf("watch=%t", watch), func(t *testing.T) {
			t.Parallel()
			testStoreInside(t, watch)
		})
	}
}

func testStoreInside(t *testing.T, watch bool) {
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.opt.Watch = watch
	in := newInner(f)
	in.opt.Watch = false
	in.track()
	r := f.repo()
	before := f.trackBy(r)
	if want := []cairn.SkippedPath{{Path: cairn.Path(in.path), Reason: "cairn store"}}; !slices.Equal(before.Skipped, want) {
		t.Errorf("skipped %v, not %v", before.Skipped, want)
	}
	overwrite(t, filepath.Join(f.root, "a"), "2\n")
	newest := in.track()
	if again := f.trackBy(r); again.Files != 1 || again.Changed != 1 {
		t.Errorf("the second checkpoint holds %d files, %d changed", again.Files, again.Changed)
	}

	for _, back := range []struct {
		name string
		do   func() (*cairn.Result, error)
	}{
		{"restore", func() (*cairn.Result, error) {
			return r.Restore(t.Context(), before.Hash, cairn.RestoreOptions{})
		}},
		{"undo", func() (*cairn.Result, error) { return r.Undo(t.Context(), cairn.RevertOptions{}) }},
		{"redo", func() (*cairn.Result, error) { return r.Redo(t.Context(), cairn.RevertOptions{}) }},
	} {
		res, err := back.do()
		if err != nil || len(res.Kept)+len(res.Conflicts) > 0 {
			t.Errorf("%s: %+v, %v", back.name, res, err)
		}
		in.has(newest)
	}
}

// Files that were captured before the directory became a store, or by a program that
// captured stores, do not overwrite a store.
func TestV12_CapturedFilesOfAStoreStayAway(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	in := newInner(f)
	in.track()
	refs, aside := filepath.Join(in.full(), "refs"), filepath.Join(t.TempDir(), "refs")
	rename(t, refs, aside)
	captured := f.trackBy(f.repo())
	if len(captured.Skipped) > 0 || captured.Files < 5 {
		t.Fatalf("what is no store is not captured: %+v", captured)
	}
	rename(t, aside, refs)
	newest := in.track()
	f.trackBy(f.repo())

	r := f.repo()
	for _, way := range []cairn.RestoreOptions{{}, {Paths: []string{".agent"}}, {Paths: []string{in.path + "/cairn/lock"}}} {
		overwrite(t, filepath.Join(in.full(), "cairn", "lock"), "now")
		res, err := r.Restore(t.Context(), captured.Hash, way)
		if err != nil || len(res.Restored)+len(res.Deleted) > 0 {
			t.Errorf("%v: %+v, %v", way.Paths, res, err)
		}
		if !slices.ContainsFunc(res.Kept, func(k cairn.PathReason) bool { return k.Path == cairn.Path(in.path) }) {
			t.Errorf("%v: kept %v, without the store", way.Paths, res.Kept)
		}
		if now, err := os.ReadFile(filepath.Join(in.full(), "cairn", "lock")); err != nil || string(now) != "now" {
			t.Errorf("%v: a file of the store holds %q, %v", way.Paths, now, err)
		}
	}
	in.has(newest)
}

// A directory is no store for the sake of some files in it.
func TestV12_NoStoreByItsLooks(t *testing.T) {
	t.Parallel()
	const id = "0123456789abcdef"
	looks := gittest.Tree{
		"HEAD": gittest.File("ref: refs/heads/cairn\n"), "config": gittest.File("[core]\n"),
		"objects/info/x": gittest.File(""), "refs/x": gittest.File(""),
		"cairn/version": gittest.File("1\n"), "cairn/root": gittest.File("/somewhere"), "cairn/lock": gittest.File(""),
	}
	trueID := cairn.ProjectID("/somewhere")
	for _, test := range []struct {
		dir  string
		drop string // of what a store has
		link string // what leads elsewhere instead
		want bool
	}{
		{dir: "src"},
		{dir: id},
		{dir: "snapshot/" + id, want: true}, // its record is damaged
		{dir: trueID, want: true},
		{dir: "x/snapshot/" + trueID, want: true},
		{dir: trueID, drop: "objects"},
		{dir: trueID, drop: "refs"},
		{dir: trueID, drop: "cairn"},
		{dir: trueID, link: "objects"},
		{dir: trueID, link: "cairn"},
		{dir: "snapshot/" + id, drop: "HEAD"},
		{dir: "snapshot/" + id, drop: "cairn/lock"},
	} {
		t.Run(strings.ReplaceAll(test.dir+" "+test.drop+test.link, "/", "_"), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
			dir := filepath.Join(f.root, filepath.FromSlash(test.dir))
			gittest.Create(t, dir, looks)
			gittest.Create(t, dir, gittest.Tree{"mine.go": gittest.File("package mine\n")})
			if test.drop != "" {
				remove(t, filepath.Join(dir, filepath.FromSlash(test.drop)))
			}
			if test.link != "" {
				to := filepath.Join(t.TempDir(), "moved")
				rename(t, filepath.Join(dir, test.link), to)
				if err := gittest.Symlink(to, filepath.Join(dir, test.link)); err != nil {
					t.Fatal(err)
				}
			}
			got := f.trackBy(f.repo())
			if passed := len(got.Skipped) == 1 && got.Skipped[0].Reason == "cairn store"; passed != test.want {
				t.Errorf("passed over: %v; skipped %v", passed, got.Skipped)
			}
			if mine := slices.Contains(f.files(got.Hash), test.dir+"/mine.go"); mine == test.want {
				t.Errorf("mine.go is captured: %v", mine)
			}
		})
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
