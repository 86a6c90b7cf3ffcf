package cairn_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// maxFiles is the number of files, without tests, that a package may have. A larger one has
// parts that can be understood and tested alone.
const maxFiles = 40

// TestPackagesAreSmall counts the files of each package, in all modules.
func TestPackagesAreSmall(t *testing.T) {
	t.Parallel()
	files := make(map[string]int)
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && file != ".") {
			return fs.SkipDir
		}
		if strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
			files[filepath.Dir(file)]++
		}
		return nil
	})
	if err != nil || files["."] == 0 || files["bench"] == 0 {
		t.Fatal(err, files)
	}
	for dir, n := range files {
		if n > maxFiles {
			t.Errorf("%s has %d files, the limit is %d", dir, n, maxFiles)
		}
	}
}
