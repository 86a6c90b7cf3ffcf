package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

func TestRefName(t *testing.T) {
	t.Parallel()
	names := map[string]bool{
		"refs/cairn/a": true, "refs/cairn/sessions/3f2a-Z_.x": true, "refs/a": true, "refs/@": true, "refs/a@b{c": true,
		"refs/cairn/\u00e9\u00e8": true, "refs/cairn/\xff\xfe": true, "refs/a/-b": true, "refs/a.b/c": true, "refs/a.lockx": true,
		"refs/#a": true, "refs/a!$%&'()+,;=]`{|}": true, "refs/\"a\"<b>": true, "refs/heads/HEAD": true,
		"": false, "@": false, "HEAD": false, "refs": false, "refs/": false, "heads/a": false, "Refs/a": false, "/refs/a": false,
		"refs//a": false, "refs/a/": false, "refs/a.": false, "refs/a./b": true, "refs/.a": false, "refs/a/.b/c": false,
		"refs/a..b": false, "refs/../a": false, "refs/a.lock": false, "refs/a.lock/b": false, "refs/a b": false, "refs/a\tb": false,
		"refs/a\nb": false, "refs/a\x7f": false, "refs/a\x00": false, "refs/a~b": false, "refs/a^b": false, "refs/a:b": false,
		"refs/a?b": false, "refs/a*b": false, "refs/a[b": false, "refs/a\\b": false, "refs/a@{b": false, "refs/a/b/..": false,
	}
	for name, want := range names {
		if err := checkRefName(name); (err == nil) != want {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
	needGit(t)
	db := newStore(t)
	for name, want := range names {
		if !strings.HasPrefix(name, "refs/") || strings.IndexByte(name, 0) >= 0 {
			continue // the first is our rule, the second cannot be asked
		}
		_, err := tryGit(t, db.Dir(), "", "check-ref-format", name)
		if (err == nil) != want {
			t.Errorf("git says of %q: %v", name, err)
		}
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	ids := commit(t, db, "one", "two", "three")
	if _, err := db.Ref("refs/cairn/x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("absent ref: %v", err)
	}
	must(t, db.SetRef("refs/cairn/sessions/b", ids[0]))
	must(t, db.SetRef("refs/cairn/sessions/a", ids[1]))
	must(t, db.SetRef("refs/cairn/operations", ids[2]))
	must(t, db.SetRef("refs/cairn/sessions/b", ids[2]))
	want := []Ref{{"refs/cairn/operations", ids[2], nil}, {"refs/cairn/sessions/a", ids[1], nil}, {"refs/cairn/sessions/b", ids[2], nil}}
	for prefix, n := range map[string]int{
		"": 0, "refs/": 0, "refs/cairn": 0, "refs/cairn/": 0, "refs/cairn/sess": 1, "refs/cairn/sessions/": 1, "refs/cairn/sessions/b": 2,
		"refs/cairn/sessions/b/": 3, "refs/heads/": 3, "refs/none/": 3, "x": 3, "refs/../..": 3,
	} {
		got, err := db.Refs(prefix)
		if err != nil || !slices.Equal(got, want[n:]) {
			t.Errorf("refs of %q: %v, %v; want %v", prefix, got, err, want[n:])
		}
	}
	for _, r := range want {
		if id, err := reopen(t, db).Ref(r.Name); id != r.ID || err != nil {
			t.Errorf("%s: %s, %v", r.Name, id, err)
		}
	}
	must(t, db.DeleteRef("refs/cairn/sessions/a"))
	if _, err := db.Ref("refs/cairn/sessions/a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleted ref: %v", err)
	}
	for _, name := range []string{"refs/cairn/sessions/a", "refs/cairn/sessions", "refs/cairn/sessions/b/c"} {
		if err := db.DeleteRef(name); !errors.Is(err, ErrNotFound) {
			t.Errorf("delete %s: %v", name, err)
		}
	}
	if _, err := os.Stat(db.path("refs", "cairn", "sessions")); err != nil {
		t.Error(err)
	}
}

func TestRefErrors(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	id := commit(t, db, "x")[0]
	for _, name := range []string{"", "HEAD", "refs/../HEAD", "refs/a..b", "cairn/root", "refs/heads/a.lock"} {
		if err := db.SetRef(name, id); err == nil {
			t.Errorf("set %q", name)
		}
		if err := db.DeleteRef(name); err == nil {
			t.Errorf("delete %q", name)
		}
		if _, err := db.Ref(name); err == nil {
			t.Errorf("ref %q", name)
		}
	}
	if err := db.SetRef("refs/cairn/zero", object.ID{}); err == nil {
		t.Error("a ref to nothing is accepted")
	}
	must(t, db.SetRef("refs/cairn/a", id))
	if err := db.SetRef("refs/cairn/a/b", id); err == nil {
		t.Error("a ref below a ref is accepted")
	}
	if err := db.SetRef("refs/cairn", id); err == nil || !strings.Contains(err.Error(), "refs/cairn") {
		t.Errorf("a ref in the place of a directory: %v", err)
	}
	if got, err := db.Ref("refs/cairn/a"); got != id || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if names, err := readNames(db.path(privateDir)); err != nil || slices.ContainsFunc(names, func(n string) bool { return n[0] == '.' }) {
		t.Errorf("left %q, %v", names, err)
	}
}

// Directories without a ref do not keep a ref from getting their name.
func TestRefInThePlaceOfEmptyDirectories(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	id := commit(t, db, "x")[0]
	must(t, os.MkdirAll(db.path("refs", "cairn", "a", "b", "c"), 0o700))
	must(t, db.SetRef("refs/cairn/a", id))
	if got, err := db.Ref("refs/cairn/a"); got != id || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

func TestTornRefs(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	id := commit(t, db, "x")[0]
	good := id.String()
	must(t, db.SetRef("refs/cairn/good", id))
	for name, content := range map[string]string{
		"empty": "", "short": good[:39] + "\n", "long": good + "0\n", "nuls": strings.Repeat("\x00", 41), "words": "hello\n",
		"zero": strings.Repeat("0", 40) + "\n", "two": good + " " + good + "\n", "out": "ref: ../../HEAD\n", "loop": "ref: refs/cairn/loop\n",
	} {
		must(t, os.WriteFile(db.path("refs", "cairn", name), []byte(content), 0o600))
		if got, err := db.Ref("refs/cairn/" + name); !errors.Is(err, pack.ErrCorrupt) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	for name, content := range map[string]string{"bare": good, "crlf": good + "\r\n", "upper": strings.ToUpper(good) + "\n", "symbolic": "ref: refs/cairn/good\n"} {
		must(t, os.WriteFile(db.path("refs", "cairn", name), []byte(content), 0o600))
		if got, err := db.Ref("refs/cairn/" + name); got != id || err != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	must(t, os.WriteFile(db.path("refs", "cairn", "x.lock"), []byte("garbage"), 0o600))
	must(t, os.WriteFile(db.path("refs", "cairn", ".hidden"), []byte("garbage"), 0o600))
	must(t, os.WriteFile(db.path("refs", "cairn", "dangling"), []byte("ref: refs/cairn/none\n"), 0o600))
	refs, err := db.Refs("refs/cairn/")
	must(t, err)
	var fine, torn []string
	for _, r := range refs {
		if r.Err != nil {
			torn = append(torn, strings.TrimPrefix(r.Name, "refs/cairn/"))
		} else if r.ID == id {
			fine = append(fine, strings.TrimPrefix(r.Name, "refs/cairn/"))
		}
	}
	if want := []string{"bare", "crlf", "good", "symbolic", "upper"}; !slices.Equal(fine, want) {
		t.Errorf("fine: %q, want %q", fine, want)
	}
	if want := []string{"empty", "long", "loop", "nuls", "out", "short", "two", "words", "zero"}; !slices.Equal(torn, want) {
		t.Errorf("torn: %q, want %q", torn, want)
	}
	// A torn ref can be set and deleted.
	must(t, db.SetRef("refs/cairn/empty", id))
	must(t, db.DeleteRef("refs/cairn/nuls"))
	if got, err := db.Ref("refs/cairn/empty"); got != id || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

// refsOfGit lists the refs as git sees them.
func refsOfGit(t *testing.T, db *DB, prefix string) map[string]string {
	t.Helper()
	refs := make(map[string]string)
	for line := range strings.Lines(git(t, db.Dir(), "", "for-each-ref", "--format=%(objectname) %(refname)", prefix)) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs[name] = id
	}
	return refs
}

func refsOfOurs(t *testing.T, db *DB, prefix string) map[string]string {
	t.Helper()
	list, err := db.Refs(prefix)
	must(t, err)
	refs := make(map[string]string)
	for _, r := range list {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Name, r.Err)
		}
		refs[r.Name] = r.ID.String()
	}
	return refs
}

func TestPackedRefs(t *testing.T) {
	t.Parallel()
	needGit(t)
	db := newStore(t)
	history(t, db, 3)
	head, err := db.Ref("HEAD")
	must(t, err)
	for i := range 40 {
		must(t, db.SetRef(fmt.Sprintf("refs/cairn/sessions/%d", i), head))
	}
	same := func(what string) {
		t.Helper()
		ours, gits := refsOfOurs(t, db, "refs/"), refsOfGit(t, db, "refs/")
		if !maps.Equal(ours, gits) {
			t.Errorf("%s: ours %v,\ngit's %v", what, ours, gits)
		}
		fsck(t, db)
	}
	same("loose")
	git(t, db.Dir(), "", "pack-refs", "--all")
	if names, err := readNames(db.path("refs", "cairn", "sessions")); err == nil && len(names) > 0 {
		t.Errorf("git left %q", names)
	}
	same("packed")
	if id, err := db.Ref("HEAD"); id != head || err != nil {
		t.Errorf("HEAD: %s, %v", id, err)
	}
	older, err := object.ParseID(strings.TrimSpace(git(t, db.Dir(), "", "rev-parse", "HEAD^")))
	must(t, err)
	must(t, db.SetRef("refs/cairn/sessions/7", older)) // loose over packed
	same("one loose")
	if id, err := db.Ref("refs/cairn/sessions/7"); id != older || err != nil {
		t.Errorf("%s, %v", id, err)
	}
	must(t, db.DeleteRef("refs/cairn/sessions/7")) // does not come back from packed-refs
	must(t, db.DeleteRef("refs/cairn/sessions/8"))
	must(t, db.DeleteRef("refs/tags/v1")) // with its line of what the tag points to
	same("deleted")
	for _, name := range []string{"refs/cairn/sessions/7", "refs/cairn/sessions/8", "refs/tags/v1"} {
		if id, err := db.Ref(name); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %s, %v", name, id, err)
		}
		if err := db.DeleteRef(name); !errors.Is(err, ErrNotFound) {
			t.Errorf("delete %s again: %v", name, err)
		}
	}
	if err := db.SetRef("refs/cairn/sessions/9/x", head); err == nil || !strings.Contains(err.Error(), "refs/cairn/sessions/9") {
		t.Errorf("a ref below a packed ref: %v", err)
	}
	if err := db.SetRef("refs/cairn/sessions", head); err == nil {
		t.Errorf("a ref above packed refs is accepted")
	}
	same("in the end")
	names, err := readNames(db.Dir())
	must(t, err)
	if slices.Contains(names, packedRefsLock) {
		t.Error("left a lock")
	}
}

func TestTornPackedRefs(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	id := commit(t, db, "x")[0]
	text := "# pack-refs with: peeled fully-peeled sorted \n" +
		id.String() + " refs/cairn/a\n" +
		"garbage\n" +
		"0123 refs/cairn/b\n" +
		id.String() + " refs/cairn/c..d\n" +
		id.String() + " refs/cairn/e\n" +
		id.String() + " refs/cairn/torn" // no line feed: part of a longer name, perhaps
	must(t, os.WriteFile(db.path("packed-refs"), []byte(text), 0o600))
	refs, err := db.Refs("refs/cairn/")
	must(t, err)
	var got []string
	for _, r := range refs {
		got = append(got, fmt.Sprint(r.Name, " ", r.Err == nil))
	}
	want := []string{"packed-refs:3 false", "packed-refs:5 false", "refs/cairn/a true", "refs/cairn/b false", "refs/cairn/e true", "refs/cairn/torn false"}
	if !slices.Equal(got, want) {
		t.Errorf("refs %q, want %q", got, want)
	}
	if _, err := db.Ref("refs/cairn/b"); !errors.Is(err, pack.ErrCorrupt) {
		t.Errorf("torn ref: %v", err)
	}
	must(t, db.DeleteRef("refs/cairn/b"))
	must(t, db.SetRef("refs/cairn/torn", id))
	must(t, db.DeleteRef("refs/cairn/e"))
	if id2, err := db.Ref("refs/cairn/torn"); id2 != id || err != nil {
		t.Errorf("%s, %v", id2, err)
	}
	if refs, err := db.Refs("refs/cairn/"); err != nil || len(refs) != 4 {
		t.Errorf("%v, %v", refs, err)
	}
}

// The lock file of a killed git does not keep a ref from being set. The lock of packed-refs,
// where ignoring it would do harm, is an error that says what to do.
func TestR86LocksOfGits(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	id := commit(t, db, "x")[0]
	for _, lock := range []string{"index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "refs/cairn/a.lock", "gc.pid", "shallow.lock"} {
		must(t, os.WriteFile(db.path(filepath.FromSlash(lock)), nil, 0o600))
	}
	must(t, db.SetRef("refs/cairn/a", id))
	must(t, db.DeleteRef("refs/cairn/a"))
	must(t, db.SetRef("refs/cairn/a", id))
	commit(t, db, "y")
	unlock, err := db.Lock(t.Context())
	must(t, err)
	must(t, db.Sweep())
	must(t, unlock())
	must(t, os.WriteFile(db.path("packed-refs"), []byte(id.String()+" refs/cairn/p\n"), 0o600))
	err = db.DeleteRef("refs/cairn/p")
	if err == nil || !strings.Contains(err.Error(), db.path("packed-refs.lock")) {
		t.Errorf("delete a packed ref under git's lock: %v", err)
	}
	if got, err := db.Ref("refs/cairn/p"); got != id || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	must(t, os.Remove(db.path("packed-refs.lock")))
	must(t, db.DeleteRef("refs/cairn/p"))
}

// A ref that a git removes while it packs refs, after the ref was replaced, is written again.
func TestSetRefAgainstPackRefs(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	db.refLockWait = time.Hour
	ids := commit(t, db, "old", "new")
	const name = "refs/cairn/a"
	must(t, db.SetRef(name, ids[0]))
	file := db.refPath(name)
	// Git's part: lock, see the old value packed, remove the file, unlock.
	must(t, os.WriteFile(file+".lock", nil, 0o600))
	must(t, os.WriteFile(db.path("packed-refs"), []byte(ids[0].String()+" "+name+"\n"), 0o600))
	done := make(chan error, 1)
	go func() { done <- db.SetRef(name, ids[1]) }()
	for seen := 0; seen < 200; { // long enough for a SetRef that does not wait to be over
		if id, err := db.Ref(name); err == nil && id == ids[1] {
			seen++
		}
	}
	must(t, os.Remove(file))
	must(t, os.Remove(file+".lock"))
	must(t, <-done)
	if id, err := db.Ref(name); id != ids[1] || err != nil {
		t.Errorf("%s, %v", id, err)
	}
}

// An old lock is not waited for.
func TestSetRefBesideAnOldLock(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	db.refLockWait = time.Hour
	id := commit(t, db, "x")[0]
	lock := db.refPath("refs/cairn/a") + ".lock"
	must(t, os.WriteFile(lock, nil, 0o600))
	old := time.Now().Add(-2 * refLockAge)
	must(t, os.Chtimes(lock, old, old))
	must(t, db.SetRef("refs/cairn/a", id))
	if _, err := os.Lstat(lock); err != nil {
		t.Error("somebody else's lock is gone")
	}
}

// Many writers set refs beside a git that packs refs all the time: every ref ends with its last
// value.
func TestRefsTogetherWithGit(t *testing.T) {
	t.Parallel()
	needGit(t)
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be replaced on this system")
	}
	db := newStore(t)
	ids := commit(t, db, "0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
	var writers sync.WaitGroup
	stop := make(chan struct{})
	packer := make(chan struct{})
	go func() {
		defer close(packer)
		for {
			select {
			case <-stop:
				return
			default:
				tryGit(t, db.Dir(), "", "pack-refs", "--all") // may meet a ref on the move
			}
		}
	}()
	for w := range 3 {
		writers.Go(func() {
			for round := range 30 {
				for i := range 3 {
					name := fmt.Sprintf("refs/cairn/sessions/%d-%d", w, i)
					id := ids[(round+i)%len(ids)]
					if err := db.SetRef(name, id); err != nil {
						t.Error(err)
					}
					if got, err := db.Ref(name); got != id || err != nil {
						t.Errorf("%s is %s, %v; want %s", name, got, err, id)
					}
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	<-packer
	for w := range 3 {
		for i := range 3 {
			name := fmt.Sprintf("refs/cairn/sessions/%d-%d", w, i)
			if got, err := db.Ref(name); got != ids[(29+i)%len(ids)] || err != nil {
				t.Errorf("%s is %s, %v", name, got, err)
			}
		}
	}
}

// Without hard links, as on exFAT, refs that a git has packed can still be deleted.
func TestPackedRefsWithoutHardLinks(t *testing.T) {
	t.Parallel()
	db, err := Create(filepath.Join(gittest.LinklessDir(t), "store"), testRoot, Options{NoSync: true})
	must(t, err)
	defer db.Close()
	id := commit(t, db, "x")[0]
	must(t, os.WriteFile(db.path("packed-refs"), []byte(id.String()+" refs/cairn/p\n"), 0o600))
	unlock, err := db.lockPackedRefs()
	must(t, err)
	if again, err := db.lockPackedRefs(); err == nil {
		t.Error("the lock was taken twice")
		must(t, again())
	}
	must(t, unlock())
	must(t, db.DeleteRef("refs/cairn/p"))
	if ref, err := db.Ref("refs/cairn/p"); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v, %v", ref, err)
	}
	if _, err := os.Lstat(db.path(packedRefsLock)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock is left: %v", err)
	}
}

// A writer that dies with packed-refs locked does not lock it for ever.
func TestDeadLockOfPackedRefsIsSwept(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	id := commit(t, db, "x")[0]
	must(t, os.WriteFile(db.path("packed-refs"), []byte(id.String()+" refs/cairn/p\n"), 0o600))
	unlock, err := db.lockPackedRefs()
	must(t, err)
	must(t, db.Sweep())
	if _, err := os.Lstat(db.path(packedRefsLock)); err != nil {
		t.Errorf("the lock of the living was swept: %v", err)
	}
	must(t, unlock())

	// A kill leaves the lock and the claim, two names of one file without an owner.
	claim := db.path(privateDir, ".tmp_cairn_0123456789abcdef")
	must(t, os.WriteFile(claim, nil, 0o600))
	must(t, os.Link(claim, db.path(packedRefsLock)))
	must(t, db.Sweep())
	for _, path := range []string{claim, db.path(packedRefsLock)} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
	must(t, db.DeleteRef("refs/cairn/p"))
}

func TestWaitForIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.lock")
	waitFor(path, time.Hour) // returns at once: there is none
	must(t, os.WriteFile(path, nil, 0o600))
	waitFor(path, time.Millisecond)
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
}
