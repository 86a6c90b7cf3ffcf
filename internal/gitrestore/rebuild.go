package gitrestore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
)

// build makes the repository again beside its place, and gives it its name when it is whole.
func (r *run) build() (err error) {
	r.dir = r.now.GitDir + r.temp("")
	if r.Resume {
		if err := os.RemoveAll(r.dir); err != nil {
			return err
		}
	}
	if _, err := os.Lstat(r.now.GitDir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is in the way", ErrRefused, r.now.GitDir)
	}
	if err := os.MkdirAll(filepath.Dir(r.dir), 0o777); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(r.dir)
		}
	}()
	for _, step := range []func() error{r.init, r.bringObjects, r.moveRefs, r.moveSymbolic, r.moveHead, r.listStashes, r.moveProgress, r.writeIndex} {
		if err := step(); err != nil {
			return err
		}
	}
	return os.Rename(r.dir, r.now.GitDir)
}

// init makes an empty repository with the configuration and the hooks of the record.
func (r *run) init() error {
	format := "sha1"
	if r.target.SHA256 {
		format = "sha256"
	}
	args := []string{"init", "-q", "--bare", "--template=", "--object-format=" + format}
	if r.tables() {
		args = append(args, "--ref-format=reftable")
	}
	cmd := r.Git.Command(r.ctx, filepath.Dir(r.dir), append(args, r.dir)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git init: %w: %s", err, bytes.TrimSpace(out))
	}
	for name, data := range r.target.Files {
		below, ok := strings.CutPrefix(name, gitstate.CommonPrefix)
		if !ok {
			continue
		}
		mode := os.FileMode(0o666)
		if slices.Contains(r.target.Executable, name) {
			mode = 0o777
		}
		path := filepath.Join(r.dir, filepath.FromSlash(below))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, mode); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) writeIndex() error {
	files, err := r.indexFiles("")
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := writeFile(filepath.Join(r.dir, name), data); err != nil {
			return err
		}
	}
	if !r.target.HasIndex() {
		return nil
	}
	return r.backdate(filepath.Join(r.dir, "index"), files)
}
