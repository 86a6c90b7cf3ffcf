package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// dependencies is a synthetic tree together with what a package manager installs
// beside it: a directory that a rule ignores, with more files and bytes than the rest.
type dependencies struct {
	synthetic
	packages int
}

// ignoredBytes is how large the ignored directory is, and packageFiles and
// packageFileSize its make: many files of a few kilobytes, as in node_modules.
const (
	ignoredBytes    = 1 << 30
	packageFiles    = 40
	packageFileSize = 16 << 10
)

func newDependencies(files, dirs int) dependencies {
	return dependencies{newSynthetic(files, dirs), ignoredBytes / (packageFiles * packageFileSize)}
}

func (d dependencies) name() string {
	return fmt.Sprintf("synthetic, %d files, %d ignored", d.files, d.packages*packageFiles)
}

func (d dependencies) size() (treeSize, error) {
	size, err := d.synthetic.size()
	size.Files += d.packages * packageFiles
	size.Bytes += int64(d.packages) * packageFiles * packageFileSize
	size.Allocated += int64(d.packages) * packageFiles * packageFileSize
	return size, err
}

// fill relies on the rule "node_modules/" in the synthetic tree's first .gitignore.
func (d dependencies) fill(dir string) error {
	if err := d.synthetic.fill(dir); err != nil {
		return err
	}
	content := (&madeFile{kind: madeText, size: packageFileSize, seed: 1}).content()
	return inParallel(d.packages, func(i int) error {
		at := filepath.Join(dir, "node_modules", fmt.Sprintf("package-%d", i))
		for n := range packageFiles {
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
