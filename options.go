package cairn

import "github.com/seed-fb9cbc17/cairn/internal/settings"

// DefaultMaxFileSize is the size in bytes above which a file is not captured.
const DefaultMaxFileSize = settings.DefaultMaxFileSize

// DefaultMaxIncludeSize is the size in bytes above which Include does not capture a file.
// Include is for settings files, not for build output.
const DefaultMaxIncludeSize = settings.DefaultMaxIncludeSize

// DefaultMaxFiles is the largest number of files that a capture accepts.
const DefaultMaxFiles = settings.DefaultMaxFiles

// DefaultMaxScanBytes is the largest number of bytes of new data that a capture reads. A store
// writes that much in minutes; no source tree is as large.
const DefaultMaxScanBytes = settings.DefaultMaxScanBytes

// NoLimit switches a limit off. In all options 0 is the default, and no other value means no limit.
const NoLimit = settings.NoLimit

// DefaultLockTimeout is how long a command waits for another process.
const DefaultLockTimeout = settings.DefaultLockTimeout

// Options says what to work on. Only Root and DataDir are required.
type Options = settings.Options

// Progress tells how far a capture or a restore has come.
type Progress = settings.Progress

// DefaultMaxAge is how long a line lives after its last checkpoint.
const DefaultMaxAge = settings.DefaultMaxAge

// DefaultMinFree is the number of bytes that a cleaning leaves free on the disk.
const DefaultMinFree = settings.DefaultMinFree

// DefaultKeepLast is the number of newest checkpoints, and of operations, that always live.
const DefaultKeepLast = settings.DefaultKeepLast

// Retention says which checkpoints a cleaning may remove. The zero value is the usual policy.
// Pinned checkpoints, and the newest KeepLast checkpoints and operations, are never removed. Beyond
// MaxCount and MaxBytes the oldest checkpoints go first, including those at the beginning of a line
// that goes on: the line of a day or a session.
type Retention = settings.Retention
