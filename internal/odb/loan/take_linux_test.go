package loan

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// pair is an object directory that lends and one that borrows.
type pair struct {
	testing.TB
	from, to string
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{t, filepath.Join(t.TempDir(), "objects"), filepath.Join(t.TempDir(), "objects")}
	p.must(os.Mkdir(p.from, 0o755))
	p.must(os.Mkdir(p.to, 0o700))
	return p
}

func (p *pair) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// put writes a loose object of a kind into an object directory, as git does, at a level of zlib.
func (p *pair) put(dir string, k object.Kind, content string, level int) (Want, string) {
	p.Helper()
	var out bytes.Buffer
	z, err := zlib.NewWriterLevel(&out, level)
	p.must(err)
	fmt.Fprintf(z, "%s %d\x00%s", k, len(content), content)
	p.must(z.Close())
	w := Want{ID: object.Sum(k, []byte(content)), Size: int64(len(content))}
	path := pathOf(dir, w.ID)
	p.must(os.MkdirAll(filepath.Dir(path), 0o755))
	p.must(os.WriteFile(path, out.Bytes(), 0o444))
	return w, path
}

func pathOf(dir string, id object.ID) string {
	return filepath.Join(dir, id.String()[:2], id.String()[2:])
}

// head reads the header with the standard library.
func head(file io.ReaderAt, bytes int64) (k object.Kind, size int64, err error) {
	z, err := zlib.NewReader(io.NewSectionReader(file, 0, bytes))
	if err != nil {
		return 0, 0, err
	}
	var word string
	if _, err := fmt.Fscanf(z, "%s %d", &word, &size); err != nil {
		return 0, 0, err
	}
	k, err = object.ParseKind(word)
	return k, size, err
}

func (p *pair) take(opt Options, wants ...Want) int {
	p.Helper()
	opt.Head, opt.Sync = head, true
	n, err := Take([]string{filepath.Join(p.from, "absent"), p.from}, p.to, slices.Clone(wants), opt)
	p.must(err)
	return n
}

// TestTake: which files of a lender get a name in the store, and which are left out.
func TestTake(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(p *pair, w *Want, path string)
		taken  bool
	}{
		"as git made it":      {func(*pair, *Want, string) {}, true},
		"taken before":        {func(p *pair, w *Want, _ string) { p.take(Options{}, *w) }, true},
		"another size":        {func(_ *pair, w *Want, _ string) { w.Size++ }, false},
		"absent":              {func(p *pair, _ *Want, path string) { p.must(os.Remove(path)) }, false},
		"writable":            {func(p *pair, _ *Want, path string) { p.must(os.Chmod(path, 0o644)) }, false},
		"writable for others": {func(p *pair, _ *Want, path string) { p.must(os.Chmod(path, 0o446)) }, false},
		"empty":               {func(p *pair, _ *Want, path string) { p.replace(path, nil) }, false},
		"no zlib":             {func(p *pair, _ *Want, path string) { p.replace(path, []byte("blob 5\x00hello")) }, false},
		"cut in the header":   {func(p *pair, _ *Want, path string) { p.replace(path, []byte{0x78, 0x01}) }, false},
		"a symbolic link": {func(p *pair, _ *Want, path string) {
			p.must(os.Rename(path, path+"x"))
			p.must(os.Symlink(path+"x", path))
		}, false},
		"a FIFO": {func(p *pair, _ *Want, path string) {
			p.must(os.Remove(path))
			p.must(syscall.Mkfifo(path, 0o444))
		}, false},
		"a directory": {func(p *pair, _ *Want, path string) {
			p.must(os.Remove(path))
			p.must(os.Mkdir(path, 0o755))
		}, false},
		"a file in the place of its directory": {func(p *pair, _ *Want, path string) {
			p.must(os.RemoveAll(filepath.Dir(path)))
			p.must(os.WriteFile(filepath.Dir(path), nil, 0o444))
		}, false},
		"the store's directory is a file": {func(p *pair, w *Want, _ string) {
			p.must(os.WriteFile(filepath.Dir(pathOf(p.to, w.ID)), nil, 0o600))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			w, path := p.put(p.from, object.Blob, "hello", zlib.BestCompression)
			c.change(p, &w, path)
			if n := p.take(Options{Most: 1000}, w); n == 1 != c.taken || n > 1 {
				t.Fatalf("%d files are taken", n)
			}
			at, err := os.Lstat(pathOf(p.to, w.ID))
			if !c.taken {
				if err == nil {
					t.Errorf("the store has a %s", at.Mode())
				}
				return
			}
			was, werr := os.Lstat(path)
			if err != nil || werr != nil || !os.SameFile(at, was) {
				t.Errorf("not the file of the lender: %v, %v", err, werr)
			}
		})
	}
}

func (p *pair) replace(path string, data []byte) {
	p.must(os.Remove(path))
	p.must(os.WriteFile(path, data, 0o444))
}

// TestTakeOtherKind: the header of a tree is no header of a blob.
func TestTakeOtherKind(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	w, _ := p.put(p.from, object.Commit, "hello", zlib.NoCompression)
	if n := p.take(Options{}, w); n != 0 {
		t.Errorf("%d files are taken", n)
	}
}

// TestTakeOwn: an object that the store has stays, whatever the lender has.
func TestTakeOwn(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	w, _ := p.put(p.from, object.Blob, "hello", zlib.BestSpeed)
	_, own := p.put(p.to, object.Blob, "hello", zlib.NoCompression)
	was, err := os.Lstat(own)
	p.must(err)
	n := p.take(Options{}, w)
	now, err := os.Lstat(own)
	if n != 0 || err != nil || !os.SameFile(was, now) {
		t.Errorf("%d files are taken, the store's own: %v", n, err)
	}
}

// TestTakeNotThrough: a link in the place of a directory of the store leads nowhere.
func TestTakeNotThrough(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	w, _ := p.put(p.from, object.Blob, "hello", zlib.BestSpeed)
	outside := t.TempDir()
	p.must(os.Symlink(outside, filepath.Dir(pathOf(p.to, w.ID))))
	n := p.take(Options{}, w)
	if names, err := os.ReadDir(outside); n != 0 || err != nil || len(names) != 0 {
		t.Errorf("%d files are taken, and %v are outside (%v)", n, names, err)
	}
}

// TestTakeMany: every level of zlib, every directory, up to the limit.
func TestTakeMany(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	byFirst := make(map[byte][]Want)
	bytes := int64(0)
	for i := range 600 {
		w, path := p.put(p.from, object.Blob, fmt.Sprintf("%0*d", 1+i%50, i), i%10)
		info, err := os.Lstat(path)
		p.must(err)
		bytes += info.Size()
		byFirst[w.ID[0]] = append(byFirst[w.ID[0]], w)
	}
	var wants []Want
	for first := range 256 {
		wants = append(wants, byFirst[byte(first)]...)
	}
	half := p.take(Options{Most: bytes / 2}, wants...)
	if half == 0 || half == len(wants) {
		t.Errorf("with half of the room %d of %d files are taken", half, len(wants))
	}
	if n := p.take(Options{Most: bytes}, wants...); n != len(wants) {
		t.Errorf("%d of %d files are taken", n, len(wants))
	}
	for _, w := range wants {
		if _, err := os.Lstat(pathOf(p.to, w.ID)); err != nil {
			t.Error(err)
		}
	}
}
