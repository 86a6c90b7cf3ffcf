// Package cairn takes checkpoints of a working directory and goes back to them
// without losing anybody's work.
//
// A cairn is a stack of stones left along a trail so that you can find the way
// back. This package is meant for programs that change files on somebody's behalf,
// above all coding agents: call [Repo.Track] before and after a step, [Repo.Patch]
// and [Repo.Diff] to say what the step did, [Repo.Revert] or [Repo.Restore] to take
// it back.
//
//	repo, err := cairn.Open(cairn.Options{Root: dir, DataDir: data})
//	if err != nil { ... }
//	defer repo.Close()
//	before, err := repo.Track(ctx, cairn.TrackOptions{})
//	... the step ...
//	result, err := repo.Restore(ctx, before.Hash, cairn.RestoreOptions{})
//
// # What a checkpoint is
//
// A checkpoint is a commit in a private git repository, the store, which lies
// outside the directory. Its tree is what "git add -A . && git write-tree" would
// give with all attributes off: bytes as they lie on disk, symlinks as their text,
// ignored files left out. Unlike git, nested repositories and submodules are
// captured as the plain files that they are, and ignore rules never drop what an
// earlier checkpoint or the user's own index holds. What git trees cannot hold
// (permission bits, empty directories, paths that are present but were not
// captured) is kept in one extra commit header.
//
// # What is promised
//
// An id is handed out only if everything in scope was read stably; whatever was
// left out is listed. The user's own repository is never written to. Going back
// touches only what differs, deletes only what is known to be absent at the target,
// saves whatever it overwrites or deletes, ignored and oversized files included,
// and survives being killed at any system call: the next command finishes it.
// Nothing is written through a symlink or outside the root.
//
// # What is not promised
//
// A file that another program changes in the instant between the last check and
// the rename that replaces it loses that change. Writes through a memory map are
// seen once the kernel has updated the file's times; [TrackOptions.Verify] reads
// everything. Owners, extended attributes, ACLs and hard links between files are
// not recorded.
//
// # Compatibility
//
// The store format is versioned and read by later releases. Ids are git's own.
//
// A [Repo] may be used by several goroutines, and several processes may use one
// store: they take turns. The package logs nothing unless it is given a logger, and
// knows neither environment nor home directory nor terminal.
package cairn
