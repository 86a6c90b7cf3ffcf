// Package cairn takes checkpoints of a working directory and goes back to them without losing any
// work.
//
// A cairn is a stack of stones left along a trail so that you can find the way back. This package
// is for programs that change files for a user, above all coding agents: call [Repo.Track] before
// and after a step, [Repo.Patch] and [Repo.Diff] to show the changes of the step,
// [Repo.RevertPatches] or [Repo.Restore] to take it back.
//
//	repo, err := cairn.Open(cairn.Options{Root: dir, DataDir: data})
//	if err != nil { ... }
//	defer repo.Close()
//	before, err := repo.Track(ctx, cairn.TrackOptions{})
//	... the step ...
//	result, err := repo.Restore(ctx, before.Checkpoint, cairn.RestoreOptions{})
//
// # Checkpoints
//
// A checkpoint is a commit in a private git repository, the store, outside of the directory. Its
// tree is the one that "git add -A . && git write-tree" gives with all attributes off: bytes as
// they are on disk, symlinks as their text, ignored files left out. Unlike git, a capture stores
// nested repositories and submodules as plain files, and ignore rules never drop a path that an
// earlier checkpoint or the user's own index holds. One extra commit header stores the facts that
// git trees cannot hold: permission bits, empty directories, and paths that are present but were
// not captured.
//
// # Guarantees
//
// An id is handed out only if every path in scope was read stably; paths that were left out are
// listed. The user's own repository is never written to. Going back changes only paths that differ
// and deletes only paths that are known to be absent at the target. It first saves every file that
// it overwrites or deletes, ignored and oversized ones included. If the process is killed at any
// system call, the next command finishes the operation. No write goes through a symlink or outside
// the root.
//
// # No guarantees
//
// If another program changes a file between the last check and the rename that replaces it, that
// change is lost. Writes through a memory map are seen once the kernel has updated the file's
// times; [TrackOptions.Verify] reads every file. Owners, extended attributes, ACLs and hard links
// between files are not recorded.
//
// # Options
//
// In all options 0 is the default, and [NoLimit] is no limit. Types that are aliases are declared
// below internal/; go doc shows their fields under the name to the right of the alias.
//
// # Compatibility
//
// The store format is versioned and read by later releases. Ids are git's own.
//
// Several goroutines may use a [Repo], and several processes may use one store: they take turns.
// The package logs only to a given logger. It reads no environment, home directory or terminal.
package cairn
