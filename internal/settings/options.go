package settings

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"
)

const (
	// DefaultMaxFileSize is the size in bytes above which a file is not captured.
	DefaultMaxFileSize = 32 << 20

	// DefaultMaxIncludeSize is the size in bytes above which Include does not capture a file.
	// Include is for settings files, not for build output.
	DefaultMaxIncludeSize = 1 << 20

	// DefaultMaxFiles is the largest number of files that a capture accepts.
	DefaultMaxFiles = 1_000_000

	// DefaultMaxScanBytes is the largest number of bytes of new data that a capture reads. A store
	// writes that much in minutes; no source tree is as large.
	DefaultMaxScanBytes = 20 << 30

	// SyncRemembered is the value of Options.Sync that stands for the remote of the last push.
	SyncRemembered = "@"

	// DefaultMaxOutsideSize is the size in bytes above which a file outside the root is not saved.
	DefaultMaxOutsideSize = 1 << 20

	// EncryptNone is the element of Options.Encrypt that stands for open pushes.
	EncryptNone = "none"

	// NoLimit switches a limit off, as any negative number does. In all options 0 is the default.
	NoLimit = -1

	// DefaultRemoteTimeout is how long a remote may make no progress.
	DefaultRemoteTimeout = 5 * time.Minute

	// DefaultLockTimeout is how long a command waits for another process.
	DefaultLockTimeout = 30 * time.Second
)

// Options says what to work on. Only Root and DataDir are required.
type Options struct {
	Root    string // the directory that is captured, as a whole
	DataDir string // where stores lie; a directory inside Root is allowed and never captured

	MaxFileSize int64 // in bytes; 0 = DefaultMaxFileSize, NoLimit = none

	// Include holds patterns as in .gitignore. Files that match are captured although ignored, also
	// below ignored directories. A pattern without a slash makes the scan read every ignored
	// directory. One with a slash makes it read only the directories that can lead to a match.
	// "!node_modules/" excludes a directory. MaxIncludeSize is in bytes: 0 = DefaultMaxIncludeSize,
	// NoLimit = same as MaxFileSize.
	Include        []string
	MaxIncludeSize int64

	LockTimeout time.Duration // 0 = DefaultLockTimeout, NoLimit = none; a context's deadline applies as well

	// Guards against capturing a directory by mistake. The first capture fails with ErrRoot if Root
	// is the top of a file system, Home, one of Homes, or a directory above one of these. Any
	// capture fails with ErrTooLarge if it would hold more than MaxFiles files (unless the last one
	// did) or read more than MaxScanBytes of new data. Homes may hold patterns as in
	// path/filepath.Match. Force switches the guards off.
	Homes        []string
	MaxFiles     int   // 0 = DefaultMaxFiles, NoLimit = none
	MaxScanBytes int64 // 0 = DefaultMaxScanBytes, NoLimit = none
	Force        bool

	// Retention limits the store. A capture leaves Retention.MinFree bytes of the disk free and
	// keeps the store within Retention.MaxBytes. A capture that would exceed a limit first cleans,
	// unless NoClean is set, and fails with ErrNoSpace if that is not enough. A way back, and a cleaning,
	// may use half of the free space instead of leaving MinFree. nil = no limit of the store, and no
	// cleaning.
	Retention *Retention
	NoClean   bool

	// Disabled is the reason why nothing is captured, for instance the setting that switched
	// captures off. RequireGit disables captures if Root lies in no git work tree. Open then makes
	// no store, and a call that would capture fails with ErrDisabled. Existing checkpoints can
	// still be read.
	Disabled   string
	RequireGit bool

	// Never lists patterns as in .gitignore, case ignored. A path that matches is never stored,
	// even if it is tracked, named or captured before. It is reported as skipped. Going back
	// neither overwrites nor deletes it.
	Never []string

	// NoPrompts keeps the texts of sessions out of the store and out of every answer, also those
	// that were recorded before: prompts, titles, and the commands of tools.
	NoPrompts bool

	// NoMask stores the texts of sessions as they are. Otherwise secrets in prompts, titles and
	// commands are masked before they are stored: tokens, private keys, and passwords in URLs and
	// behind names such as password. Texts that were recorded before stay.
	NoMask bool

	// Secrets says what becomes of files with credentials. Each new content is looked at once, while it
	// is captured. SecretRules is the absolute path of a file of rules in the format of gitleaks, ""
	// for the own rules.
	Secrets     SecretsPolicy
	SecretRules string

	// Home and ConfigHome locate the user's git configuration, of which only core.excludesFile and
	// core.ignoreCase are used. ConfigHome defaults to Home/.config. SystemGitConfig names further
	// files, which are read first. If all are empty, only the repository's own settings apply.
	Home, ConfigHome string
	SystemGitConfig  []string

	// GitDir and GitWorkTree name the user's git repository where no .git in the work tree does, as
	// GIT_DIR and GIT_WORK_TREE do. Both are absolute. Without GitWorkTree the core.worktree of the
	// repository counts. The repository is used if its work tree is Root or encloses it, and no other
	// repository lies between. Otherwise it is ignored.
	GitDir, GitWorkTree string

	// NoBorrow stops the first capture from hard-linking the packs of the user's own repository.
	// The capture then costs time and disk space, and the store shares no file with the repository.
	// Objects of git that are kept alive (see NoGit) are copies then.
	NoBorrow bool
	// NoGit leaves the state of the user's git repository out of the checkpoints: HEAD, refs, index
	// and stash. The store then keeps no objects of the repository alive either.
	NoGit bool

	// MaxOutsideSize is the size in bytes above which a file outside the root that a tool of a session
	// names is not saved before the tool runs: 0 = DefaultMaxOutsideSize, NoLimit = 16 MiB, which is
	// what one call saves at most. NoOutside saves none.
	MaxOutsideSize int64
	NoOutside      bool

	// Watch subscribes to the system's file events between captures of this Repo, so that a capture
	// costs what has changed and not a scan of every directory. The results are the same. It pays
	// for a process that keeps a Repo open. If the system cannot watch, captures scan everything
	// (see Repo.Watching). Two kinds of writes cause no event: those through a memory map, and
	// those through another name of a hard-linked file. TrackOptions.Verify finds them.
	Watch bool
	// MustExist makes Open fail with ErrNotFound if the root has no store. Otherwise Open makes
	// one.
	MustExist bool

	// ForRoot returns the options for another root of a session, with settings of its own. Without
	// it they are these, but for Root, Watch and the user's git repository.
	ForRoot func(root string) (Options, error)

	// AgentFiles lists files of a root that every fork of it gets, also where captures leave them out: the
	// set-up of agents in the project. They are paths from the root with slashes. nil = none.
	AgentFiles func(root string) []string

	// NoSync leaves the flushing of new data to the system. A killed process loses nothing. A power
	// failure may lose the last checkpoints.
	NoSync bool

	// Sync is the remote that Repo.Sync pushes to, a URL or an absolute path, and the remote of calls that
	// name none. SyncRemembered is that of the last push. "" = Repo.Sync does nothing.
	Sync string

	// RemoteTimeout is how long a push or a fetch goes on without progress: 0 = DefaultRemoteTimeout,
	// NoLimit = for ever. Then it ends with ErrStalled. A fetch also ends, with ErrNoSpace, before it
	// leaves less of the disk than Retention.MinFree.
	RemoteTimeout time.Duration

	// Encrypt lists the recipients that pushes are sealed for: age1..., or the text of a public SSH key
	// (ssh-ed25519, ssh-rsa). Each of them can open all of it, and the remote sees sizes and times only. Empty = as at
	// the last push to the remote; the one element EncryptNone = open. Identity is the path of a file with identities
	// of age, or with a private SSH key without a passphrase, that opens what stores have sealed on a remote. "" = none.
	// Sealer does the encryption. Without one a push that has recipients fails, and sealed lines do not come.
	Encrypt  []string
	Identity string
	Sealer   Sealer

	// Unseal lets Open open a store that Seal has encrypted, with Identity, and leaves it open. Without it such a store
	// is ErrSealed.
	Unseal bool

	unsealed func(root string) // see OnUnseal

	// Machine and User name this machine and its user to those who list a remote: Push writes them
	// beside the lines. "" is not written.
	Machine, User string

	// Sign names the SSH key that signs the heads of lines when they are pushed or Repo.Sign is called,
	// and new ids after a purge: the path of a private key, or of a public one whose private key the
	// agent has. "" = nothing is signed. A signature that cannot be made delays and refuses nothing.
	// Signers names a list of allowed signers, see ssh-keygen(1), which Repo.Verify goes by.
	Sign, Signers string

	Command  string         // shown to other processes that wait for the lock
	Logger   *slog.Logger   // nil = silent
	Progress func(Progress) // called at intervals, from several goroutines; nil = never
	Workers  int            // goroutines of a scan; 0 = chosen by the scan
}

