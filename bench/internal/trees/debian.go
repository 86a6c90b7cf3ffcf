package trees

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// DebianSource is a Debian package that holds a source tree as usr/src/NAME.tar.xz.
const DebianSource = "linux-source-6.1"

// DebianTree returns the unpacked source below cache and fetches it first where it
// is missing. It is unpacked beside its final name and renamed, so an interrupted
// run leaves no half tree.
func DebianTree(cache string, progress *system.Progress) (string, error) {
	tree := filepath.Join(cache, DebianSource)
	if _, err := os.Stat(tree); err == nil {
		return tree, nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	progress.Say("fetching %s (140 MB, once)", DebianSource)
	if err := command(work, "apt-get", "download", DebianSource); err != nil {
		return "", fmt.Errorf("%w\n(the package lists may be old: apt-get update; another system: -corpus DIR)", err)
	}
	packages, err := filepath.Glob(filepath.Join(work, "*.deb"))
	if err != nil || len(packages) != 1 {
		return "", fmt.Errorf("apt-get download left %d packages in %s", len(packages), work)
	}
	progress.Say("unpacking %s", DebianSource)
	if err := command(work, "dpkg-deb", "-x", packages[0], "package"); err != nil {
		return "", err
	}
	archive := filepath.Join("package", "usr", "src", DebianSource+".tar.xz")
	if err := command(work, "tar", "-xJf", archive); err != nil {
		return "", err
	}
	unpacked := filepath.Join(work, DebianSource)
	if err := trackable(filepath.Join(unpacked, ".gitignore")); err != nil {
		return "", err
	}
	return tree, os.Rename(unpacked, tree)
}

// debianRules are the lines that Debian adds to the .gitignore file of Linux, whose
// source it does not keep in git: they ignore everything.
var debianRules = []string{"/*", "!/debian/"}

// trackable removes debianRules. Without that every track of the tree would be one
// of nothing.
func trackable(gitignore string) error {
	text, err := os.ReadFile(gitignore)
	if err != nil {
		return err
	}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if !slices.Contains(debianRules, strings.TrimSpace(line)) {
			kept.WriteString(line)
		}
	}
	return os.WriteFile(gitignore, []byte(kept.String()), 0o644)
}

// command runs a program of the system in dir.
func command(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}
