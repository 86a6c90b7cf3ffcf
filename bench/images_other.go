//go:build !linux

package main

import "errors"

// imageKind is a file system that can be made in a file and mounted.
type imageKind struct{ name string }

var imageKinds = []imageKind{{"btrfs"}, {"xfs"}, {"ext4"}}

func (imageKind) missing([]string) string { return "this system mounts no such image" }

func (imageKind) mount(string, int64) (string, func() error, error) {
	return "", nil, errors.ErrUnsupported
}

func flushFileSystem(string) error { return errors.ErrUnsupported }
