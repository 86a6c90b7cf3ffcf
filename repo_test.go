package cairn_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// fixture is a root with a store beside it.
type fixture struct {
	*testing.T
	root, data string
	opt        cairn.Options
	opened     []*cairn.Repo
}

// newFixture makes a root that holds tree. The store is not made yet.
func newFixture(t *testing.T, tree gittest.Tree) *fixture {
	t.Helper()
	return newFixtureIn(t, t.TempDir(), tree)
}

// newFixtureIn is newFixture with the root in a given directory.
func newFixtureIn(t *testing.T, dir string, tree gittest.Tree) *fixture {
	t.Helper()
	f := &fixture{T: t, root: filepath.Join(dir, "root"), data: filepath.Join(t.TempDir(), "data")}
	gittest.Create(t, f.root, tree)
	if err := os.MkdirAll(f.root, 0o755); err != nil {
		t.Fatal(err)
	}
	f.opt = cairn.Options{Root: f.root, DataDir: f.data, NoSync: true}
	return f
}

// repo opens the store like a new process.
func (f *fixture) repo() *cairn.Repo {
	f.Helper()
	r, err := cairn.Open(f.opt)
	if err != nil {
		f.Fatal(err)
	}
	if f.opened == nil {
		f.Cleanup(f.closeAll)
	}
	f.opened = append(f.opened, r)
	return r
}

// files lists what is captured.
func (f *fixture) files(hash string) (paths []string) {
	f.Helper()
	for e, err := range f.repo().List(f.Context(), hash, "") {
		if err != nil {
			f.Fatal(err)
		}
		paths = append(paths, e.Path)
	}
	slices.Sort(paths)
	return paths
}

// capturedBy tracks by an open Repo and lists what is captured.
func (f *fixture) capturedBy(r *cairn.Repo) (paths []string) {
	f.Helper()
	return f.files(f.trackBy(r).Hash)
}

// freshStore opens a store of its own for the root, which the caller closes.
func (f *fixture) freshStore() *cairn.Repo {
	f.Helper()
	opt := f.opt
	opt.DataDir = filepath.Join(f.TempDir(), "fresh")
	r, err := cairn.Open(opt)
	if err != nil {
		f.Fatal(err)
	}
	return r
}

// closeAll closes what repo opened, for tests that open very many.
func (f *fixture) closeAll() {
	for _, r := range f.opened {
		r.Close()
	}
	f.opened = f.opened[:0]
}

func (f *fixture) track() *cairn.TrackResult {
	f.Helper()
	return f.trackBy(f.repo())
}

// trackBy is track by an open Repo.
func (f *fixture) trackBy(r *cairn.Repo) *cairn.TrackResult {
	f.Helper()
	got, err := r.Track(f.Context(), cairn.TrackOptions{})
	if err != nil {
		f.Fatalf("track: %v", err)
	}
	return got
}

// trackAll is track for trees in which nothing may be skipped.
func (f *fixture) trackAll() string {
	f.Helper()
	got := f.track()
	if len(got.Skipped) > 0 {
		f.Fatalf("skipped: %v", got.Skipped)
	}
	return got.Hash
}

func (f *fixture) restore(hash string, paths ...string) *cairn.Result {
	f.Helper()
	res, err := f.repo().Restore(f.Context(), hash, cairn.RestoreOptions{Paths: paths})
	if err != nil {
		f.Fatalf("restore %s: %v", hash, err)
	}
	return res
}

// restoreAll is restore where every path must come out as at the target.
func (f *fixture) restoreAll(hash string) {
	f.Helper()
	if res := f.restore(hash); !res.Complete() {
		f.Fatalf("kept %v, conflicts %v", res.Kept, res.Conflicts)
	}
}

func (f *fixture) patch(hash string) []string {
	f.Helper()
	p, err := f.repo().Patch(f.Context(), hash, "")
	if err != nil {
		f.Fatalf("patch: %v", err)
	}
	for i, file := range p.Files {
		rel, err := filepath.Rel(f.repo().Root(), file)
		if err != nil {
			f.Fatal(err)
		}
		p.Files[i] = filepath.ToSlash(rel)
	}
	return p.Files
}

func (f *fixture) revert(patches ...cairn.Patch) *cairn.Result {
	f.Helper()
	res, err := f.repo().RevertPatches(f.Context(), patches, cairn.RevertPatchesOptions{})
	if err != nil {
		f.Fatalf("revert: %v", err)
	}
	return res
}

func (f *fixture) manifest(wants ...gittest.Want) gittest.Listing {
	f.Helper()
	return gittest.Manifest(f, f.root, wants...)
}

func (f *fixture) path(rel string) string { return filepath.Join(f.root, filepath.FromSlash(rel)) }

func (f *fixture) write(rel, content string) {
	f.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path(rel)), 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(f.path(rel), []byte(content), 0o644); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) read(rel string) string {
	f.Helper()
	data, err := os.ReadFile(f.path(rel))
	if err != nil {
		f.Fatal(err)
	}
	return string(data)
}

func (f *fixture) remove(rel string) {
	f.Helper()
	if err := os.RemoveAll(f.path(rel)); err != nil {
		f.Fatal(err)
	}
}

// removeIgnoreFiles takes away what a random edit may have put there, for tests in
// which nothing may be ignored.
func (f *fixture) removeIgnoreFiles() {
	f.Helper()
	for path := range f.manifest() {
		if filepath.Base(path) == ".gitignore" {
			f.remove(path)
		}
	}
}

func (f *fixture) exists(rel string) bool {
	_, err := os.Lstat(f.path(rel))
	return err == nil
}

func skippedAs(t *testing.T, list []cairn.SkippedPath, path, reason string) {
	t.Helper()
	for _, s := range list {
		if string(s.Path) == path {
			if s.Reason != reason {
				t.Errorf("%q skipped as %q, want %q", path, s.Reason, reason)
			}
			return
		}
	}
	t.Errorf("%q is not reported as skipped: %v", path, list)
}

func assertError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want one that is %v", err, want)
	}
}

var background = context.Background()
