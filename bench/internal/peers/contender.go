package peers

import "github.com/seed-fb9cbc17/cairn/bench/internal/system"

// Contender is one way to take checkpoints of a directory. Its methods, and those of
// the small interfaces below, are what is timed; each carries out the operation as a
// whole, starting whatever processes that takes. A contender has the methods of the
// operations that its kind lists.
type Contender interface {
	// Reset throws the store away: the next Track is a first one.
	Reset() error
	// Track records the directory and returns the id of what it holds.
	Track() (id string, err error)
	// Used returns the processor time and the peak memory since it was last called.
	Used() system.Usage
}

// patcher lists what differs between a tree and the directory.
type patcher interface {
	Patch(tree string) (files []string, err error)
}

// differ gets all texts and counts between two trees. What it returns counts the
// files, and is not part of the time.
type differ interface {
	DiffFull(from, to string) (count func() (int, error), err error)
}

// restorer brings the directory back to a tree.
type restorer interface {
	Restore(tree string) error
}

// reverter brings the given files, absolute paths, back to a tree.
type reverter interface {
	Revert(tree string, files []string) error
}

// undoer can take a restore back, and carry it out again.
type undoer interface {
	Undo() error
	Redo() error
}

// pathTracker records nothing but the given files, absolute paths.
type pathTracker interface {
	TrackOnly(files []string) error
}

// lendable is a contender whose Reset leaves nothing behind that a copy of another
// contender's store would lack: see kind.first.
type lendable interface {
	// Adopt makes a store from that of another contender.
	Adopt(store string) error
}

// borrowing says whether the next first Track may take over objects of the user's
// own repository.
type borrowing interface {
	Borrow(on bool)
}

// scalable can be held to a number of processors; 0 lets it choose.
type scalable interface {
	Processors(n int) error
}

// Setting is where a contender works and with which programs.
type Setting struct {
	Kind         string   // name of a kind
	Root         string   // the directory, which others may share
	Store        string   // where it may put its store; Reset removes it
	Home         string   // an empty home directory
	Git          string   // the git program
	Cairn        string   // the cairn program
	CairnOptions []string // before its commands
	Restic       string   // the restic program
	Jujutsu      string   // the jj program
	Repository   bool     // Root is a git repository and clean
	OneTree      bool     // all contenders work in Root
	Alone        bool     // the program does not clean in the background
}
