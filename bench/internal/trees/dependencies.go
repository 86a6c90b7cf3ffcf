package trees

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// Dependencies is a synthetic tree together with what a package manager installs
// beside it: a directory that a rule ignores, with more files and bytes than the rest.
type Dependencies struct {
	Synthetic
	Packages int
}

// IgnoredBytes is how large the ignored directory is, and PackageFiles and
// PackageFileSize its make: many files of a few kilobytes, as in node_modules.
const (
	IgnoredBytes    = 1 << 30
	PackageFiles    = 40
	PackageFileSize = 16 << 10
)

// NewDependencies returns a tree that is not on disk yet.
func NewDependencies(files, dirs int) Dependencies {
	return Dependencies{NewSynthetic(files, dirs), IgnoredBytes / (PackageFiles * PackageFileSize)}
}

// Name is the name for people.
func (d Dependencies) Name() string {
	return fmt.Sprintf("synthetic, %d files, %d ignored", d.files, d.Packages*PackageFiles)
}

// Size is that of the tree that Fill makes.
func (d Dependencies) Size() (TreeSize, error) {
	size, err := d.Synthetic.Size()
	size.Files += d.Packages * PackageFiles
	size.Bytes += int64(d.Packages) * PackageFiles * PackageFileSize
	size.Allocated += int64(d.Packages) * PackageFiles * PackageFileSize
	return size, err
}

// Fill relies on the rule "node_modules/" in the synthetic tree's first .gitignore.
func (d Dependencies) Fill(dir string) error {
	if err := d.Synthetic.Fill(dir); err != nil {
		return err
	}
	return d.Install(dir)
}

// Install makes the ignored directory alone.
func (d Dependencies) Install(dir string) error {
	content := (&madeFile{kind: madeText, size: PackageFileSize, seed: 1}).content()
	return system.InParallel(d.Packages, func(i int) error {
		at := filepath.Join(dir, "node_modules", fmt.Sprintf("package-%d", i))
		for n := range PackageFiles {
			sub := filepath.Join(at, []string{"lib", "dist", filepath.Join("src", "internal"), "types"}[n%4])
			if err := os.MkdirAll(sub, 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("module%d.js", n)), content, 0o644); err != nil {
				return err
			}
		}
		return nil
	})
}
