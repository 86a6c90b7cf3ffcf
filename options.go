package cairn

import "github.com/seed-fb9cbc17/cairn/internal/settings"

// NoLimit switches a limit off, as any negative number does. In all options 0 is the default.
// DiffOptions.Context alone has another negative value, NoContext.
const NoLimit = settings.NoLimit

// SyncRemembered is the value of Options.Sync that stands for the remote of the last push.
const SyncRemembered = settings.SyncRemembered

// EncryptNone is the element of Options.Encrypt that stands for open pushes.
const EncryptNone = settings.EncryptNone

// Sealer encrypts what goes to remotes and opens what comes from there, see Options.Encrypt. The program's is age
// (https://age-encryption.org). The library links none, so a caller that wants sealed pushes brings one.
type Sealer = settings.Sealer

// The errors of a Sealer.
var (
	ErrRecipient = settings.ErrRecipient
	ErrIdentity  = settings.ErrIdentity
	ErrKey       = settings.ErrKey
	ErrDamaged   = settings.ErrDamaged
)

// The defaults of Options.
const (
	DefaultMaxFileSize    = settings.DefaultMaxFileSize    // bytes above which a file is not captured
	DefaultMaxIncludeSize = settings.DefaultMaxIncludeSize // bytes above which Include does not capture a file
	DefaultMaxFiles       = settings.DefaultMaxFiles       // files that a capture accepts at most
	DefaultMaxScanBytes   = settings.DefaultMaxScanBytes   // bytes of new data that a capture reads at most
	DefaultRemoteTimeout  = settings.DefaultRemoteTimeout  // how long a remote may make no progress
	DefaultLockTimeout    = settings.DefaultLockTimeout    // how long a command waits for another process
)

// The defaults of a Retention.
const (
	DefaultMaxAge   = settings.DefaultMaxAge   // how long a line lives after its last checkpoint
	DefaultMinFree  = settings.DefaultMinFree  // bytes that stay free on the disk
	DefaultKeepLast = settings.DefaultKeepLast // newest checkpoints, and operations, that always live
)

// Options says what to work on. Only Root and DataDir are required.
type Options = settings.Options

// SecretsPolicy says what becomes of files with credentials, such as tokens and private keys.
type SecretsPolicy = settings.SecretsPolicy

// The policies for files with credentials.
const (
	SecretsWarn   SecretsPolicy = settings.SecretsWarn   // captured, and listed; the default
	SecretsSkip   SecretsPolicy = settings.SecretsSkip   // left out: neither stored nor overwritten
	SecretsRefuse SecretsPolicy = settings.SecretsRefuse // no checkpoint
	SecretsOff    SecretsPolicy = settings.SecretsOff    // not looked for
)

// Progress tells how far an operation has come.
type Progress = settings.Progress

// Retention says which checkpoints a cleaning may remove. The zero value is the usual policy.
// Pinned checkpoints, and the newest KeepLast checkpoints and operations, are never removed. Beyond
// MaxCount and MaxBytes the oldest checkpoints go first, including those at the beginning of a line
// that goes on: the line of a day or a session.
type Retention = settings.Retention

// KeepRules says which checkpoints of a line keep their states as they grow older. Hours and days are those of
// UTC. The other checkpoints are thinned: their states go, their places on their lines and their ids
// stay, and commands that need the state fail with ErrThinned.
type KeepRules = settings.Keep
