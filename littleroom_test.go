package cairn_test

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestWaysBackWithLittleRoom: where less of the disk is free than is to stay free, nothing new is captured, and no
// checkpoint is dropped. Ways back work: they save little, and may be what makes room.
func TestWaysBackWithLittleRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("one\n"), "b": gittest.File("b\n")})
	f.opt.Retention = &cairn.Retention{MinFree: cairn.NoLimit}
	r := f.repo()
	first := f.track().Hash
	f.write("a", "two\n")
	f.write("new", "new\n")
	f.track()
	cleaned := r.CountCleanings()

	free := int64(1 << 20)
	r.SetFreeSpace(func() (int64, error) { return free, nil })
	r.SetMinFree(1 << 30)
	f.write("b", "of the user\n")
	mine := f.manifest()
	_, err := r.Track(background, cairn.TrackOptions{})
	assertError(t, err, cairn.ErrNoSpace)

	n := cleaned()
	for _, way := range []struct {
		name  string
		takes func() error
	}{
		{"restore", func() error { _, err := r.Restore(background, first, cairn.RestoreOptions{}); return err }},
		{"undo", func() error { _, err := r.Undo(background, cairn.RevertOptions{}); return err }},
	} {
		if err := way.takes(); err != nil {
			t.Fatalf("%s: %v", way.name, err)
		}
	}
	if d := gittest.Diff(mine, f.manifest()); d != "" {
		t.Errorf("after restore and undo:\n%s", d)
	}
	if now := cleaned(); now != n {
		t.Errorf("%d cleanings of a way back", now-n)
	}
	free = 0
	_, err = r.Restore(background, first, cairn.RestoreOptions{})
	assertError(t, err, cairn.ErrNoSpace)
	if d := gittest.Diff(mine, f.manifest()); d != "" {
		t.Errorf("after a restore without room:\n%s", d)
	}
}
