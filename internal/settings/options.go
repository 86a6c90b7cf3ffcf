package settings

import (
	"log/slog"
	"time"
)

const (
	// DefaultMaxFileSize is the size in bytes above which a file is not captured.
	DefaultMaxFileSize = 32 << 20

	// DefaultMaxIncludeSize is the size in bytes above which Include does not capture a
	// file: Include is meant for settings and the like, not for build output.
	DefaultMaxIncludeSize = 1 << 20

	// DefaultMaxFiles is how many files a capture holds at most.
	DefaultMaxFiles = 1_000_000

	// DefaultMaxScanBytes is how many bytes of new data a capture reads at most: what
	// a store takes in minutes, and no source tree has.
	DefaultMaxScanBytes = 20 << 30

	// NoLimit switches a limit off.
	NoLimit = -1

	// DefaultLockTimeout is how long a command waits for another process.
	DefaultLockTimeout = 30 * time.Second
)

// Options says what to work on. Only Root and DataDir are required.
type Options struct {
	Root    string // the directory to capture, as a whole
	DataDir string // where stores lie; a directory inside Root is allowed and never captured

	MaxFileSize int64 // in bytes; 0 = DefaultMaxFileSize, NoLimit = none

	// Include are patterns as in .gitignore: files to capture although ignored, below
	// ignored directories too. A pattern without a slash has every ignored directory
	// looked at, one with a slash only those that it may lead to; "!node_modules/" keeps
	// out of a directory. MaxIncludeSize is in bytes: 0 = DefaultMaxIncludeSize, NoLimit =
	// as MaxFileSize.
	Include        []string
	MaxIncludeSize int64

	LockTimeout time.Duration // 0 = DefaultLockTimeout; a context's deadline counts, too

	// Guards against capturing what nobody meant. A first capture is refused with
	// ErrRoot where Root is the top of a file system, Home, one of Homes or a
	// directory above one of these, and any capture with ErrTooLarge that would hold
	// more than MaxFiles files, unless the last one did, or read more than
	// MaxScanBytes of new data. Homes may hold patterns as in path/filepath.Match.
	// Force switches the guards off.
	Homes        []string
	MaxFiles     int   // 0 = DefaultMaxFiles, NoLimit = none
	MaxScanBytes int64 // 0 = DefaultMaxScanBytes, NoLimit = none
	Force        bool

	// MinFree is how many bytes a capture leaves free on the disk of the store, and
	// Budget how many the store may have; 0 = no limit. A capture that would break one
	// of them first cleans as Retention says, unless that is nil, and then fails with
	// ErrNoSpace.
	MinFree, Budget int64
	Retention       *Retention // its MinFree and MaxBytes stand for the two where they are 0

	// Disabled says why nothing is to be captured, as who switched it off. RequireGit
	// does so where Root lies in no git work tree. Open then makes no store, and what
	// would capture fails with ErrDisabled. What is there can be looked at.
	Disabled   string
	RequireGit bool

	// Never lists patterns as in .gitignore, case ignored, of what is never stored,
	// be it tracked, named or captured before. Such a path is reported as skipped.
	// Going back neither overwrites nor deletes it.
	Never []string

	// Home and ConfigHome say where the user's git configuration lies, of which only
	// core.excludesFile and core.ignoreCase are used; ConfigHome defaults to
	// Home/.config. SystemGitConfig names further files, read first. All empty: only
	// the repository's own settings count.
	Home, ConfigHome string
	SystemGitConfig  []string

	// NoBorrow keeps a first capture from borrowing the packs of the user's own
	// repository by hard links: it costs time and room, and shares nothing with it.
	NoBorrow bool
	// Watch lets the system tell where something changes between captures of this Repo,
	// so that they cost what has changed instead of a look at everything. The results
	// are the same. It pays for who keeps a Repo open; where it cannot be had, captures
	// look at everything (see Repo.Watching). What it does not see: writes through a
	// memory map or through another name of a hard-linked file; TrackOptions.Verify does.
	Watch bool
	// MustExist makes Open fail with ErrNotFound where nothing was ever captured,
	// instead of making a store.
	MustExist bool

	// NoSync leaves the flushing of new data to the system. A killed process loses
	// nothing by it, a power failure may lose the last checkpoints.
	NoSync bool

	Command  string         // shown to whoever waits for the lock
	Logger   *slog.Logger   // nil = silent
	Progress func(Progress) // called now and then, from several goroutines; nil = never
	Workers  int            // goroutines of a scan; 0 = chosen
}

// Progress tells how far a capture or a restore has come.
type Progress struct {
	Phase string // "scan" or "apply"
	Files int    // done
	Total int    // 0 = unknown
	Bytes int64  // read or written
}
