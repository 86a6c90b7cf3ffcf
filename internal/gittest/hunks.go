package gittest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// MergeFile merges three texts as git merge-file does. A merge with a conflict gives ours.
func (o *Oracle) MergeFile(ours, base, theirs string) (merged string, clean bool) {
	o.t.Helper()
	dir := o.t.TempDir()
	for name, text := range map[string]string{"ours": ours, "base": base, "theirs": theirs} {
		o.write(filepath.Join(dir, name), text)
	}
	out, _, err := o.exec(dir, nil, "", "merge-file", "-p", "-q", "ours", "base", "theirs")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() < 128 {
		return ours, false
	}
	if err != nil {
		o.t.Fatal(err)
	}
	return out, true
}

// ApplyReverse takes a patch of the file a out of its text, as git apply -R does.
func (o *Oracle) ApplyReverse(text, patch string) string {
	o.t.Helper()
	dir := o.t.TempDir()
	o.write(filepath.Join(dir, "a"), text)
	o.write(filepath.Join(dir, "patch"), patch)
	o.In(dir, "apply", "-R", "--whitespace=nowarn", "patch")
	out, err := os.ReadFile(filepath.Join(dir, "a"))
	if err != nil {
		o.t.Fatal(err)
	}
	return string(out)
}

// SomeHunks picks hunks of a patch that has a name in every header, behind a '#'. It returns their
// names and the patch of them alone.
func SomeHunks(patch string, pick func() bool) (names []string, some string) {
	head, hunks, _ := strings.Cut(patch, "\n@@ ")
	some = head + "\n"
	for _, hunk := range strings.Split(hunks, "\n@@ ") {
		if _, name, named := strings.Cut(hunk, "@@ #"); named && pick() {
			names = append(names, name[:12])
			some += "@@ " + strings.TrimSuffix(hunk, "\n") + "\n"
		}
	}
	return names, some
}
