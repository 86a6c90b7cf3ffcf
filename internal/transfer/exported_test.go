package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// manyKinds holds one of everything that travels in a tree.
func manyKinds() map[string]statetest.File {
	random := make([]byte, 9<<20) // streamed, and not to be compressed
	r := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	return map[string]statetest.File{
		"a": {Content: "1\n"}, "copy": {Content: "1\n"}, "empty": {},
		"run":   {Mode: object.Executable, Content: "#!/bin/sh\n"},
		"link":  {Mode: object.Symlink, Content: "a"},
		"large": {Content: string(random)}, "zeros": {Content: strings.Repeat("\x00", 9<<20)},
		"d/e/f": {Content: "deep\n"}, "d/same": {Content: "deep\n"},
		"hollow/": {},
	}
}

// Git verifies, clones and fetches an exported bundle.
func TestGitReadsExport(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	o := gittest.NewOracle(t)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	got := statetest.Append(t, f.Store, f.Today(), statetest.NewStateOf(t, f.Store, manyKinds()), history.StateLabel{Message: "before the migration\n\nwith a body"})
	bundle := filepath.Join(t.TempDir(), "x.bundle")
	if err := os.WriteFile(bundle, f.export("@"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	o.In(dir, "init", "-q", "--bare", "empty.git")
	empty := filepath.Join(dir, "empty.git")
	if out := o.In(empty, "bundle", "verify", bundle); !strings.Contains(out, "complete history") {
		t.Errorf("verify: %s", out)
	}
	id := strings.Fields(o.In(empty, "bundle", "list-heads", bundle))[0]

	clone := filepath.Join(dir, "clone")
	o.In(dir, "clone", "-q", "-c", "fetch.fsckObjects=true", bundle, clone)
	if tree := o.WriteTree(clone); tree != got.Hash {
		t.Errorf("cloned %s, want %s", tree, got.Hash)
	}

	o.In(empty, "-c", "fetch.fsckObjects=true", "fetch", "-q", bundle, "refs/cairn/*:refs/cairn/*")
	o.In(empty, "fsck", "--strict", "--full")
	ref := "refs/cairn/exported/" + id
	if tree := strings.TrimSpace(o.In(empty, "rev-parse", ref+"^{tree}")); tree != got.Hash {
		t.Errorf("tree %s, want %s", tree, got.Hash)
	}
	if parents := strings.TrimSpace(o.In(empty, "log", "-1", "--format=%P", ref)); parents != "" {
		t.Errorf("parents %q", parents)
	}
	store := f.DB.Dir()
	const format = "--format=%an %ae %at %cn %ce %ct %B"
	if diff := cmp.Diff(o.In(store, "log", "-1", format, got.ID), o.In(empty, "log", "-1", format, ref)); diff != "" {
		t.Error(diff)
	}
	if raw := o.In(empty, "cat-file", "commit", ref); !strings.Contains(raw, "\ncairn-origin "+got.ID+"\n") {
		t.Errorf("origin is not named:\n%s", raw)
	}
	if objects := strings.Count(o.In(empty, "rev-list", "--objects", "--all"), "\n"); !strings.Contains(o.In(empty, "count-objects", "-v"), fmt.Sprintf("in-pack: %d\n", objects)) &&
		!strings.Contains(o.In(empty, "count-objects", "-v"), fmt.Sprintf("count: %d\n", objects)) {
		t.Errorf("the bundle holds more than the checkpoint's %d objects:\n%s", objects, o.In(empty, "count-objects", "-v"))
	}
}

func TestExportEmptyTree(t *testing.T) {
	t.Parallel()
	f := newMachine(t)
	from := f.track(nil)
	if c := newMachine(t).imported(f.export("@")); c.Hash != from.Hash {
		t.Errorf("imported %s, want %s", c.Hash, from.Hash)
	}
	if c := f.imported(f.export("@")); c.Hash != from.Hash {
		t.Errorf("imported %s, want %s", c.Hash, from.Hash)
	}
	gittest.NewOracle(t).In(f.DB.Dir(), "fsck", "--strict")
}

// Bundles that git writes hold deltas.
func TestImportGitsBundle(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	files := make(map[string]string)
	for i := range 60 { // alike, so that there are deltas
		files[fmt.Sprintf("d/file%02d", i)] = strings.Repeat(fmt.Sprintf("line of file %d\nand what they share\n", i), 50) + strings.Repeat("the rest is the same\n", 500)
	}
	f := newMachine(t)
	from := f.track(files)
	path := filepath.Join(t.TempDir(), "x.bundle")
	if err := os.WriteFile(path, f.export("@"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-c", "repack.useDeltaBaseOffset=true", "repack", "-adfq", "--depth=50"},
		{"-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq"},
	} {
		dir := filepath.Join(t.TempDir(), "r.git")
		o.In(filepath.Dir(dir), "init", "-q", "--bare", dir)
		o.In(dir, "fetch", "-q", path, "refs/cairn/*:refs/cairn/*")
		o.In(dir, args...)
		for _, version := range []string{"2", "3"} {
			if version == "3" && !o.AtLeast(2, 28) {
				t.Log("this git writes no bundles of version 3")
				continue
			}
			out := filepath.Join(t.TempDir(), "git.bundle")
			o.In(dir, "bundle", "create", "-q", "--version="+version, out, "--all")
			data, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > 40<<10 {
				t.Errorf("%d bytes: there are no deltas in it", len(data))
			}
			g := newMachine(t)
			if c := g.imported(data); c.Hash != from.Hash {
				t.Errorf("%q, version %s: %s, want %s", args, version, c.Hash, from.Hash)
			}
			if !maps.Equal(statetest.Contents(t, g.Store, from.Hash), files) {
				t.Errorf("%q, version %s: other contents", args, version)
			}
		}
	}
}

// A damaged checkpoint is not exported as if it were whole.
func TestExportDamaged(t *testing.T) {
	t.Parallel()
	f := newMachine(t)
	f.track(map[string]string{"a": strings.Repeat("some text\n", 1000)})
	packs, err := filepath.Glob(filepath.Join(f.DB.Dir(), "objects", "pack", "*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	data, err := os.ReadFile(packs[0])
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for i := 12; i < len(data)-20; i += 3 {
		other := bytes.Clone(data)
		other[i] ^= 0x55
		if err := os.WriteFile(packs[0], other, 0o600); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		r := machineOf(t, statetest.Reopen(t, f.Store))
		err := r.Export(t.Context(), &b, "@")
		if err := r.DB.Close(); err != nil {
			t.Error(err)
		}
		if err != nil {
			damaged++
			continue
		}
		newMachine(t).imported(b.Bytes())
	}
	if damaged == 0 {
		t.Error("no damage was noticed")
	}
	if err := os.WriteFile(packs[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	r := machineOf(t, statetest.Reopen(t, f.Store))
	defer r.DB.Close()
	wantError(t, r.Export(t.Context(), failingWriter{}, "@"), errFull)
	wantError(t, r.Export(t.Context(), io.Discard, "no such"), state.ErrNotFound)
	ctx, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	wantError(t, r.Export(ctx, io.Discard, "@~0"), context.DeadlineExceeded)
}

var errFull = errors.New("disk full")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }
