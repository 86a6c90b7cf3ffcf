package cairn_test

import (
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestLimits: NoLimit is no limit in every field, and the zero Options have the defaults.
func TestLimits(t *testing.T) {
	t.Parallel()
	const none = cairn.NoLimit
	for _, c := range []struct {
		name string
		opt  cairn.Options
		want cairn.Limits
	}{
		{"defaults", cairn.Options{}, cairn.Limits{
			MaxFileSize: cairn.DefaultMaxFileSize, MaxFiles: cairn.DefaultMaxFiles, MaxScanBytes: cairn.DefaultMaxScanBytes,
			MinFree: none, Budget: none,
		}},
		{"defaults of a retention", cairn.Options{Retention: &cairn.Retention{MaxBytes: 7}}, cairn.Limits{
			MaxFileSize: cairn.DefaultMaxFileSize, MaxFiles: cairn.DefaultMaxFiles, MaxScanBytes: cairn.DefaultMaxScanBytes,
			MinFree: cairn.DefaultMinFree, Budget: 7,
		}},
		{
			"none", cairn.Options{MaxFileSize: none, MaxFiles: none, MaxScanBytes: none, Retention: &cairn.Retention{MaxBytes: none, MinFree: none}},
			cairn.Limits{MaxFileSize: none, MaxFiles: none, MaxScanBytes: none, MinFree: none, Budget: none},
		},
	} {
		f := newFixture(t, nil)
		c.opt.Root, c.opt.DataDir = f.opt.Root, f.opt.DataDir
		f.opt = c.opt
		if got := f.repo().Limits(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestDiffWithoutLimit: every file is compared line by line.
func TestDiffWithoutLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	before := f.trackAll()
	f.write("a", strings.Repeat("a line\n", 10))
	for size, want := range map[int64]string{1: "too large", cairn.NoLimit: ""} {
		for d, err := range f.repo().DiffFull(background, before, "", cairn.DiffOptions{MaxFileSize: size}) {
			if err != nil || d.Note != want {
				t.Errorf("limit %d: note %q, %v", size, d.Note, err)
			}
		}
	}
}

// TestUnknownPolicy: an OnConflict that is no policy is refused by name, and nothing is done.
func TestUnknownPolicy(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	before := f.trackAll()
	f.write("a", "2\n")
	f.restore(before)
	opt := cairn.RevertOptions{OnConflict: "shout"}
	for name, goBack := range map[string]func() (*cairn.Result, error){
		"revert": func() (*cairn.Result, error) { return f.repo().Revert(background, cairn.Range{From: before}, opt) },
		"revert of a range": func() (*cairn.Result, error) {
			return f.repo().Revert(background, cairn.Range{From: before, To: "@"}, opt)
		},
		"undo": func() (*cairn.Result, error) { return f.repo().Undo(background, opt) },
	} {
		if res, err := goBack(); err == nil || !strings.Contains(err.Error(), "OnConflict") {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
	if f.read("a") != "1\n" {
		t.Errorf("a is %q", f.read("a"))
	}
}
