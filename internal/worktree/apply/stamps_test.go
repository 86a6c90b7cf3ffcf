package apply

import (
	"os"
	"sync/atomic"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// A stat proves something of a file just written only where its next change was seen to
// show; of a link never, nor of what was there already.
func TestR23WrittenFilesAreRacy(t *testing.T) {
	t.Parallel()
	for name, finely := range map[string]bool{"ticks": false, "fine": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			before := testTree{"bits": aFile("same").bits(0o644)}
			after := testTree{"bits": aFile("same").bits(0o755), "a/f": aFile("f"), "a/g": aFile("g").bits(0o400), "l": aLink("a/f")}
			before.build(t, root)
			a, blobs := newExecutor(root)
			var asked atomic.Int32
			a.stamps = func(*os.File) atomicfile.Fine { asked.Add(1); return atomicfile.Fine{Files: finely} }
			for _, out := range applyAll(t, a, plan(t, root, blobs, before, after)) {
				want := !finely || out.Action == Chmod || out.Entry.Mode == object.Symlink
				if out.Entry.Mode != object.Dir && out.Entry.Racy != want {
					t.Errorf("%s %s: racy %t, want %t", out.Action, out.Path, out.Entry.Racy, want)
				}
			}
			if n := asked.Load(); n != 1 {
				t.Errorf("the file system was asked %d times", n)
			}
		})
	}
}
