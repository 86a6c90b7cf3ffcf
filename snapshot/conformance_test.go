package snapshot_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/snapshot"
)

// env is a git work tree under snapshot, as upstream's tests set it up: a.txt and
// b.txt committed.
type env struct {
	*testing.T
	dir    string
	cfg    snapshot.Config
	oracle *gittest.Oracle
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{T: t, dir: t.TempDir(), oracle: gittest.NewOracle(t)}
	e.dir, _ = filepath.EvalSymlinks(e.dir)
	e.oracle.Init(e.dir)
	e.write("a.txt", "A content\n")
	e.write("b.txt", "B content\n")
	e.oracle.Commit(e.dir, "init")
	e.cfg = snapshot.Config{Enabled: true, WorkDir: e.dir, DataDir: t.TempDir()}
	return e
}

func (e *env) abs(rel string) string { return e.dir + "/" + rel }

func (e *env) write(rel, content string) {
	e.Helper()
	path := filepath.Join(e.dir, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		e.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		e.Fatal(err)
	}
}

func (e *env) remove(rel string) {
	e.Helper()
	if err := os.RemoveAll(e.abs(rel)); err != nil {
		e.Fatal(err)
	}
}

func (e *env) track() string {
	e.Helper()
	hash, err := snapshot.Track(e.cfg)
	if err != nil || len(hash) != 40 {
		e.Fatalf("track: %q, %v", hash, err)
	}
	return hash
}

func (e *env) patch(hash string) snapshot.Patch {
	e.Helper()
	p, err := snapshot.GetPatch(e.cfg, hash)
	if err != nil {
		e.Fatal(err)
	}
	return p
}

// files is the patch as paths below the directory.
func (e *env) files(hash string) []string {
	e.Helper()
	var out []string
	for _, f := range e.patch(hash).Files {
		rel, ok := strings.CutPrefix(f, e.dir+"/")
		if !ok {
			e.Errorf("%q is not an absolute path below %q", f, e.dir)
		}
		out = append(out, rel)
	}
	return out
}

func (e *env) wantFiles(hash string, want ...string) {
	e.Helper()
	if got := e.files(hash); !slices.Equal(got, want) {
		e.Errorf("patch lists %q, want %q", got, want)
	}
}

func (e *env) revert(patches ...snapshot.Patch) {
	e.Helper()
	if err := snapshot.Revert(e.cfg, patches); err != nil {
		e.Fatal(err)
	}
}

func (e *env) restore(hash string) {
	e.Helper()
	if err := snapshot.Restore(e.cfg, hash); err != nil {
		e.Fatal(err)
	}
}

func (e *env) diffFull(from, to string) map[string]snapshot.FileDiff {
	e.Helper()
	list, err := snapshot.DiffFull(e.cfg, from, to)
	if err != nil {
		e.Fatal(err)
	}
	out := make(map[string]snapshot.FileDiff)
	for _, d := range list {
		out[d.File] = d
	}
	return out
}

func (e *env) want(rel, content string) {
	e.Helper()
	data, err := os.ReadFile(e.abs(rel))
	if err != nil || string(data) != content {
		e.Errorf("%s holds %q (%v), want %q", rel, data, err, content)
	}
}

func (e *env) wantAbsent(rels ...string) {
	e.Helper()
	for _, rel := range rels {
		if _, err := os.Lstat(e.abs(rel)); err == nil {
			e.Errorf("%s is still there", rel)
		}
	}
}

// conformance holds one test for every test of upstream's suite, under its name.
var conformance = []map[string]func(*env){ofNames, ofRules, ofReverts, ofDiffs}

func sorted(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return out
}

func (e *env) wantDiff(from, file, before, after string, additions, deletions int) {
	e.Helper()
	d := e.diffFull(from, e.track())[file]
	if d.Before != before || d.After != after || d.Additions != additions || d.Deletions != deletions {
		e.Errorf("%+v", d)
	}
}

// worktree adds a linked worktree of the repository, with the same data directory.
func (e *env) worktree() *env {
	e.Helper()
	dir := filepath.Join(e.TempDir(), "linked")
	e.oracle.In(e.dir, "worktree", "add", "-q", dir)
	dir, _ = filepath.EvalSymlinks(dir)
	w := *e
	w.dir, w.cfg.WorkDir = dir, dir
	return &w
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, tests := range conformance {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(newEnv(t))
			})
		}
	}
}

func TestDisabled(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.Enabled = false
	if hash, err := snapshot.Track(e.cfg); hash != "" || err != nil {
		t.Errorf("track: %q, %v", hash, err)
	}
	if p, err := snapshot.GetPatch(e.cfg, "x"); err != nil || len(p.Files) != 0 {
		t.Errorf("patch: %v, %v", p, err)
	}
	for _, err := range []error{snapshot.Restore(e.cfg, "x"), snapshot.Revert(e.cfg, nil)} {
		if err != snapshot.ErrDisabled {
			t.Errorf("%v", err)
		}
	}
	if entries, err := os.ReadDir(e.cfg.DataDir); err != nil || len(entries) != 0 {
		t.Errorf("something was written: %v, %v", entries, err)
	}
}

func TestFailuresAreErrors(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.WorkDir = e.abs("none")
	if hash, err := snapshot.Track(e.cfg); hash != "" || err == nil {
		t.Errorf("track of nothing: %q, %v", hash, err)
	}
	e.cfg.WorkDir = e.dir
	if err := snapshot.Restore(e.cfg, strings.Repeat("0", 40)); err == nil {
		t.Error("restore of an unknown hash succeeded")
	}
	hash, err := snapshot.Track(e.cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, unknown := range []string{"", "unknown", strings.Repeat("0", 40)} { // "" is the hash of a failed or disabled track
		_, diff := snapshot.Diff(e.cfg, unknown)
		_, from := snapshot.DiffFull(e.cfg, unknown, hash)
		_, to := snapshot.DiffFull(e.cfg, hash, unknown)
		for i, err := range []error{diff, from, to, snapshot.Restore(e.cfg, unknown)} {
			if !errors.Is(err, cairn.ErrNotFound) {
				t.Errorf("%d: the error of %q is %v", i, unknown, err)
			}
		}
	}
	if err := snapshot.Revert(e.cfg, []snapshot.Patch{{Hash: strings.Repeat("0", 40), Files: []string{e.abs("a.txt")}}}); err == nil {
		t.Error("revert to an unknown hash succeeded")
	}
	e.want("a.txt", "A content\n")
}
