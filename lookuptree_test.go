package cairn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// A Repo that stays open finds the same checkpoint for a tree as a Repo that was just opened,
// whatever this or another process does in between: newer checkpoints of the same tree, operations,
// events of lines without a change, a cleaning that shortens lines, a purge.
func TestLookupOfTreesAgrees(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"f": gittest.File("0"), "secret": gittest.File("s")})
	open := f.repo()
	var trees []string
	agree := func(when string) (found int) {
		t.Helper()
		newest := make(map[string]string) // as the list has it
		for c, err := range f.repo().Checkpoints(background) {
			if err != nil {
				t.Fatal(err)
			}
			if newest[c.Hash] == "" {
				newest[c.Hash] = c.ID
			}
		}
		for _, tree := range trees {
			want, wantErr := f.repo().Lookup(background, tree)
			got, gotErr := open.Lookup(background, tree)
			if (gotErr == nil) != (wantErr == nil) || gotErr == nil && (got.ID != want.ID || got.Parent != want.Parent || got.Message != want.Message) {
				t.Errorf("%s, tree %s: %+v, %v; a Repo just opened: %+v, %v", when, tree, got, gotErr, want, wantErr)
			}
			if gotErr != nil {
				continue
			}
			found++
			if id := newest[tree]; id != "" && id != got.ID {
				t.Errorf("%s, tree %s: %s, but the list has %s first", when, tree, got.ID, id)
			}
			if _, err := got.Skipped(); err != nil {
				t.Errorf("%s: metadata of what was found: %v", when, err)
			}
		}
		return found
	}
	note := func(text string) {
		t.Helper()
		f.write("f", text)
		trees = append(trees, f.track().Hash)
	}
	for i := range 8 {
		note(fmt.Sprint(i))
	}
	agree("at first")
	note("2") // the tree of an older one
	note("new")
	agree("after newer ones")
	f.restore(trees[0])
	agree("after a restore")

	for i := range 6 { // a line that follows a track, and goes on without changes
		if i == 2 {
			f.write("f", "on a line")
		}
		err := access.Lines(f.repo()).Update(background, func(u *operation.LineUpdate) error {
			e, err := u.Append(background, "l", operation.LineAppend{Record: []byte(fmt.Sprintf(`{"n":%d}`, i)), Capture: true})
			if err == nil {
				trees = append(trees, e.Hash)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		agree(fmt.Sprintf("after event %d", i))
	}
	note("after the line")
	before := agree("before the cleaning")
	if _, err := f.repo().Clean(background, cairn.CleanOptions{Retention: cairn.Retention{MaxCount: 3, KeepLast: 1}, Thorough: true}); err != nil {
		t.Fatal(err)
	}
	if left := agree("after a cleaning"); left >= before {
		t.Errorf("%d trees before a cleaning, %d after it", before, left)
	}
	note("once more")
	agree("after another one")
	if _, err := f.repo().Purge(background, []string{"secret"}); err != nil {
		t.Fatal(err)
	}
	agree("after a purge")
}

// BenchmarkLookupOldest finds the first of 10,000 checkpoints by its tree.
func BenchmarkLookupOldest(b *testing.B) {
	root, data := b.TempDir(), b.TempDir()
	opt := cairn.Options{Root: root, DataDir: data, NoSync: true}
	r, err := cairn.Open(opt)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	var first string
	for i := range 10_000 {
		if err := os.WriteFile(filepath.Join(root, "f"), fmt.Append(nil, "content ", i), 0o644); err != nil {
			b.Fatal(err)
		}
		made, err := r.Track(b.Context(), cairn.TrackOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			first = made.Hash
		}
	}
	look := func(b *testing.B, r *cairn.Repo) {
		if _, err := r.Lookup(b.Context(), first); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("opened-each-time", func(b *testing.B) {
		for b.Loop() {
			fresh, err := cairn.Open(opt)
			if err != nil {
				b.Fatal(err)
			}
			look(b, fresh)
			fresh.Close()
		}
	})
	b.Run("stays-open", func(b *testing.B) {
		for b.Loop() {
			look(b, r)
		}
	})
}
