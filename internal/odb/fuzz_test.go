package odb

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
	"github.com/seed-fb9cbc17/cairn/internal/odb/redo"
)

// FuzzLoose reads hostile loose objects.
func FuzzLoose(f *testing.F) {
	for _, s := range []string{"blob 5\x00hello", "blob 0\x00", "tree 3\x00abc", "blob 99999999999999999999\x00", "blob 6\x00hello", "blob 5", ""} {
		var out bytes.Buffer
		zw := zlib.NewWriter(&out)
		zw.Write([]byte(s))
		zw.Close()
		f.Add(out.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 16<<10 {
			return
		}
		z := pack.NewInflater(bytes.NewReader(data), 0, int64(len(data)))
		defer z.Release()
		kind, size, err := looseHead(z)
		if err != nil {
			return
		}
		content, err := z.Contents(size)
		if err == nil && (int64(len(content)) != size || kind < object.Commit || kind > object.Tag) {
			t.Fatalf("%v of %d bytes instead of %d", kind, len(content), size)
		}
	})
}

// FuzzJournal: only a journal that was written under that name is accepted.
func FuzzJournal(f *testing.F) {
	f.Add("j", []byte(journalMagic+journalSum("j", []byte("data"))+"\ndata"))
	f.Add("other", []byte(journalMagic+journalSum("j", []byte("data"))+"\ndata"))
	f.Add("j", []byte(journalMagic+journalSum("j", nil)+"\n"))
	f.Fuzz(func(t *testing.T, name string, file []byte) {
		data, err := decodeJournal(name, file)
		if err == nil && string(file) != journalMagic+journalSum(name, data)+"\n"+string(data) {
			t.Fatalf("accepted %q as %q", file, data)
		}
		if again, err := decodeJournal(name, append([]byte(journalMagic+journalSum(name, file)+"\n"), file...)); err != nil || !bytes.Equal(again, file) {
			t.Fatalf("what was written is refused: %v", err)
		}
		if checkJournalName(name) == nil && (!filepath.IsLocal(name) || filepath.Base(name) != name) {
			t.Fatalf("%q passes as the name of a journal", name)
		}
		decodeHolder(file)
	})
}

// FuzzRef reads hostile refs, packed refs and names.
func FuzzRef(f *testing.F) {
	id := strings.Repeat("0123456789", 4)
	f.Add("refs/cairn/a", id+"\n")
	f.Add("refs/cairn/a", "ref: refs/cairn/b\n")
	f.Add("refs/cairn/../../a", "# pack-refs with: peeled fully-peeled sorted \n"+id+" refs/cairn/a\n^"+id+"\n")
	f.Add("refs/cairn/a", id+" refs/cairn/a\n"+id+" refs/cairn/b\n"+id+" refs/cairn/c")
	f.Fuzz(func(t *testing.T, name, file string) {
		if got, target, err := parseRef([]byte(file)); err == nil {
			if (target == "") == got.IsZero() {
				t.Fatalf("%q is %s and %q", file, got, target)
			}
			if target != "" && checkRefName(target) != nil {
				t.Fatalf("%q leads to %q", file, target)
			}
		}
		if checkRefName(name) == nil && !filepath.IsLocal(filepath.FromSlash(name)) {
			t.Fatalf("%q leads out of the store", name)
		}
		refs := parsePackedRefs(file)
		for _, r := range refs {
			if (r.Err == nil) == (r.ID.IsZero()) || r.Err == nil && checkRefName(r.Name) != nil {
				t.Fatalf("packed ref %+v", r)
			}
		}
		if checkRefName(name) != nil {
			return
		}
		rest, found := withoutRef(file, name)
		left := parsePackedRefs(rest)
		if _, there := left.find(name); there {
			t.Fatalf("%s is still in %q", name, rest)
		}
		n := 0
		for _, r := range refs {
			if r.Name == name {
				n++
			}
		}
		if len(left) != len(refs)-n || found != (n > 0) {
			t.Fatalf("removing %s leaves %d of %d refs", name, len(left), len(refs))
		}
	})
}

// FuzzLogRecord: a record of the redo log that is accepted names no file outside of its directory.
func FuzzLogRecord(f *testing.F) {
	f.Add("refs/cairn/x", "pack-"+strings.Repeat("1", 40), 0, 0)
	f.Add("refs/../../x", "../../pack", 2000, 2000)
	f.Fuzz(func(t *testing.T, ref, name string, body, idx int) {
		r := redo.Record{Name: name, Refs: []redo.Ref{{Name: ref}}, Pack: make([]byte, max(0, min(body, 4000))), Idx: make([]byte, max(0, min(idx, 4000)))}
		if (logStore{}).CheckRecord(&r) != nil {
			return
		}
		if filepath.Base(name) != name && name != "" || !filepath.IsLocal(filepath.FromSlash(ref)) {
			t.Fatalf("pack %q, ref %q", name, ref)
		}
		if len(r.Pack) > 0 {
			(logStore{}).CheckPack(&r) // does not panic
		}
	})
}
