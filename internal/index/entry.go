package index

import (
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Stat tells a changed file from an unchanged one without reading it. Times are in nanoseconds
// since 1970. A field that a platform lacks is zero there.
type Stat struct {
	Size  int64
	MTime int64
	CTime int64
	Ino   uint64
}

// Skip is the reason why a present path was not captured. The zero value means that it was
// captured.
type Skip uint8

// The reasons. Their names are part of the JSON and commit formats.
const (
	Captured   Skip = iota
	TooLarge        // larger than the limit of the capture
	Unreadable      // permission denied, or an input/output error
	Special         // socket, FIFO or device: never opened
	Unstable        // changed while it was read, several times
	UnsafeName      // some file system could take the name for .git
	Sparse          // outside the user's sparse checkout, so absent on purpose
	Denied          // on the deny list
	Unread          // not read; this and Ignored are never in an index, only in checkpoints
	Ignored         // named by a hint, but ignored and not a small file; or a submodule below an ignored directory
	Store           // a cairn store, of any data directory
	Rules           // an ignored .gitignore: only its rules count; never in Skipped of a checkpoint
	Secret          // holds a credential, and the settings leave such files out
)

var skipNames = [...]string{"", "too large", "unreadable", "special file", "unstable", "unsafe name", "sparse checkout", "denied", "unread", "ignored", "cairn store", "ignore rules", "secret"}

// String returns the reason in words, "" for Captured.
func (s Skip) String() string {
	if int(s) >= len(skipNames) {
		return "unknown"
	}
	return skipNames[s]
}

// IgnoreFile is the name of the file that holds the ignore rules of its directory.
const IgnoreFile = ".gitignore"

// IsIgnoreFile reports whether a file of this name may hold ignore rules. A file system that folds case finds it by
// other spellings, too.
func IsIgnoreFile(name string) bool { return strings.EqualFold(name, IgnoreFile) }

// Entry is one name in a directory as the last scan found it.
type Entry struct {
	Name  string
	Mode  object.Mode // Regular, Executable, Symlink or Dir; 0 where Skip is Special
	Perm  uint16      // permission bits on disk, 07777
	Skip  Skip
	Racy  bool // the file may have changed after it was read without a change of Stat
	Held  bool // captured at some time, so no ignore rule may drop it
	Empty bool // a directory without any name in it
	Stat  Stat

	// ID is the id of the blob. For a directory it is the id of the tree, zero if nothing below is
	// captured. For an uncaptured .gitignore it is the id of the text that the scan has read as its
	// rules, zero if that is not known; no store has that blob.
	ID object.ID
}
