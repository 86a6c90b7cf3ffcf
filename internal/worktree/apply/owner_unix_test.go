//go:build unix

package apply

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

const alice = 12345

// givenTo makes a tree whose owner is alice, as the superuser.
func givenTo(t *testing.T, tree testTree) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can give files away")
	}
	root := tempRoot(t)
	tree.build(t, root)
	must(t, filepath.WalkDir(root, func(at string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(at, alice, alice+1)
	}))
	for path, n := range tree { // a change of owner clears these
		if n.Perm&setIDs != 0 {
			must(t, os.Chmod(filepath.Join(root, path), permMode(n.Perm)))
		}
	}
	return root
}

func wantOwner(t *testing.T, at string, uid, gid int) {
	t.Helper()
	fi, err := os.Lstat(at)
	must(t, err)
	if u, g, _ := dir.OwnerOf(fi); u != uid || g != gid {
		t.Errorf("%s is of %d:%d, want %d:%d", filepath.Base(at), u, g, uid, gid)
	}
}

func permOf(t *testing.T, at string) uint16 {
	t.Helper()
	fi, err := os.Lstat(at)
	must(t, err)
	return dir.InfoOf(fi).Perm
}

// What the superuser brings back belongs to the user whose directory it is, and not to the superuser.
func TestSuperuserGivesFilesBack(t *testing.T) {
	t.Parallel()
	from := testTree{"keeps": aFile("old"), "suid": aFile("old").bits(0o4755), "others": aFile("old")}
	root := givenTo(t, from)
	must(t, os.Lchown(filepath.Join(root, "others"), alice+2, alice+3))
	a, blobs := newExecutor(root)
	a.Sync = true
	to := testTree{
		"keeps": aFile("new"), "suid": aFile("new").bits(0o4755), "others": aFile("new").bits(0o755),
		"made": aFile("x"), "again": aFile("x").bits(0o6755), "empty": aFolder(), "d/e/f": aFile("x"), "link": aLink("made"),
	}
	changes := plan(t, root, blobs, from, to)
	changes = append(changes, Change{Path: "implied/f", Action: Create, Mode: object.Regular, Perm: 0o644, ID: blobs.put("x")})
	applyAll(t, a, changes)
	to["implied/f"] = aFile("x")
	to.check(t, root)
	for _, path := range []string{"keeps", "suid", "made", "again", "empty", "d", "d/e", "d/e/f", "implied", "implied/f"} {
		wantOwner(t, filepath.Join(root, path), alice, alice+1)
	}
	wantOwner(t, filepath.Join(root, "others"), alice+2, alice+3)
	if runtime.GOOS == "linux" {
		wantOwner(t, filepath.Join(root, "link"), alice, alice+1)
	}
}

// A Chmod of one of two names makes a file of its own, which keeps the owner.
func TestSuperuserChmodsOneNameOfAFile(t *testing.T) {
	t.Parallel()
	from := testTree{"a": aFile("x")}
	root := givenTo(t, from)
	must(t, os.Link(filepath.Join(root, "a"), filepath.Join(root, "b")))
	a, blobs := newExecutor(root)
	applyAll(t, a, plan(t, root, blobs, from, testTree{"a": aFile("x").bits(0o600)}))
	if permOf(t, filepath.Join(root, "a")) != 0o600 || permOf(t, filepath.Join(root, "b")) != 0o644 {
		t.Error("the bits came to the wrong names")
	}
	wantOwner(t, filepath.Join(root, "a"), alice, alice+1)
}

