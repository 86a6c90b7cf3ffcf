package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// imageKind is a file system that can be made in a file and mounted.
type imageKind struct {
	name string
	make []string // the command; the file follows
}

var imageKinds = []imageKind{
	{"btrfs", []string{"mkfs.btrfs", "--quiet"}},
	{"xfs", []string{"mkfs.xfs", "-q"}},
	{"ext4", []string{"mkfs.ext4", "-q", "-F"}},
}

// missing says why this kind cannot be mounted here.
func (k imageKind) missing(wanted []string) string {
	if len(wanted) > 0 && !slices.Contains(wanted, k.name) {
		return "not asked for"
	}
	if os.Geteuid() != 0 {
		return "only root can mount an image"
	}
	for _, program := range []string{k.make[0], "mount", "umount"} {
		if _, err := exec.LookPath(program); err != nil {
			return program + " is not installed"
		}
	}
	return ""
}

// mount makes a file system in a sparse file below dir and mounts it. unmount removes the file as well.
func (k imageKind) mount(dir string, bytes int64) (place string, unmount func() error, err error) {
	free, err := system.FreeSpace(dir)
	if err == nil && free < bytes {
		err = fmt.Errorf("it needs %.1f GB, %.1f GB are free in %s (-cache DIR says where else)", float64(bytes)/1e9, float64(free)/1e9, dir)
	}
	if err != nil {
		return "", nil, err
	}
	image := filepath.Join(dir, k.name+".img")
	place = filepath.Join(dir, k.name)
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, bytes), os.MkdirAll(place, 0o755)); err != nil {
		return "", nil, err
	}
	p := &system.Processes{Dir: dir, Env: os.Environ()}
	_, err = p.Run("", append(slices.Clone(k.make), image)...)
	if err == nil {
		_, err = p.Run("", "mount", "-o", "loop,discard,noatime", image, place)
	}
	if err != nil {
		return "", nil, errors.Join(err, os.Remove(image))
	}
	return place, func() error {
		_, err := p.Run("", "umount", place)
		return errors.Join(err, os.Remove(image), os.Remove(place))
	}, nil
}

// flushFileSystem waits until everything on the file system of a path is on the disk.
func flushFileSystem(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}
