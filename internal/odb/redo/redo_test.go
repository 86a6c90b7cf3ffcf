package redo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fake is a store whose refs are files below a directory.
type fake struct{ dir string }

func (f fake) RefPath(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }
func (f fake) PacksChanged() error        { return nil }

func (f fake) CheckPack(r *Record) error {
	if !bytes.HasPrefix(r.Pack, []byte(r.Name)) {
		return errors.New("another pack")
	}
	return nil
}

func (f fake) CheckRecord(r *Record) error {
	for _, ref := range r.Refs {
		if !strings.HasPrefix(ref.Name, "refs/") {
			return errors.New("no ref")
		}
	}
	return nil
}

func (f fake) RefValue(name string) (object.ID, error) {
	data, err := os.ReadFile(f.RefPath(name))
	if errors.Is(err, os.ErrNotExist) {
		return object.ID{}, nil
	}
	if err != nil {
		return object.ID{}, err
	}
	return object.ParseID(string(data))
}

func (f fake) ReplaceRef(name string, id object.ID) error {
	if id.IsZero() {
		return os.RemoveAll(f.RefPath(name))
	}
	return os.WriteFile(f.RefPath(name), []byte(id.String()), 0o600)
}

// open returns the log of the store in dir as a process of the n-th boot sees it.
func open(t testing.TB, dir string, n byte) (*Log, fake) {
	t.Helper()
	f := fake{dir}
	for _, name := range []string{"refs", "packs", "private"} {
		must(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
	}
	l := New(f, filepath.Join(dir, "private", "redo"), filepath.Join(dir, "packs"), func() (Token, bool) { return Token{n}, true })
	l.Make(nil)
	return l, f
}

func lock(t testing.TB, l *Log) *Writer {
	t.Helper()
	w, err := l.Lock()
	must(t, err)
	if w == nil {
		t.Fatal("no log")
	}
	return w
}

// publish appends a record of a ref and sets the ref.
func publish(t testing.TB, l *Log, f fake, name string, id object.ID) {
	t.Helper()
	w := lock(t, l)
	defer w.Unlock()
	from, err := f.RefValue(name)
	must(t, err)
	must(t, w.Append(&Record{Refs: []Ref{{name, from, id}}}))
	must(t, f.ReplaceRef(name, id))
}

func wantRef(t testing.TB, f fake, name string, want object.ID) {
	t.Helper()
	if got, err := f.RefValue(name); err != nil || got != want {
		t.Errorf("%s is %s, %v; want %s", name, got, err, want)
	}
}

func records(t testing.TB, l *Log) int {
	t.Helper()
	w := lock(t, l)
	defer w.Unlock()
	return len(w.Records())
}

// TestReplay: a boot that ended takes refs and packs with it, and the next one brings them back.
func TestReplay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, f := open(t, dir, 1)
	publish(t, l, f, "refs/a", object.ID{1})
	publish(t, l, f, "refs/a", object.ID{2})
	publish(t, l, f, "refs/b", object.ID{3})
	publish(t, l, f, "refs/b", object.ID{}) // deleted
	publish(t, l, f, "refs/c", object.ID{4})
	w := lock(t, l)
	rec := Record{Name: "p", Pack: []byte("p: contents"), Idx: []byte("index")}
	must(t, w.Append(&rec))
	w.Unlock()
	if l.Stale() {
		t.Error("stale in the boot of its records")
	}
	must(t, f.ReplaceRef("refs/a", object.ID{1}))                                             // an old value
	must(t, os.WriteFile(f.RefPath("refs/b"), nil, 0o600))                                    // torn
	must(t, f.ReplaceRef("refs/c", object.ID{9}))                                             // set by another program
	must(t, os.WriteFile(filepath.Join(dir, "packs", rec.Name+packExt), rec.Pack[:5], 0o600)) // torn

	after, _ := open(t, dir, 2)
	if !after.Stale() {
		t.Error("not stale in another boot")
	}
	if n := records(t, after); n != 0 || after.Stale() {
		t.Errorf("%d records are left", n)
	}
	wantRef(t, f, "refs/a", object.ID{2})
	wantRef(t, f, "refs/b", object.ID{})
	wantRef(t, f, "refs/c", object.ID{9})
	for ext, want := range map[string][]byte{packExt: rec.Pack, indexExt: rec.Idx} {
		if got, err := os.ReadFile(filepath.Join(dir, "packs", rec.Name+ext)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", ext, len(got), err)
		}
	}
}

// TestRecordNotCarriedOut: the record of a process that was killed after the append goes when the
// next process of the boot locks the log. A later replay does not carry it out.
func TestRecordNotCarriedOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, f := open(t, dir, 1)
	publish(t, l, f, "refs/a", object.ID{1})
	w := lock(t, l)
	must(t, w.Append(&Record{Refs: []Ref{{"refs/a", object.ID{1}, object.ID{2}}}}))
	w.Unlock()
	other, _ := open(t, dir, 1)
	publish(t, other, f, "refs/b", object.ID{3})
	after, _ := open(t, dir, 2)
	records(t, after)
	wantRef(t, f, "refs/a", object.ID{1})
	wantRef(t, f, "refs/b", object.ID{3})
}

