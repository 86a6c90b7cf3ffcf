package cairn_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// fromReadme is the example of README.md, line by line; step stands for its ellipsis.
func fromReadme(ctx context.Context, dir, data string, step func()) (cairn.Result, error) {
	var none cairn.Result
	failed := func(err error) (cairn.Result, error) { return none, err }
	// README begins
	repo, err := cairn.Open(cairn.Options{Root: dir, DataDir: data})
	if err != nil {
		return failed(err)
	}
	defer repo.Close()
	before, err := repo.Track(ctx, cairn.TrackOptions{}) // before the tools run
	if err != nil {
		return failed(err)
	}
	step()
	patch, err := repo.Patch(ctx, before.Checkpoint, "") // which files it changed
	if err != nil {
		return failed(err)
	}
	result, err := repo.RevertPatches(ctx, []cairn.Patch{patch}, cairn.RevertPatchesOptions{})
	// README ends
	if err != nil {
		return failed(err)
	}
	return *result, nil
}

// TestReadmeLibrary: README's example for the library is the code of fromReadme, but for
// the errors that it leaves out, and does what the text says.
func TestReadmeLibrary(t *testing.T) {
	t.Parallel()
	_, example, _ := strings.Cut(textOf(t, "README.md"), "## As a library\n")
	example, _, _ = strings.Cut(example, "\nPackage [`session`]")
	_, code, _ := strings.Cut(textOf(t, "readme_test.go"), "// README begins\n")
	code, _, _ = strings.Cut(code, "// README ends")
	if want, got := statements(code), statements(example); !slices.Equal(got, want) {
		t.Errorf("README.md has\n%s\nthe test runs\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "before")
	result, err := fromReadme(t.Context(), dir, t.TempDir(), func() { write("a", "after"); write("b", "made") })
	if err != nil || !slices.Equal(result.Restored, []string{"a"}) || !slices.Equal(result.Deleted, []string{"b"}) {
		t.Errorf("%+v, %v", result, err)
	}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// statements are the lines of code without comments, blanks and the handling of errors.
func statements(code string) (list []string) {
	for line := range strings.Lines(code) {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		switch line {
		case "", "if err != nil {", "return err", "return failed(err)", "}", "step()":
		default:
			list = append(list, line)
		}
	}
	return list
}

// TestReadmeLimits: the numbers in README.md and in the pages for users are those of the
// code.
func TestReadmeLimits(t *testing.T) {
	t.Parallel()
	says := func(page, text string) bool {
		return strings.Contains(strings.Join(strings.Fields(textOf(t, page)), " "), text)
	}
	for _, limit := range []struct {
		page, text string
		got, want  int64
	}{
		{"docs/room.md", "keeps seven days since a line's last checkpoint", int64(cairn.DefaultMaxAge), int64(7 * 24 * time.Hour)},
		{"docs/room.md", "the newest 20 in any case", cairn.DefaultKeepLast, 20},
		{"docs/room.md", "1 GiB of the disk stays free", cairn.DefaultMinFree, 1 << 30},
		{"docs/room.md", "more than a million files", cairn.DefaultMaxFiles, 1_000_000},
		{"docs/room.md", "more than 20 GiB of new data", cairn.DefaultMaxScanBytes, 20 << 30},
		{"docs/limits.md", "Files above 32 MiB are not captured", cairn.DefaultMaxFileSize, 32 << 20},
		{"README.md", "nor are files above 32 MiB", cairn.DefaultMaxFileSize, 32 << 20},
		{"docs/limits.md", "A diff of a file above 16 MiB is one line", cairn.DefaultMaxDiffSize, 16 << 20},
	} {
		if !says(limit.page, limit.text) || limit.got != limit.want {
			t.Errorf("%s says %q, the limit is %d", limit.page, limit.text, limit.got)
		}
	}
	for _, promised := range [][2]string{
		{"README.md", "three small modules"},
		{"docs/room.md", "smaller of 5 GiB and a tenth of the disk that was free"},
	} {
		if !says(promised[0], promised[1]) {
			t.Errorf("%s does not say %q: change this test with it", promised[0], promised[1])
		}
	}
	modules := make(map[string]bool)
	for pkg, allowed := range thirdParty {
		if layers[pkg] < 4 && pkg != "internal/gittest" {
			for _, m := range allowed {
				modules[m] = true
			}
		}
	}
	if len(modules) != 3 {
		t.Errorf("the library may use %v, README.md says three small modules", modules)
	}
}
