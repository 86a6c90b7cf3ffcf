package cairn_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// secret is what must not be left. It does not compress, so that a part of it shows
// wherever it lies.
var secret = strings.Repeat("Zq7", 3) + noise(99, 3000)

func (f *fixture) wantNoTrace(text string) {
	f.Helper()
	if found := f.traces(text); len(found) > 0 {
		f.Errorf("these hold what was purged: %v", found)
	}
}

// traces looks for text in every file of the store, as it lies and inflated at
// every place where something could have been deflated.
func (f *fixture) traces(text string) (found []string) {
	f.Helper()
	err := filepath.WalkDir(f.repo().StoreDir(), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a background job of an open Repo has renamed its temporary file
		}
		if err != nil {
			return err
		}
		if bytes.Contains(data, []byte(text)) {
			found = append(found, path)
		}
		for i := range data {
			if data[i]&0x0f == 8 && bytes.Contains(inflated(data[i:]), []byte(text)) {
				found = append(found, path)
			}
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	return found
}

func inflated(data []byte) []byte {
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	out, _ := io.ReadAll(io.LimitReader(z, 1<<20))
	return out
}

func (f *fixture) purge(paths ...string) *cairn.PurgeResult {
	f.Helper()
	got, err := f.repo().Purge(background, paths)
	if err != nil {
		f.Fatalf("purge: %v", err)
	}
	return got
}

func TestPurge(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	clean := f.trackAgo(0, "before the secret")
	f.write("conf/secret.env", secret)
	with := f.trackAll()
	f.write("a", "later")
	f.write("conf/secret.env", secret+"2")
	later := f.track()
	if err := f.repo().Pin(background, later.Checkpoint, "pinned"); err != nil {
		t.Fatal(err)
	}
	f.restoreAll(with)
	f.restoreAll(later.Checkpoint)
	f.closeAll()
	if len(f.traces(secret[:9])) == 0 {
		t.Fatal("the search finds nothing")
	}
	got := f.purge("conf/secret.env")
	if len(got.Paths) != 1 || got.Paths[0] != "conf/secret.env" || len(got.Checkpoints) < 2 || len(got.Elsewhere) > 0 {
		t.Errorf("purged %+v", got)
	}
	f.wantNoTrace(secret[:9])
	f.sound()
	// The files on the disk are still there, and old ids find their replacements.
	if f.read("conf/secret.env") != secret+"2" {
		t.Error("the file on the disk was touched")
	}
	for _, id := range []string{clean, with, later.Checkpoint, later.Hash, with[:12], "pinned"} {
		c, err := f.repo().Lookup(background, id)
		if err != nil {
			t.Fatalf("lookup of %s: %v", id, err)
		}
		skipped, err := c.Skipped()
		if err != nil {
			t.Fatal(err)
		}
		if id != clean {
			skippedAs(t, skipped, "conf/secret.env", "purged")
		}
	}
	// Going back leaves it alone, wherever to.
	for _, id := range []string{with, later.Hash, "pinned"} {
		f.restore(id)
		if f.read("conf/secret.env") != secret+"2" {
			t.Errorf("restoring %s touched what was purged", id)
		}
	}
	if f.read("a") != "later" {
		t.Errorf("a holds %q", f.read("a"))
	}
	f.sound()
}

// Undo works across a purge.
func TestPurgeRewritesOperations(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1"), "dir/key": gittest.File(secret), "dir/x": gittest.File("x")})
	one := f.trackAll()
	f.write("a", "2")
	f.write("dir/key", secret+"!")
	f.trackAll()
	f.restoreAll(one)
	f.closeAll()
	f.purge("dir/key")
	f.wantNoTrace(secret[:9])
	if _, err := f.repo().Undo(background, cairn.RevertOptions{}); err != nil {
		t.Fatalf("undo: %v", err)
	}
	if f.read("a") != "2" || f.read("dir/key") != secret {
		t.Errorf("a holds %q", f.read("a"))
	}
	f.sound()
}

func TestPurgeDirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1"), "d/e/one": gittest.File(secret), "d/e/f/two": gittest.Exec(secret + "2"), "empty": gittest.Dir()})
	id := f.trackAll()
	f.closeAll()
	f.purge("d/e")
	f.wantNoTrace(secret[:9])
	before := f.manifest()
	if res := f.restore(id); len(res.Deleted)+len(res.Restored) > 0 {
		t.Errorf("restored %+v", res)
	}
	if diff := gittest.Diff(before, f.manifest()); diff != "" {
		t.Error(diff)
	}
	f.sound()
}

