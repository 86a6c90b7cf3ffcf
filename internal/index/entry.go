package index

import "github.com/seed-fb9cbc17/cairn/internal/object"

// Stat is what tells a changed file from an unchanged one without reading it.
// Times are nanoseconds since 1970; fields a platform lacks are zero on it.
type Stat struct {
	Size  int64
	MTime int64
	CTime int64
	Ino   uint64
}

// Skip says why a path that is present was not captured. The zero value means
// that it was.
type Skip uint8

// The reasons. Their names are part of the JSON and commit formats.
const (
	Captured   Skip = iota
	TooLarge        // larger than the limit of the capture
	Unreadable      // permission denied, or an input/output error
	Special         // socket, FIFO or device: never opened
	Unstable        // changed while it was read, several times
	UnsafeName      // could pass for .git on some file system
	Sparse          // outside the user's sparse checkout, so absent by intent
	Denied          // on the list of what is never stored
	Unread          // not looked at; this and Ignored are never in an index, only in checkpoints
	Ignored         // named by a hint, but ignored and no small file
	Store           // a cairn store, of whatever data directory
	Rules           // a .gitignore that is ignored itself: only its rules count; never in Skipped of a checkpoint
)

var skipNames = [...]string{"", "too large", "unreadable", "special file", "unstable", "unsafe name", "sparse checkout", "denied", "unread", "ignored", "cairn store", "ignore rules"}

// String returns the reason in words, "" for Captured.
func (s Skip) String() string {
	if int(s) >= len(skipNames) {
		return "unknown"
	}
	return skipNames[s]
}

// ParseSkip is the inverse of String; ok is false for words it does not know.
func ParseSkip(s string) (skip Skip, ok bool) {
	for i, name := range skipNames {
		if name == s {
			return Skip(i), true
		}
	}
	return 0, false
}

// IgnoreFile is the name of the file that holds the ignore rules of its directory.
const IgnoreFile = ".gitignore"

// Entry is one name in a directory as it was last seen.
type Entry struct {
	Name  string
	Mode  object.Mode // Regular, Executable, Symlink or Dir; 0 where Skip is Special
	Perm  uint16      // the permission bits on disk, 07777
	Skip  Skip
	Racy  bool // the file may have changed after it was read without its Stat showing it
	Held  bool // captured at some time, so no ignore rule may drop it
	Empty bool // a directory without any name in it
	Stat  Stat

	// ID is that of the blob. Of a directory it is the tree, zero when nothing below it is
	// captured. Of a .gitignore that is not captured it names the text that the scan has
	// read as its rules, zero if they are not known; no store has that blob.
	ID object.ID
}
