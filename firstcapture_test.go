package cairn_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestCapturesHoldWhatAFirstOneHolds: whatever stood at a path before, a capture holds all that the first capture of a
// new store holds, and leaves out what that leaves out.
func TestCapturesHoldWhatAFirstOneHolds(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		rerunAsUser(t) // unreadable paths belong to it
		return
	}
	for seed := range uint64(gittest.Rounds(40)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := &changing{fixture: newFixture(t, gittest.Tree{"a": gittest.File("a\n")}), rng: rand.New(rand.NewPCG(seed, 71))}
			c.opt.MaxFileSize = 100
			t.Cleanup(func() { _ = openAll(c.root) })
			for range 25 {
				for range 1 + c.rng.IntN(4) {
					c.edit()
				}
				if c.compare(); t.Failed() {
					t.Fatalf("after\n%s", strings.Join(c.done, "\n"))
				}
			}
		})
	}
}

// changing is a directory of few names, which often become something of another kind.
type changing struct {
	*fixture
	rng  *rand.Rand
	done []string
}

// somePath is a path up to three names deep.
func (c *changing) somePath() (rel string) {
	for range 1 + c.rng.IntN(3) {
		rel = path.Join(rel, []string{"a", "b"}[c.rng.IntN(2)])
	}
	return rel
}

// edit makes one change. One that fails, as below an unreadable directory, is none.
func (c *changing) edit() {
	rel := c.somePath()
	at, to := c.path(rel), c.path(c.somePath())
	chmod := func(mode fs.FileMode) func() error { return func() error { return os.Chmod(at, mode) } }
	put := func(node gittest.Node) func() error { return func() error { return c.put(at, node) } }
	rules := filepath.Join(filepath.Dir(at), ".gitignore")
	rule := []string{"%s", "/%s", "!%s", "%s/", "*\n!%s"}[c.rng.IntN(5)]
	small := put(gittest.File(fmt.Sprint(c.rng.IntN(5))))
	edits := map[string]func() error{
		"small file": small, "another small file": small, "too large file": put(gittest.File(strings.Repeat("x", 101))),
		"unreadable file": put(gittest.FileMode("x", 0)), "fifo": put(gittest.FIFO()), "link": put(gittest.Link("a")), "directory": put(gittest.Dir()),
		"removed": func() error { return clearPlace(c.root, at) }, "gone": func() error { return os.Remove(at) },
		"renamed to " + to: func() error { return os.Rename(at, to) },
		"unreadable":       chmod(0), "readable": chmod(0o755), "write only": chmod(0o300), "read only": chmod(0o400), "all readable": func() error { return openAll(c.root) },
		"ignored by " + rule: func() error { return os.WriteFile(rules, fmt.Appendf(nil, rule+"\n", filepath.Base(at)), 0o644) },
		"rules gone":         func() error { return os.Remove(rules) },
	}
	names := slices.Sorted(maps.Keys(edits))
	name := names[c.rng.IntN(len(names))]
	if edits[name]() == nil {
		c.done = append(c.done, rel+": "+name)
	}
}

func (c *changing) put(at string, node gittest.Node) error {
	if err := clearPlace(c.root, at); err != nil {
		return err
	}
	gittest.Create(c, filepath.Dir(at), gittest.Tree{filepath.Base(at): node})
	return nil
}

// clearPlace removes a path, and the files in the place of directories above it, which it makes.
func clearPlace(root, at string) error {
	for up := filepath.Dir(at); len(up) > len(root); up = filepath.Dir(up) {
		if fi, err := os.Lstat(up); err == nil && !fi.IsDir() {
			if err := os.Remove(up); err != nil {
				return err
			}
		}
	}
	_ = openAll(at)
	if err := os.RemoveAll(at); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Dir(at), 0o755)
}

// openAll makes the directories below a path readable.
func openAll(at string) error {
	return filepath.WalkDir(at, func(at string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(at, 0o755)
		}
		return nil
	})
}

// compare captures with the store, and with a new one. What only the store holds is on the disk: it was captured before
// rules ignored it.
func (c *changing) compare() {
	c.Helper()
	fresh := c.freshStore()
	defer fresh.Close()
	repo := c.repo()
	got, first := c.trackBy(repo), c.trackBy(fresh)
	c.done = append(c.done, "track")
	have := c.entries(repo, got.Checkpoint)
	for at, e := range c.entries(fresh, first.Checkpoint) {
		if have[at] != e {
			c.Errorf("%s: a first capture has %q, this one %q", at, e, have[at])
		}
	}
	for at := range have {
		if fi, err := os.Lstat(c.path(at)); err != nil || fi.IsDir() {
			c.Errorf("%s is captured: %v", at, err)
		}
	}
	for _, s := range first.Skipped {
		if !slices.ContainsFunc(got.Skipped, func(o cairn.SkippedPath) bool { return o.Path == s.Path && o.Reason == s.Reason }) {
			c.Errorf("%s: a first capture leaves it out (%s), this one has %q and leaves out %v", s.Path, s.Reason, have[string(s.Path)], got.Skipped)
		}
	}
}

func (c *changing) entries(r *cairn.Repo, spec string) map[string]string {
	c.Helper()
	all := make(map[string]string)
	for e, err := range r.List(c.Context(), spec, "") {
		if err != nil {
			c.Fatal(err)
		}
		all[e.Path] = fmt.Sprintf("%o %o %s", e.Mode, e.Perm, e.ID)
	}
	return all
}