// Progress tells how far an operation has come. A capture has the phase scan, a restore apply, a
// cleaning mark, copy and those of git, a check check and mark. The phases of git, in a push or a
// fetch, too, are count, compress, write, receive and resolve.
type Progress struct {
	Phase string
	Files int   // done: files, paths or objects
	Total int   // 0 = unknown
	Bytes int64 // read or written
}

// Waiting returns the context of a wait for a lock, as LockTimeout bounds it.
func (o *Options) Waiting(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.LockTimeout < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, cmp.Or(o.LockTimeout, DefaultLockTimeout))
}

// ReadIdentity returns the content of the file Identity, nil where none is set.
func (o *Options) ReadIdentity() ([]byte, error) {
	if o.Identity == "" {
		return nil, nil
	}
	data, err := os.ReadFile(o.Identity)
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	return data, nil
}

// Told is Progress as the packages of the store call it, nil without one.
func (o *Options) Told() func(phase string, done, total int, bytes int64) {
	if o.Progress == nil {
		return nil
	}
	return func(phase string, done, total int, bytes int64) {
		o.Progress(Progress{Phase: phase, Files: done, Total: total, Bytes: bytes})
	}
}

// OnUnseal has f called with the root of each sealed store that Open opens with opt, or with a copy of it. The caller
// seals these again. Whether a store was sealed before says less: another process may seal it meanwhile.
func OnUnseal(opt *Options, f func(root string)) { opt.unsealed = f }

// Unsealed says that a sealed store was opened.
func (o *Options) Unsealed(root string) {
	if o.unsealed != nil {
		o.unsealed(root)
	}
}
