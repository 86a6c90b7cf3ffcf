package cairn

import (
	"context"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/transfer"
)

// What ListRemote finds on a remote, and what RemoteStatus knows of one.
type (
	RemoteStatus  = transfer.RemoteStatus
	RemoteProject = transfer.RemoteProject
	RemoteStore   = transfer.RemoteStore
	RemoteSession = transfer.RemoteSession
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
// The project is found by what it is, wherever it lies: by the id that SetProjectID gave it, else by the
// root commit of the user's git repository and the path within, else by the absolute path of the root.
// Lines that releases pushed which knew only paths are found by the path. Where the remote has no line
// of the project, the error is ErrNotFound. A remote may also be another store of this machine.
//
// Sealed lines come where Options.Sealer opens them with Options.Identity. Where nothing else is there, the
// ErrNotFound says so. A remote that shows an older sealed state than before, or one that was altered, is an error, and
// nothing comes.
//
// Fetched objects are checked as in Import before any of them is visible. One bad line refuses the
// whole fetch. The store is not locked while git waits for the remote. Push says what git may use.
//
// The store remembers the remote of the last Fetch or FetchSession: where Remote names none, "" is that one, also for
// ListRemote. Nothing is pushed to it unasked. Another store of this machine is not remembered.
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
//
// The store remembers the last remote that a push has reached. "" is that one, also for Fetch, FetchSession
// and ListRemote; the error is ErrNoRemote where there is none. A password in the URL is remembered, too, in a file that only its owner can read.
//
// With Options.Encrypt everything is sealed by Options.Sealer: the remote sees sizes and times. The recipients are
// remembered with the remote and count for pushes without Options.Encrypt. For other recipients all lines of the store
// are sealed again, and the former parts are deleted. A line whose beginning has been cleaned away is left out then.
//
// With Options.Sign the heads that have moved are signed first, see Sign. Where that fails, Push goes on
// and the log has a warning. Signatures go along.
func (r *Repo) Push(ctx context.Context, where string) (pushed []string, err error) {
	if r.store.Opt.Sign != "" {
		if _, err := r.Sign(ctx); err != nil {
			r.store.Log.Warn("heads are pushed without a new signature", "error", err)
		}
	}
	return r.transport.Push(ctx, where)
}

// FetchSession brings one session that other stores of this project have pushed, with its sub-agents. spec
// is its id, a prefix that one session alone has, or "@" for the newest. It returns the id and what Fetch
// returns. The error is ErrNotFound or ErrAmbiguous. The store remembers the remote, see Fetch.
func (r *Repo) FetchSession(ctx context.Context, where, spec string) (id string, fetched []string, err error) {
	return r.transport.FetchSession(ctx, where, spec)
}

// ListRemote lists what the stores of this project have pushed to a git repository, by notes that Push
// leaves there. Only these notes are transferred. With all, or where the remote has none of this
// project, it lists every project, those without notes by the names of their refs. Texts come from the
// remote as they are.
func (r *Repo) ListRemote(ctx context.Context, where string, all bool) ([]RemoteProject, error) {
	return r.transport.ListRemote(ctx, where, all)
}

// SetProjectID gives the project an id, under which Push and Fetch of all machines find it, instead of
// the root commit of the user's git repository. "" takes the id back. An id has up to 64 of a-z, 0-9,
// '-', '_' and '.'; another one is ErrName.
func (r *Repo) SetProjectID(ctx context.Context, id string) error {
	return r.transport.SetProjectID(ctx, id)
}

// CleanRemote deletes, on a remote, the lines of this store that the store itself has no more: those that a
// cleaning has dropped, pins that were taken back, deleted sessions, and states that a purge has replaced. It
// returns their names. Lines of other
// stores stay, and a later Push brings none back. With dryRun it changes nothing. "" is the remote of calls
// that name none. A line that has moved on the remote meanwhile is an error, and stays.
func (r *Repo) CleanRemote(ctx context.Context, where string, dryRun bool) (dropped []string, err error) {
	return r.transport.CleanRemote(ctx, where, dryRun)
}

// CleanRemoteMachine deletes, on a remote, everything that one other store of this project has pushed there: its
// lines, signatures and notes. machine is the id of the store, or the name of its machine where one store alone has
// it. It returns the names of the refs below refs/cairn. With dryRun it changes nothing. Lines that were fetched from it
// stay here, and a later Push of that machine brings its lines back. Sealed lines count where Options.Identity opens
// their note. The error is ErrNotFound, or ErrAmbiguous for several stores. A ref that has moved meanwhile is an
// error, and stays.
func (r *Repo) CleanRemoteMachine(ctx context.Context, where, machine string, dryRun bool) (dropped []string, err error) {
	return r.transport.CleanRemoteMachine(ctx, where, machine, dryRun)
}

// Remote returns the remote of calls that name none, a URL or an absolute path: that of Options.Sync, else
// the one that Push remembers, "" for none. A URL may hold a password.
func (r *Repo) Remote() (string, error) { return r.transport.Remote() }

// Sync pushes the lines that have moved since the last push to the remote of Options.Sync, and every line
// once a day. It returns the same as Push. It does nothing while another process pushes by Sync: that
// process takes along the checkpoints that come meanwhile. After a failure it does nothing until a pause
// is over: 1 minute, twice as long after each further failure, 1 hour at most. It holds the lock of the store only at the first push, so
// that captures do not wait for it. RemoteStatus tells of failures.
func (r *Repo) Sync(ctx context.Context) (pushed []string, err error) { return r.transport.Sync(ctx) }

// RemoteStatus tells how far the remote of calls that name none is behind this store, nil where there is
// none. It does not ask the remote.
func (r *Repo) RemoteStatus(ctx context.Context) (*RemoteStatus, error) {
	return r.transport.RemoteStatus(ctx)
}

// FetchProject brings the lines of any project that a git repository holds, by its Key of ListRemote. It
// is Fetch for a store that is no store of that project, such as a cache. The error is ErrNotFound where
// the remote has no such project.
func (r *Repo) FetchProject(ctx context.Context, where, key string) (fetched []string, err error) {
	return r.transport.FetchProject(ctx, where, key)
}
