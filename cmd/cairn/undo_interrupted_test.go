//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestUndoNamesAnInterruptedOperation: an undo finishes the restore of a dead process first. It names
// that restore and takes it back, not the one before. Until then lists say that something is under way.
func TestUndoNamesAnInterruptedOperation(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	home, dir := filepath.Join(work, "home"), filepath.Join(work, "project")
	gittest.Create(t, home, nil)
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
	track(t, dir, home)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "2\n")
	track(t, dir, home)
	if got := runHere(t, dir, home, "", "restore", "@~1"); got.status != cli.ExitDone {
		t.Fatal(got.stderr)
	}
	before := gittest.Manifest(t, dir)
	interruptRestore(t, dir, filepath.Join(home, ".local", "share", "cairn"), "@")
	gittest.AssertEqual(t, "interrupted", before, gittest.Manifest(t, dir))
	for _, list := range []string{"operations", "log"} { // they take no lock
		if got := runHere(t, dir, home, "", list); got.status != cli.ExitDone || !strings.Contains(got.stderr, "an operation is under way") {
			t.Errorf("%s says %s", list, got.stderr)
		}
	}
	got := runHere(t, dir, home, "", "undo")
	gittest.AssertEqual(t, "undone", before, gittest.Manifest(t, dir))
	if got.status != cli.ExitDone || !strings.Contains(got.stderr, "finished an interrupted operation (kind restore") || !strings.Contains(got.stderr, "took back: the restore") {
		t.Errorf("status %d: %s%s", got.status, got.stdout, got.stderr)
	}
	list := runHere(t, dir, home, "", "operations")
	if n := strings.Count(list.stdout, "\n"); n != 3 || strings.Contains(list.stderr, "under way") {
		t.Errorf("%d operations:\n%s", n, list.stdout)
	}
}

// interruptRestore leaves a restore as that of a process that was killed before its first change.
func interruptRestore(t *testing.T, dir, dataDir, hash string) {
	t.Helper()
	r, err := cairn.Open(cairn.Options{Root: dir, DataDir: dataDir})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx := gittest.Until(t.Context(), filepath.Join(r.StoreDir(), "cairn", "journal", "operation"))
	if res, err := r.Restore(ctx, hash, cairn.RestoreOptions{}); err == nil {
		t.Fatalf("not interrupted: %+v", res)
	}
}
