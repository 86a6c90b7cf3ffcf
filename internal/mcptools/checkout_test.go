package mcptools

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

func TestCheckoutTool(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gittest.Tree{".gitignore": gittest.File("ign/\n"), "a": gittest.File("12345"), "ign/x": gittest.File("x")})
	hash := w.track().Hash
	whole := w.manifest()
	dir := filepath.Join(t.TempDir(), "copy")
	var plan, done copied
	text := w.call("checkout", map[string]any{"hash": "@", "dir": dir, "withIgnored": true, "dryRun": true}, &plan)
	wantText(t, "a plan", text, "nothing is made yet", "2 files (10 bytes)", "1 file (1 byte) of ignored files")
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || !plan.DryRun || plan.Hash != hash {
		t.Fatalf("after a plan: %v, %+v", err, plan)
	}
	wantText(t, "a copy", w.call("checkout", map[string]any{"hash": hash, "dir": dir + "/", "withIgnored": true}, &done), "made "+pathtext.Place(dir))
	gittest.AssertEqual(t, "the copy", whole, gittest.Manifest(t, dir))
	if string(done.Dir) != dir || done.Files != 2 || done.Ignored.Files != 1 || done.Unlisted != 0 {
		t.Errorf("%+v", done)
	}
	some := filepath.Join(t.TempDir(), "copy")
	w.call("checkout", map[string]any{"hash": hash, "dir": some, "patterns": []any{"nothing"}}, &done)
	gittest.AssertTree(t, some, gittest.Tree{".gitignore": gittest.File("ign/\n"), "a": gittest.File("12345")})

	before := w.manifest()
	w.fails("hash is empty", "checkout", map[string]any{"hash": "", "dir": dir})
	w.fails("is an absolute path", "checkout", map[string]any{"hash": "@", "dir": "copy"})
	w.fails("nothing was done; dir is absolute", "checkout", map[string]any{"hash": "@", "dir": dir})
	w.fails("lies inside", "checkout", map[string]any{"hash": "@", "dir": filepath.Join(w.dir, "in")})
	w.fails("0123456789", "checkout", map[string]any{"hash": "0123456789", "dir": dir + "2"})
	gittest.AssertEqual(t, "after refusals", before, w.manifest())
}