// TestAbort: an aborted record is not carried out, and the records before it are flushed.
func TestAbort(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, f := open(t, dir, 1)
	publish(t, l, f, "refs/a", object.ID{1})
	w := lock(t, l)
	must(t, w.Append(&Record{Refs: []Ref{{"refs/a", object.ID{1}, object.ID{2}}}}))
	if err := w.Abort(os.ErrPermission); !errors.Is(err, os.ErrPermission) {
		t.Error(err)
	}
	if !w.IsEmpty() {
		t.Error("the log has records")
	}
	w.Unlock()
	after, _ := open(t, dir, 2)
	records(t, after)
	wantRef(t, f, "refs/a", object.ID{1})
}

// TestFullLog: a log that is full is flushed, grows once, and takes the record.
func TestFullLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, f := open(t, dir, 1)
	name := "refs/" + strings.Repeat("n", 200)
	grown := false
	for i := 1; i < 3*maxFileSize/300 && !grown; i++ {
		publish(t, l, f, name, object.Sum(object.Blob, fmt.Append(nil, i)))
		info, err := os.Stat(l.path)
		must(t, err)
		grown = info.Size() == maxFileSize
	}
	if n := records(t, l); !grown || n != 1 {
		t.Errorf("grown: %v, %d records", grown, n)
	}
}

// TestDamagedLog: a damaged log ends at the damage, and never changes a ref.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, f := open(t, dir, 1)
	publish(t, l, f, "refs/a", object.ID{1})
	whole, err := os.ReadFile(l.path)
	must(t, err)
	for at := range 120 {
		data := bytes.Clone(whole)
		data[at] ^= 0x10
		must(t, os.WriteFile(l.path, data, 0o600))
		after, _ := open(t, dir, 2)
		publish(t, after, f, "refs/b", object.ID{byte(at + 1)})
		wantRef(t, f, "refs/a", object.ID{1})
		if n := records(t, after); n != 1 {
			t.Errorf("byte %d: %d records", at, n)
		}
	}
}

// TestReplayEndsAtAForeignPack: a record with a pack that does not fit its name, and the records
// after it, are not carried out.
func TestReplayEndsAtAForeignPack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, f := open(t, dir, 1)
	w := lock(t, l)
	must(t, w.Append(&Record{Name: "p", Pack: []byte("q: contents"), Idx: []byte("index")}))
	must(t, w.Append(&Record{Refs: []Ref{{Name: "refs/a", To: object.ID{1}}}}))
	w.Unlock()
	after, _ := open(t, dir, 2)
	if n := records(t, after); n != 0 {
		t.Errorf("%d records", n)
	}
	wantRef(t, f, "refs/a", object.ID{})
	if exists(filepath.Join(dir, "packs", "p"+packExt)) {
		t.Error("the pack was written")
	}
}

// TestReplayWithoutALargePack: a record may name a pack that was flushed before. If it is missing,
// the last record is dropped, and an earlier one is carried out: its pack was folded.
func TestReplayWithoutALargePack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, f := open(t, dir, 1)
	w := lock(t, l)
	must(t, w.Append(&Record{Name: "folded", Refs: []Ref{{Name: "refs/a", To: object.ID{1}}}}))
	must(t, w.Append(&Record{Name: "missing", Refs: []Ref{{Name: "refs/b", To: object.ID{2}}}}))
	w.Unlock()
	after, _ := open(t, dir, 2)
	records(t, after)
	wantRef(t, f, "refs/a", object.ID{1})
	wantRef(t, f, "refs/b", object.ID{})
}

// TestMakeAsksForItsBytes: a refused log is not made, and its bytes are given back.
func TestMakeAsksForItsBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, _ := open(t, dir, 1)
	must(t, l.Drop())
	sum := int64(0)
	l.Make(func(n int64) error { sum += n; return os.ErrPermission })
	if w, err := l.Lock(); w != nil || err != nil || sum != 0 {
		t.Errorf("%v, %v, %d bytes", w, err, sum)
	}
}

// FuzzRecord decodes hostile records. A record that decodes has one encoding.
func FuzzRecord(f *testing.F) {
	refs := Record{token: Token{1}, Refs: []Ref{{"refs/cairn/x", object.ID{1}, object.ID{2}}}}
	f.Add(refs.appendTo(nil))
	rec := Record{Name: "p", Pack: []byte("p: contents"), Idx: []byte("index")}
	f.Add(rec.appendTo(nil))
	f.Fuzz(func(t *testing.T, body []byte) {
		rec, err := decode(body)
		if err != nil {
			return
		}
		again, err := decode(rec.appendTo(nil))
		if err != nil || !bytes.Equal(again.appendTo(nil), rec.appendTo(nil)) {
			t.Fatalf("%v: %x", err, body)
		}
		if int64(len(rec.appendTo(nil))) > rec.Size()+int64(len(rec.Pack)+len(rec.Idx)) {
			t.Fatal("larger than its size")
		}
	})
}