// A purged path stays out until Unpurge.
func TestUnpurge(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"odd *[name]": gittest.File(secret), "a": gittest.File("1")})
	f.trackAll()
	f.purge("odd *[name]")
	if list := f.repo().PurgedPaths(); len(list) != 1 || list[0] != "odd *[name]" {
		t.Errorf("purged paths %q", list)
	}
	assertError(t, f.repo().Unpurge(background, []string{"a"}), cairn.ErrNotFound)
	if err := f.repo().Unpurge(background, []string{"odd *[name]"}); err != nil {
		t.Fatal(err)
	}
	f.trackAll()
	if list := f.repo().PurgedPaths(); len(list) != 0 {
		t.Errorf("purged paths %q", list)
	}
}

// TestPurgedNameOfSeveralLines: the name of a purged path may hold an end of a line. Only this path stays out.
func TestPurgedNameOfSeveralLines(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no name holds an end of a line")
	}
	f := newFixture(t, gittest.Tree{"a\nb": gittest.File(secret), "x\r": gittest.File(secret), "a": gittest.File("1"), "d/b": gittest.File("2"), "x": gittest.File("3")})
	f.trackAll()
	f.purge("a\nb", "x\r")
	r := f.repo()
	if got := f.capturedBy(r); !slices.Equal(got, []string{"a", "d/b", "x"}) {
		t.Errorf("captured %q", got)
	}
	f.wantNoTrace(secret)
}

// TestPurgedNameInAnotherCase: on Linux it is that of another file, which goes on to be captured.
func TestPurgedNameInAnotherCase(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the names are of one file here")
	}
	f := newFixture(t, gittest.Tree{"readme": gittest.File(secret), "README": gittest.File("1"), "config/key": gittest.File(secret), "Config/a": gittest.File("2")})
	f.trackAll()
	f.purge("readme", "config")
	if got := f.capturedBy(f.repo()); !slices.Equal(got, []string{"Config/a", "README"}) {
		t.Errorf("captured %q", got)
	}
	f.wantNoTrace(secret)
}

// TestDamagedListOfPurgedPaths: no capture brings purged paths back because their list cannot be read. doctor sets it
// aside.
func TestDamagedListOfPurgedPaths(t *testing.T) {
	t.Parallel()
	for _, list := range []string{"", "[", "{}\n"} {
		f := newFixture(t, gittest.Tree{"secret.env": gittest.File(secret), "a": gittest.File("1")})
		open := f.repo()
		f.capturedBy(open)
		f.purge("secret.env")
		path := filepath.Join(open.StoreDir(), "cairn", "purged")
		if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, r := range []*cairn.Repo{open, f.repo()} {
			_, err := r.Track(background, cairn.TrackOptions{})
			if !errors.Is(err, cairn.ErrCorrupt) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "cairn doctor --fix") {
				t.Errorf("%q: captured: %v", list, err)
			}
			if err := r.Unpurge(background, []string{"secret.env"}); !errors.Is(err, cairn.ErrCorrupt) {
				t.Errorf("%q: unpurged: %v", list, err)
			}
		}
		f.wantNoTrace(secret)
		for _, fix := range []bool{false, true} {
			found, err := open.Check(background, cairn.CheckOptions{Fix: fix})
			if err != nil || len(found) != 1 || found[0].Kind != "purged paths" || found[0].Fixed != fix {
				t.Errorf("%q: fix %t: %+v, %v", list, fix, found, err)
			}
		}
		if got := f.trackBy(open); got.Files != 2 {
			t.Errorf("%q: captured %+v", list, got)
		}
	}
}

// TestPurgeReachesOpenRepos: a Repo that was open before, such as a server's, does not bring back
// purged paths, whichever process purged them, and it sees an Unpurge.
func TestPurgeReachesOpenRepos(t *testing.T) {
	t.Parallel()
	for _, watch := range []bool{false, true} {
		for _, itself := range []bool{false, true} {
			t.Run(fmt.Sprintf("watching %t, by itself %t", watch, itself), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, gittest.Tree{"conf/secret.env": gittest.File(secret), "conf/x": gittest.File("x"), "a": gittest.File("1")})
				other := f.repo()
				f.opt.Watch = watch
				open := f.repo()
				all := f.capturedBy(open)
				if got := f.capturedBy(open); len(all) != 3 || !slices.Equal(got, all) {
					t.Fatalf("captured %q, then %q", all, got)
				}
				by := other
				if itself {
					by = open
				}
				if _, err := by.Purge(background, []string{"conf/secret.env"}); err != nil {
					t.Fatal(err)
				}
				for _, more := range []string{"", "more"} {
					f.write("conf/secret.env", secret+more)
					if got := f.capturedBy(open); !slices.Equal(got, []string{"a", "conf/x"}) {
						t.Errorf("captured after the purge: %q", got)
					}
				}
				f.wantNoTrace(secret)
				if err := by.Unpurge(background, []string{"conf/secret.env"}); err != nil {
					t.Fatal(err)
				}
				if got := f.capturedBy(open); !slices.Equal(got, all) {
					t.Errorf("captured after it was lifted: %q", got)
				}
			})
		}
	}
}