// A user who can write to a directory of another one can record a setuid file there, and put a file of
// that other one at its path. The bits would then let the user act as the other.
func TestSuperuserGrantsNoSetuidInASharedDirectory(t *testing.T) {
	t.Parallel()
	for name, share := range map[string]func(root string) error{
		"writable":    func(root string) error { return os.Chmod(filepath.Join(root, "d"), 0o775) },
		"of the user": func(root string) error { return os.Chown(filepath.Join(root, "d/of"), 0, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := testTree{"d/of": aFile("old"), "d/chmod": aFile("same"), "d/has": aFile("same").bits(0o4755)}
			root := givenTo(t, from)
			must(t, share(root))
			if name == "of the user" {
				must(t, os.Chown(filepath.Join(root, "d/chmod"), 0, 0))
			}
			a, blobs := newExecutor(root)
			to := testTree{"d/of": aFile("new").bits(0o6755), "d/chmod": aFile("same").bits(0o4755), "d/has": aFile("same").bits(0o4711)}
			for _, out := range applyAll(t, a, plan(t, root, blobs, from, to)) {
				if out.Withheld != (out.Path != "d/has") {
					t.Errorf("%+v", out)
				}
			}
			for path, want := range map[string]uint16{"d/of": 0o755, "d/chmod": 0o755, "d/has": 0o4711} {
				if got := permOf(t, filepath.Join(root, path)); got != want {
					t.Errorf("%s has the bits %o, want %o", path, got, want)
				}
			}
			for _, path := range []string{"d/of", "d/chmod"} { // again: nothing is left to do
				data := to[path].Data
				wantKept(t, applyOne(t, a, Change{Path: path, Action: Chmod, Mode: object.Executable, Perm: to[path].Perm, ID: blobs.put(data), Was: expect(t, root, path)}), ErrWithheld)
			}
			a.Resume = true // after a kill the path counts as done
			again := plan(t, root, blobs, from, to)
			for i := range again {
				if again[i].Path == "d/of" {
					again[i].Was.ID, again[i].Was.Stat.Size = blobs.put("old"), 0
					again[i].Was.Stat.MTime++
					applyAll(t, a, again[i:i+1])
				}
			}
		})
	}
}

// The file system may refuse to change the owner. The file then is the superuser's.
func TestSetuidNeedsItsOwner(t *testing.T) {
	t.Parallel()
	root := givenTo(t, testTree{})
	f, err := os.Open(root)
	must(t, err)
	must(t, f.Close())
	fi, err := os.Lstat(filepath.Dir(root))
	must(t, err)
	refused := (&owner{alice, alice}).take(f, fi) // a closed file refuses everything
	if got := (&worker{}).bitsAs(refused, 0o6755); got != 0o755 {
		t.Errorf("a file whose owner was refused has the bits %o", got)
	}
}

// A copy belongs to the user in whose directory it is made. A setuid program of alice's does not become one of the
// superuser's there, nor does one of which only the checkpoint tells become alice's.
func TestSuperuserCopiesForTheUser(t *testing.T) {
	t.Parallel()
	tree := testTree{"suid": aFile("s").bits(0o6755), "d/f": aFile("f"), "shared": aFolder().bits(0o2775), "link": aLink("d"), "old": aFile("o").bits(0o4755), "racy": aFile("r").bits(0o4755)}
	live := givenTo(t, tree)
	must(t, os.Chmod(filepath.Join(live, "shared"), permMode(0o2775)))
	must(t, os.WriteFile(filepath.Join(live, "old"), []byte("new"), 0)) // the superuser's write keeps the bits
	for name, own := range map[string]bool{"of alice": true, "of root": false} {
		b, _, items := newBuilder(t, tree)
		b.Live, b.Like, b.Sync = live, live, true
		if !own {
			b.Like = filepath.Dir(b.Dir)
		}
		for i := range items {
			it := &items[i]
			if it.FromLive = it.Path != "old" && it.Path != "racy" && it.Mode != object.Dir; it.FromLive {
				it.Live = expect(t, live, it.Path).Stat
			}
		}
		built, err := b.Add(t.Context(), items, nil)
		must(t, err)
		must(t, b.Finish())
		want := testTree{}
		for i, out := range built {
			if out.Err != nil {
				t.Error(name, out.Err)
			}
			n := tree.full()[items[i].Path]
			if n.Mode.IsFile() && (!own || items[i].Path == "old") {
				n.Perm &^= setIDs
			}
			want[items[i].Path] = n
			if out.Entry.Mode != 0 && n.Mode.IsFile() && out.Entry.Perm != n.Perm {
				t.Errorf("%s: the entry of %s has the bits %o", name, items[i].Path, out.Entry.Perm)
			}
			uid, gid := os.Geteuid(), os.Getegid()
			if own {
				uid, gid = alice, alice+1
			}
			if n.Mode != object.Symlink || runtime.GOOS == "linux" {
				wantOwner(t, filepath.Join(b.Dir, items[i].Path), uid, gid)
			}
		}
		if own {
			wantOwner(t, b.Dir, alice, alice+1)
		}
		want.check(t, b.Dir)
	}
}
