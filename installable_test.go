package cairn_test

import (
	"testing"

	"golang.org/x/mod/zip"
)

// TestInstallable: Go packs the whole repository, tests and seeds of fuzzing included,
// before it installs anything of it, and refuses if one name of all is invalid on
// Windows, or two differ in case only.
func TestInstallable(t *testing.T) {
	t.Parallel()
	files, err := zip.CheckDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range files.Invalid {
		t.Error(bad)
	}
	if len(files.Valid) == 0 || files.SizeError != nil {
		t.Error(len(files.Valid), "files;", files.SizeError)
	}
}
