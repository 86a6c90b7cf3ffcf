package cairn_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// damaged is a store of two lines of checkpoints, in packs of their own, with an
// operation, that something has happened to.
type damaged struct {
	*aged
	store string
	ids   []string // checkpoints
	want  []string // what the file a holds at each
}

func newDamaged(t *testing.T) *damaged {
	d := &damaged{aged: newAged(t)}
	for i, ago := range []int{5, 5, 1, 0} {
		content := noise(i, 5000)
		d.ids = append(d.ids, d.trackAgo(day*timeOf(ago), content))
		d.want = append(d.want, content)
	}
	d.restoreAll(d.ids[1])
	d.restoreAll(d.ids[3])
	d.store = d.repo().StoreDir()
	d.closeAll()
	return d
}

// files lists files of the store by pattern, which must match some.
func (d *damaged) files(pattern string) []string {
	d.Helper()
	list, err := filepath.Glob(filepath.Join(d.store, filepath.FromSlash(pattern)))
	if err != nil || len(list) == 0 {
		d.Fatalf("no %s in the store: %v", pattern, err)
	}
	slices.Sort(list)
	return list
}

// spoil changes a file, whatever its mode.
func (d *damaged) spoil(path string, change func([]byte) []byte) {
	d.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		d.Fatal(err)
	}
	os.Remove(path)
	if err := os.WriteFile(path, change(data), 0o600); err != nil {
		d.Fatal(err)
	}
}

func flip(data []byte) []byte { data[len(data)/2] ^= 0x55; return data }
func tear(data []byte) []byte { return data[:len(data)/2] }
func empty([]byte) []byte     { return nil }

// tryEverything runs every command. None may crash, hang or give wrong bytes; it
// returns which checkpoints can be read.
func (d *damaged) tryEverything(when string) (readable []int) {
	d.Helper()
	defer d.closeAll()
	d.write("a", "on the disk")
	r := d.repo()
	for i, id := range d.ids {
		_, rc, err := r.OpenFile(background, id, "a")
		if err != nil {
			continue
		}
		data, err := io.ReadAll(rc)
		rc.Close()
		if err != nil {
			continue
		}
		if string(data) != d.want[i] {
			d.Errorf("%s: checkpoint %d gives wrong bytes", when, i)
		}
		readable = append(readable, i)
	}
	for range r.Checkpoints(background) {
	}
	for range r.Operations(background) {
	}
	r.Pins(background)
	r.Usage(background)
	for i := range d.ids {
		r.Changes(background, d.ids[i], "")
		r.Diff(background, io.Discard, d.ids[i], "", cairn.DiffOptions{})
		for range r.List(background, d.ids[i], "") {
		}
		r.Patch(background, d.ids[i], "")
		r.Export(background, io.Discard, d.ids[i])
		if _, err := r.Restore(background, d.ids[i], cairn.RestoreOptions{DryRun: true}); err == nil {
			continue
		}
	}
	for _, i := range readable {
		if _, err := r.Restore(background, d.ids[i], cairn.RestoreOptions{}); err == nil && d.read("a") != d.want[i] {
			d.Errorf("%s: restoring checkpoint %d gives wrong bytes", when, i)
		}
	}
	r.Undo(background, cairn.RevertOptions{})
	r.Redo(background, cairn.RevertOptions{})
	r.Clean(background, cairn.CleanOptions{DryRun: true})
	return readable
}

