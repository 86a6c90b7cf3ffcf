package realpath

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func TestSpelled(t *testing.T) {
	t.Parallel()
	top := gittest.CaseBlindDir(t)
	gittest.Create(t, top, gittest.Tree{"Proj/Src/é": gittest.Dir(), "other": gittest.Dir(), "übung": gittest.Dir()})
	for asked, want := range map[string]string{
		"": "", "Proj": "Proj", "proj": "Proj", "PROJ/src": "Proj/Src", "Proj/Src/É": "Proj/Src/é", "OTHER": "other", "Übung": "übung", "Proj/Src/e\u0301": "Proj/Src/é",
		"proj/none": "Proj/none", "proj/none/src": "Proj/none/src",
	} {
		if got := spelled(filepath.Join(top, asked)); got != filepath.Join(top, want) {
			t.Errorf("%q is spelled %q, want %q", asked, got, want)
		}
	}
}

func TestSpelledApart(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	if !gittest.TellsCase(t, top) {
		t.Skip("names that differ in case are one here")
	}
	gittest.Create(t, top, gittest.Tree{"a/x": gittest.Dir(), "A": gittest.Dir()})
	for _, path := range []string{"a", "A", "a/x", "A/x"} {
		if got := spelled(filepath.Join(top, path)); got != filepath.Join(top, path) {
			t.Errorf("%q is spelled %q", path, got)
		}
	}
}

func TestSpelledUnreadable(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root may list any directory")
	}
	top := t.TempDir()
	gittest.Create(t, top, gittest.Tree{"closed": gittest.DirMode(0o311), "closed/a": gittest.Dir()})
	if got := spelled(filepath.Join(top, "closed", "a")); got != filepath.Join(top, "closed", "a") {
		t.Errorf("spelled %q", got)
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	gittest.Create(t, top, gittest.Tree{"d/e": gittest.Dir(), "link": gittest.Link("d")})
	if got, err := Of(filepath.Join(top, "link", "e")); err != nil || got != filepath.Join(top, "d", "e") {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Of(filepath.Join(top, "none")); !os.IsNotExist(err) {
		t.Errorf("error %v", err)
	}
}
