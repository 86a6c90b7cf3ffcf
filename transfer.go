package cairn

import (
	"context"
	"io"
)

// Export writes a checkpoint as a git bundle: a file that any git fetches from or
// clones, and that Import takes. It holds the checkpoint with all its files and
// metadata, but without its history. The commit in it therefore has no parents and
// another id; its header cairn-origin keeps the one that it had here. Tree, author,
// message and dates are the same, and exporting the same checkpoint again gives the
// same bundle, as long as the files are compressed by the same release.
//
// Contents are streamed. After an error w has got part of a bundle, which nothing
// accepts.
func (r *Repo) Export(ctx context.Context, w io.Writer, spec string) error {
	return r.transport.Export(ctx, w, spec)
}

// Fetch brings the lines that other stores of this project have pushed to a git
// repository, a URL or a path, and returns the names of those that are new or have
// moved: <store id>/<line>. Objects that this store has lost come back if the remote holds
// them, and are named "lost object <id>". The checkpoints of the lines can be looked up by their ids and the
// ids of their trees. Lines of this store are never moved, and @ stays what it is.
//
// What comes is checked as Import checks it before anything of it is visible; if
// one line is bad, none is taken. The store is not locked while git waits for the
// remote. For what git may use, see Push.
func (r *Repo) Fetch(ctx context.Context, where string) (fetched []string, err error) {
	return r.transport.Fetch(ctx, where)
}

// Import takes a checkpoint out of a bundle that Export has written, for this root
// or another. It can then be looked up, restored and compared by its ids, also by
// that of its tree; it does not become @, and it stays until it is cleaned away.
//
// The whole input is read and checked before anything of it is visible: checksum,
// every object's id, that all files are there, and that no path leads out of the
// root or into a .git. Whatever is wrong, the store is as before, and the error is
// an ErrBundle. Bundles that git made of an exported one are taken, too.
func (r *Repo) Import(ctx context.Context, rd io.Reader) (c *Checkpoint, err error) {
	return r.transport.Import(ctx, rd)
}

// Push sends the lines of this store, with pins, operations and imported checkpoints,
// to a git repository: a URL or a path. It returns the names of those that the
// remote did not have like that yet. Nothing is ever deleted there, and no line is
// moved but forward: one that was begun anew here gets a second name, its own with
// the id of its new beginning. Only pins follow where they point.
//
// The git program does the work, without the user's configuration. It may use keys
// of the ssh agent and what Options.Home holds (.ssh, .netrc); it asks nobody.
// Without a git program the error is ErrNoGit.
func (r *Repo) Push(ctx context.Context, where string) (pushed []string, err error) {
	return r.transport.Push(ctx, where)
}