// TestDamage: a store that something has happened to is diagnosed, crashes nothing,
// yields no wrong bytes, and goes on working for what is whole; mending makes it sound
// again, and new checkpoints can be taken at any time.
func TestDamage(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	for name, c := range map[string]struct {
		do    func(*damaged)
		least int // checkpoints that stay readable
	}{
		"flipped bit in a pack":   {func(d *damaged) { d.spoil(d.files("objects/pack/*.pack")[0], flip) }, 3},
		"truncated pack":          {func(d *damaged) { d.spoil(d.files("objects/pack/*.pack")[0], tear) }, 3},
		"empty pack":              {func(d *damaged) { d.spoil(d.files("objects/pack/*.pack")[0], empty) }, 3},
		"missing pack":            {func(d *damaged) { os.Remove(d.files("objects/pack/*.pack")[0]) }, 3},
		"flipped bit in an index": {func(d *damaged) { d.spoil(d.files("objects/pack/*.idx")[0], flip) }, 3},
		"truncated index":         {func(d *damaged) { d.spoil(d.files("objects/pack/*.idx")[0], tear) }, 3},
		"missing index":           {func(d *damaged) { os.Remove(d.files("objects/pack/*.idx")[0]) }, 3},
		"torn ref":                {func(d *damaged) { d.spoil(d.files("refs/cairn/tracks/*")[0], tear) }, 4},
		"empty ref":               {func(d *damaged) { d.spoil(d.files("refs/cairn/tracks/*")[0], empty) }, 4},
		"torn operations":         {func(d *damaged) { d.spoil(d.files("refs/cairn/operations")[0], tear) }, 4},
		"torn stat cache":         {func(d *damaged) { d.spoil(d.files("cairn/index")[0], tear) }, 4},
		"flipped stat cache":      {func(d *damaged) { d.spoil(d.files("cairn/index")[0], flip) }, 4},
		"torn journal": {func(d *damaged) {
			gittest.Create(d, d.store, gittest.Tree{"cairn/journal/operation": gittest.FileMode("cairn journal 1 torn", 0o600)})
		}, 4},
		"torn ends of lines": {func(d *damaged) {
			gittest.Create(d, d.store, gittest.Tree{"shallow": gittest.FileMode("12345", 0o600)})
		}, 4},
		"open to others": {func(d *damaged) { os.Chmod(filepath.Join(d.store, "objects"), 0o777) }, 4},
		"a dead one's leftovers": {func(d *damaged) {
			gittest.Create(d, d.store, gittest.Tree{"objects/pack/tmp_pack_old": gittest.FileMode("x", 0o600), "cairn/.tmp_cairn_1": gittest.FileMode("x", 0o600)})
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDamaged(t)
			c.do(d)
			found, err := d.repo().Check(background, cairn.CheckOptions{})
			if err != nil || len(found) == 0 {
				t.Errorf("a check finds %v, %v", found, err)
			}
			for _, f := range found {
				if f.Text == "" || f.Kind == "" || f.Fixed {
					t.Errorf("finding %+v", f)
				}
			}
			d.closeAll()
			if readable := d.tryEverything("damaged"); len(readable) < c.least {
				t.Errorf("only the checkpoints %v can be read, want %d", readable, c.least)
			}
			if found, err := d.repo().Check(background, cairn.CheckOptions{Fix: true}); err != nil {
				t.Errorf("mending: %v, %v", found, err)
			}
			d.closeAll()
			if readable := d.tryEverything("mended"); len(readable) < c.least {
				t.Errorf("after mending only the checkpoints %v can be read, want %d", readable, c.least)
			}
			d.write("a", "after all that")
			id := d.trackAll()
			d.write("a", "later")
			d.restoreAll(id)
			if d.read("a") != "after all that" {
				t.Errorf("a holds %.20q", d.read("a"))
			}
		})
	}
}

// A sound store gives no finding, whatever was done with it.
func TestCheckOfASoundStore(t *testing.T) {
	t.Parallel()
	d := newDamaged(t)
	for i := range 3 {
		if found, err := d.repo().Check(background, cairn.CheckOptions{Fix: i == 1}); err != nil || len(found) > 0 {
			t.Errorf("found %+v, %v", found, err)
		}
		d.write("b", fmt.Sprint(i))
		d.trackAll()
		d.clean(cairn.CleanOptions{Retention: cairn.Retention{KeepLast: 2, MaxCount: 2}, Thorough: i == 2})
	}
}
