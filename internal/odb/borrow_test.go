package odb_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/collect"
	"github.com/seed-fb9cbc17/cairn/internal/odb/odbtest"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// borrower returns a store that has borrowed the one pack of another store. A line of its own
// needs a few of the objects.
func borrower(t *testing.T) (l *odbtest.Lines, lender *odb.DB, needed object.ID) {
	t.Helper()
	from := odbtest.NewLines(t)
	files := make(map[string]string)
	for i := range 50 {
		files["f"+string(rune('a'+i))] = string(gittest.Prose(uint64(i), 3000))
	}
	from.Track("refs/cairn/x/all", files)
	needed = object.Sum(object.Blob, []byte(files["fa"]))
	l = odbtest.NewLines(t)
	if n, err := l.Borrow([]string{filepath.Join(from.Dir(), "objects")}); n != 1 || err != nil {
		t.Fatalf("%d packs borrowed: %v", n, err)
	}
	l.Track("refs/cairn/x/mine", map[string]string{"fa": files["fa"], "own": "mine"})
	return l, from.DB, needed
}

func borrowedNames(db *odb.DB) (names []string) {
	for _, name := range db.PackNames() {
		if db.Borrowed(name) {
			names = append(names, name)
		}
	}
	return names
}

func TestBorrowIsNotCopied(t *testing.T) {
	t.Parallel()
	l, _, needed := borrower(t)
	if size := l.PackedSizes([]object.ID{needed})[0]; size != 3000 {
		t.Errorf("%d bytes", size)
	}
	sizes := odbtest.Must1(l.StoredSizes())
	if n := sizes(needed); n != 0 {
		t.Errorf("a borrowed object counts for %d bytes", n)
	}
	l.Check(false)
	if n, err := l.Borrow([]string{filepath.Join(t.TempDir(), "none"), t.TempDir()}); n != 0 || err != nil {
		t.Errorf("%d packs of nothing: %v", n, err)
	}
}

// A borrowed pack stays as long as the lender has it, because it takes no room. After that only
// the needed objects stay.
func TestCollectBorrowed(t *testing.T) {
	t.Parallel()
	for _, thorough := range []bool{false, true} {
		l, lender, needed := borrower(t)
		collected(t, l.DB, collect.Options{Thorough: thorough})
		if kept := len(borrowedNames(l.DB)) == 1; kept == thorough {
			t.Errorf("thorough %v: the pack that the lender has, too, is kept: %v", thorough, kept)
		}
		l.Check(thorough)
		odbtest.Must(t, os.RemoveAll(lender.Dir()))
		out := collected(t, l.DB, collect.Options{})
		if names := borrowedNames(l.DB); len(names) > 0 || out.Packs > 2 {
			t.Errorf("%v is still there, %d packs in all", names, out.Packs)
		}
		odbtest.WantBlob(t, l.DB, needed, string(gittest.Prose(0, 3000)))
		l.Check(true)
		if names := odbtest.Names(t, l.DB, "objects/pack"); len(names) != 2*out.Packs {
			t.Errorf("left over: %v", names)
		}
	}
}

// The rest of a loan that was interrupted at any point is swept, or is a whole pack.
func TestBorrowHalves(t *testing.T) {
	t.Parallel()
	for _, missing := range [][]string{{pack.IndexExt}, {pack.IndexExt, pack.Ext}} {
		l, _, _ := borrower(t)
		stem := l.Path("objects/pack/" + borrowedNames(l.DB)[0])
		for _, ext := range missing {
			odbtest.Must(t, os.Remove(stem+ext))
		}
		other := filepath.Join(l.Path("objects/pack"), "pack-"+strings.Repeat("1", 40))
		odbtest.Must(t, os.WriteFile(other+pack.KeepExt, []byte("somebody else's"), 0o600))
		odbtest.Must(t, l.Sweep())
		for _, ext := range []string{pack.IndexExt, pack.Ext, pack.KeepExt} {
			if _, err := os.Lstat(stem + ext); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("without %v: %s is left (%v)", missing, ext, err)
			}
		}
		if _, err := os.Lstat(other + pack.KeepExt); err != nil {
			t.Error("a mark that is not ours was swept")
		}
	}
}

// Only regular files are borrowed: a link may lead anywhere and be changed later.
func TestBorrowNoLinks(t *testing.T) {
	t.Parallel()
	_, lender, _ := borrower(t)
	dir := filepath.Join(t.TempDir(), "pack")
	odbtest.Must(t, os.Mkdir(dir, 0o700))
	for _, name := range odbtest.Names(t, lender, "objects/pack") {
		if err := os.Symlink(odbtest.Path(lender, "objects/pack/"+name), filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
	}
	l := odbtest.NewLines(t)
	if n, err := l.Borrow([]string{filepath.Dir(dir)}); n != 0 || err != nil {
		t.Errorf("%d packs, %v", n, err)
	}
	if names := odbtest.Names(t, l.DB, "objects/pack"); len(names) > 0 {
		t.Errorf("left over: %v", names)
	}
}

// A damaged pack of a lender is read, and no wrong byte is believed.
func TestBorrowDamaged(t *testing.T) {
	t.Parallel()
	l, _, needed := borrower(t)
	packFile := l.Path("objects/pack/" + borrowedNames(l.DB)[0] + pack.Ext)
	odbtest.Must(t, os.Chmod(packFile, 0o600))
	data := odbtest.Must1(os.ReadFile(packFile))
	for i := pack.HeadSize; i < len(data)-len(object.ID{}); i++ {
		data[i] ^= 0x55
	}
	odbtest.Must(t, os.WriteFile(packFile, data, 0o600))
	other := odbtest.Reopen(t, l.DB)
	if _, content, err := other.Read(needed); err == nil {
		t.Errorf("read %d bytes of a damaged pack", len(content))
	}
	if _, err := collect.Run(t.Context(), other, collect.Options{}); err != nil {
		t.Error(err)
	}
}
