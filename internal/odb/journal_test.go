package odb

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

func TestJournal(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	if list, err := db.Journals(); len(list) != 0 || err != nil {
		t.Fatalf("%v, %v", list, err)
	}
	contents := map[string][]byte{"b": []byte("bytes\x00\n\xff"), "a-1_x.y": nil, "c": noise(1, 3<<20)}
	for name, data := range contents {
		must(t, db.WriteJournal(name, []byte("replaced"), nil))
		must(t, db.WriteJournal(name, data, nil))
	}
	list, err := reopen(t, db).Journals()
	must(t, err)
	var names []string
	for _, j := range list {
		names = append(names, j.Name)
		if j.Err != nil || !bytes.Equal(j.Data, contents[j.Name]) {
			t.Errorf("%s: %d bytes, %v", j.Name, len(j.Data), j.Err)
		}
	}
	if want := []string{"a-1_x.y", "b", "c"}; !slices.Equal(names, want) {
		t.Errorf("journals %q, want %q", names, want)
	}
	must(t, db.RemoveJournal("b"))
	must(t, db.RemoveJournal("b"))
	if list, err := db.Journals(); len(list) != 2 || err != nil {
		t.Errorf("%d, %v", len(list), err)
	}
}

func TestJournalNames(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	for _, name := range []string{"", ".", "..", ".hidden", "a/b", "../x", `a\b`, "a b", "a\n", "a:b", "\u00e9", strings.Repeat("x", 101)} {
		if err := db.WriteJournal(name, nil, nil); err == nil {
			t.Errorf("write %q", name)
		}
		if err := db.RemoveJournal(name); err == nil {
			t.Errorf("remove %q", name)
		}
	}
	must(t, db.WriteJournal(strings.Repeat("x", 100), nil, nil))
}

func TestR94TornJournals(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	must(t, db.WriteJournal("j", []byte("restore to 1234"), nil))
	must(t, db.WriteJournal("other", []byte("fine"), nil))
	path := db.path(journalDir, "j")
	good, err := os.ReadFile(path)
	must(t, err)
	check := func(what string, data []byte) {
		t.Helper()
		must(t, os.WriteFile(path, data, 0o600))
		list, err := db.Journals()
		if err != nil || len(list) != 2 || list[1].Err != nil || string(list[1].Data) != "fine" {
			t.Fatalf("%s: %v, %v", what, list, err)
		}
		if j := list[0]; j.Name != "j" || j.Data != nil || !errors.Is(j.Err, pack.ErrCorrupt) || !strings.Contains(j.Err.Error(), path) {
			t.Fatalf("%s: %+v", what, j)
		}
	}
	for i := range good {
		check("cut off", good[:i])
		bad := bytes.Clone(good)
		bad[i] ^= 1
		check("altered", bad)
	}
	check("longer", append(bytes.Clone(good), 'x'))
	check("zeroed", make([]byte, len(good)))
	other, err := os.ReadFile(db.path(journalDir, "other"))
	must(t, err)
	check("another's", other)
	must(t, db.RemoveJournal("j"))
}

// Other files beside journals are not listed, and the directory may be missing.
func TestJournalsAmongOtherFiles(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	must(t, os.WriteFile(db.path(journalDir, ".tmp_cairn_1"), nil, 0o600))
	must(t, os.WriteFile(db.path(journalDir, "a~"), nil, 0o600))
	if list, err := db.Journals(); len(list) != 0 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	must(t, os.RemoveAll(db.path(journalDir)))
	if list, err := db.Journals(); len(list) != 0 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	must(t, db.WriteJournal("j", []byte("x"), nil))
	if list, err := db.Journals(); len(list) != 1 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}

// What has to be on the disk before a journal is done before it has its name. A failure of that leaves the
// journal as it was.
func TestJournalAfter(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	data := func() (text string) {
		journals, err := db.Journals()
		must(t, err)
		for _, j := range journals {
			must(t, j.Err)
			text += string(j.Data)
		}
		return text
	}
	for _, was := range []string{"", "old"} {
		refused := errors.New("refused")
		err := db.WriteJournal("j", []byte("new"), func() error {
			if got := data(); got != was {
				t.Errorf("the journal is %q already", got)
			}
			return refused
		})
		if got := data(); !errors.Is(err, refused) || got != was {
			t.Errorf("after a failure: %v, the journal is %q", err, got)
		}
		must(t, db.WriteJournal("j", []byte("old"), func() error { return nil }))
		if got := data(); got != "old" {
			t.Errorf("the journal is %q", got)
		}
	}
	if names, err := readNames(db.path(journalDir)); err != nil || len(names) != 1 {
		t.Errorf("%q, %v", names, err)
	}
}
