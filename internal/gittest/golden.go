package gittest

import (
	"os"
	"testing"
)

// AssertGolden compares a text with a file. With update it writes the file.
func AssertGolden(t testing.TB, file, got string, update bool) {
	t.Helper()
	if update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs:\n%s\nwant:\n%s", file, got, want)
	}
}
