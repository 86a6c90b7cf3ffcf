package cairn

import (
	"context"
	"io"
)

// Export writes a checkpoint as a git bundle. Any git can fetch from the file or clone it, and
// Import reads it. It holds the checkpoint with all its files and metadata, without its history.
// The commit in it has no parents and therefore another id; its header cairn-origin keeps the id
// that it has here. Tree, author, message and dates are the same. Exporting the same checkpoint
// again gives the same bundle, as long as the same release has compressed the files.
//
// Contents are streamed. After an error, w has received part of a bundle, which no reader accepts.
func (r *Repo) Export(ctx context.Context, w io.Writer, spec string) error {
	return r.transport.Export(ctx, w, spec)
}

// Fetch brings the lines that other stores of this project have pushed to a git repository, a URL
// or a path. It returns the names of the new and the moved lines: <store id>/<line>. Objects that
// this store has lost come back if the remote has them, and are named "lost object <id>". The
// fetched checkpoints can be looked up by their ids and the ids of their trees. Fetch never moves a
// line of this store, and @ stays the same.
//
// Fetched objects are checked as in Import before any of them is visible. One bad line refuses the
// whole fetch. The store is not locked while git waits for the remote. Push says what git may use.
func (r *Repo) Fetch(ctx context.Context, where string) (fetched []string, err error) {
	return r.transport.Fetch(ctx, where)
}

// Import reads a checkpoint from a bundle that Export has written, for this root or another. The
// checkpoint can then be looked up, restored and compared by its ids, including the id of its tree.
// It does not become @. It stays until it is cleaned away.
//
// The whole input is read and checked before any of it is visible: the checksum, every object's id,
// that all files are there, and that no path leads out of the root or into a .git. If a check
// fails, the store is unchanged and the error is an ErrBundle. Import also accepts bundles that git
// has made of an exported checkpoint.
func (r *Repo) Import(ctx context.Context, rd io.Reader) (c *Checkpoint, err error) {
	return r.transport.Import(ctx, rd)
}

// Push sends the lines of this store, with pins, operations and imported checkpoints, to a git
// repository: a URL or a path. It returns the names of the lines that the remote did not have in
// that state. It deletes nothing there and moves lines only forward. A line that was begun again
// here gets a second name: its own with the id of its new beginning. Only pins are moved to
// wherever they point.
//
// The git program does the work, without the user's configuration. It may use keys of the ssh agent
// and the files in Options.Home (.ssh, .netrc). It never prompts. Without a git program the error
// is ErrNoGit.
func (r *Repo) Push(ctx context.Context, where string) (pushed []string, err error) {
	return r.transport.Push(ctx, where)
}
