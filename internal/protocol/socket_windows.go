package protocol

import "io/fs"

// isKind lets a socket be anything but a directory: Windows shows it as a reparse
// point whose kind depends on the release.
func isKind(mode, kind fs.FileMode) bool { return mode.IsDir() == (kind == fs.ModeDir) }

// ownedByUs says yes: a data directory lies in the profile of its user, which is not
// open to others.
func ownedByUs(fs.FileInfo) error { return nil }
