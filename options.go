package cairn

import "github.com/seed-fb9cbc17/cairn/internal/settings"

// DefaultMaxFileSize is the size in bytes above which a file is not captured.
const DefaultMaxFileSize = settings.DefaultMaxFileSize

// DefaultMaxIncludeSize is the size in bytes above which Include does not capture a
// file: Include is meant for settings and the like, not for build output.
const DefaultMaxIncludeSize = settings.DefaultMaxIncludeSize

// DefaultMaxFiles is how many files a capture holds at most.
const DefaultMaxFiles = settings.DefaultMaxFiles

// DefaultMaxScanBytes is how many bytes of new data a capture reads at most: what
// a store takes in minutes, and no source tree has.
const DefaultMaxScanBytes = settings.DefaultMaxScanBytes

// NoLimit switches a limit off.
const NoLimit = settings.NoLimit

// DefaultLockTimeout is how long a command waits for another process.
const DefaultLockTimeout = settings.DefaultLockTimeout

// Options says what to work on. Only Root and DataDir are required.
type Options = settings.Options

// Progress tells how far a capture or a restore has come.
type Progress = settings.Progress

// Defaults of a Retention.
const DefaultMaxAge = settings.DefaultMaxAge

const DefaultMinFree = settings.DefaultMinFree

const DefaultKeepLast = settings.DefaultKeepLast

// Retention says what may be cleaned away. The zero value is the usual one. What is
// pinned, and the newest KeepLast checkpoints and operations, never go. Beyond MaxCount
// and MaxBytes the oldest checkpoints go, also those at the beginning of a line that
// goes on: a day's line or a session.
type Retention = settings.Retention
