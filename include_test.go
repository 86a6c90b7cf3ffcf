package cairn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// V21: Include reaches below ignored directories.
func TestV21_IncludeReachesEverywhere(t *testing.T) {
	t.Parallel()
	tree := gittest.Tree{
		".gitignore":          gittest.File("build/\nnode_modules/\n*.log\n"),
		"build/a/.env":        gittest.File("1"),
		"build/a/out":         gittest.File("2"),
		"build/keep/x.conf":   gittest.File("3"),
		"build/keep/d/y.log":  gittest.File("4"),
		"node_modules/m/.env": gittest.File("5"),
		"x.log":               gittest.File("6"),
		"src/.env":            gittest.File("7"),
		"build/none":          gittest.Dir(),
	}
	for _, c := range []struct {
		include []string
		want    []string // beside .gitignore and src/.env, which no rule ignores
	}{
		{nil, nil},
		{[]string{".env"}, []string{"build/a/.env", "node_modules/m/.env"}},
		{[]string{".env", "!node_modules/"}, []string{"build/a/.env"}},
		{[]string{"build/keep/*.conf"}, []string{"build/keep/x.conf"}},
		{[]string{"build/keep/"}, []string{"build/keep/x.conf", "build/keep/d/y.log"}},
		{[]string{"build/", "!build/a/"}, []string{"build/keep/x.conf", "build/keep/d/y.log"}},
		{[]string{"/*.log"}, []string{"x.log"}},
	} {
		t.Run(strings.Join(c.include, " "), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, tree)
			f.opt.Include = c.include
			hash := f.trackAll()
			want := slices.Sorted(slices.Values(append(c.want, ".gitignore", "src/.env")))
			if got := f.files(hash); !slices.Equal(got, want) {
				t.Errorf("captured %q, want %q", got, want)
			}
			before := f.manifest()
			if again := f.trackAll(); again != hash {
				t.Errorf("a second look gives %s, not %s", again, hash)
			}
			for _, path := range c.want {
				f.write(path, "changed")
			}
			f.restoreAll(hash)
			gittest.AssertEqual(t, "after the restore", before, f.manifest())
		})
	}
}

// What Include asks for and is too large is said, and captured where the setting allows.
func TestV21_LimitOfInclude(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("build/\n"), "build/big.env": gittest.File(strings.Repeat("x", 2000))})
	f.opt.Include, f.opt.MaxIncludeSize = []string{"*.env"}, 1000
	if got := f.track(); len(got.Skipped) != 1 || got.Skipped[0].Path != "build/big.env" || got.Skipped[0].Reason != "too large" || !got.Skipped[0].Policy() {
		t.Fatalf("skipped %+v", got.Skipped)
	}
	f.write("build/big.env", "small")
	if got := f.files(f.trackAll()); !slices.Contains(got, "build/big.env") {
		t.Errorf("one that has shrunk is not captured: %q", got)
	}
	f.write("build/other.env", strings.Repeat("x", 2000))
	f.opt.MaxIncludeSize = cairn.NoLimit
	if got := f.files(f.trackAll()); !slices.Contains(got, "build/other.env") {
		t.Errorf("without a limit %q is all", got)
	}
}

// An ignored file that a caller names is captured up to MaxFileSize.
func TestV21_NamedFilesAreSavedWhole(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{".gitignore": gittest.File("build/\n"), "build/out": gittest.File(strings.Repeat("x", 3<<20)), "build/huge": gittest.File(strings.Repeat("y", 5<<20))})
	f.opt.MaxFileSize = 4 << 20
	got, err := f.repo().Track(background, cairn.TrackOptions{Paths: []string{"build/out", "build/huge"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.files(got.Hash); !slices.Contains(got, "build/out") || slices.Contains(got, "build/huge") {
		t.Errorf("captured %q", got)
	}
	if len(got.Skipped) != 1 || got.Skipped[0].Path != "build/huge" {
		t.Errorf("skipped %+v", got.Skipped)
	}
}
