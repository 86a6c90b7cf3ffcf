package scan

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/parallel"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// Sink receives the objects that a scan reads. It is called from several goroutines.
type Sink interface {
	Add(kind object.Kind, content []byte) (object.ID, error)
	AddAs(id object.ID, kind object.Kind, content []byte) error // Add of contents whose id is known
	AddBlob(r io.Reader, size int64) (object.ID, error)
	Has(id object.ID) bool
}

// Walk describes one scan of a directory. The package comment has the rules.
type Walk struct {
	Root        string
	MaxFileSize int64                            // in bytes; 0 = no limit
	Index       *index.Index                     // of the last scan; Run updates it
	Rules       *ignore.Chain                    // rules in force at the root
	Prefix      string                           // path of the root as Rules sees it, "" or ending in '/'
	FoldCase    bool                             // core.ignoreCase, for the .gitignore files in the tree
	Include     *ignore.Patterns                 // files to capture although ignored; may be nil
	MaxIncluded int64                            // in bytes, of such a file; 0 = MaxFileSize alone
	Held        func(path string, dir bool) bool // reports paths that are captured whatever the rules say; may be nil
	Forget      map[string]bool                  // paths that Index holds but that count as unknown, so that the rules decide again
	Known       Known                            // may be nil
	Lender      Lender                           // may be nil
	Never       *ignore.Chain                    // paths that are never captured, held or not; nil = none
	NeverIsNew  bool                             // Never may cover paths that Index holds as captured
	Enter       Enter                            // may be nil
	Inspector   Inspector                        // may be nil
	Exclude     []string                         // directories below the root that are never entered, such as the store
	Scope       map[string]bool                  // the known directories to scan, with all that lead to them; nil = all
	Names       map[string][]string              // for directories in Scope: the names to scan, sorted; a directory without an entry is scanned whole
	Hints       *Hints                           // the paths to scan; nil = all
	Conditions  string                           // identifies every input of the scan except the directories, including the boot of the machine; "" = not known
	Ground      string                           // Result.Ground of the last full Run, if Index and Held are unchanged since; else ""
	Sink        Sink
	FineDirs    func(device uint64) bool // whether a file system gives a directory a new time with every change, however soon; nil = not known
	Verify      bool                     // read every file, whatever its stat says
	Workers     int                      // 0 = chosen by the number of processors
	Progress    func(n Counts)           // called at intervals from several goroutines; may be nil
	OnLinked    func(dir, name string)   // called for each file with further names (hard links), from several goroutines; may be nil
	OnGit       func(dir string)         // called for each directory below the root whose listing has a ".git", from several goroutines; may be nil

	MaxFiles int          // beyond it the scan ends with ErrLimit; 0 = no limit
	MaxBytes int64        // of files to read; beyond it the scan ends with ErrLimit; 0 = no limit
	OnGrowth func() error // called once when many files must be read; its error ends the scan; may be nil

	began time.Time // replaces the present time in tests
}

// Known returns the blob of a file or symlink that the index does not hold, if a trusted reader has
// read it with the same stat. The scan then does not read it. lasting means that every later change
// shows in the stat, however soon it comes. Known is called from several goroutines.
type Known func(path string, mode object.Mode, st *index.Stat) (id object.ID, lasting, ok bool)

// Lender returns, for a directory, a function like Known for the files and symlinks in it. The
// files that it knows are captured without applying the rules. names are those in the directory, valid
// during the call. They are nil where the scan has not listed the directory.
type Lender func(dir string, names [][]byte) Lent

// Lent is Known for one directory. It is called from one goroutine.
type Lent func(name []byte, mode object.Mode, st *index.Stat) (id object.ID, ok bool)

// Enter is called for each directory before it is listed, with its path and its open descriptor, -1
// on systems without descriptors. It is called from several goroutines.
type Enter func(path string, descriptor int)

// Inspector sees the contents of files before they are added to the sink. Its methods are called from
// several goroutines.
type Inspector interface {
	// Inspect sees contents that the sink does not have. With leave the path is skipped as
	// [index.Secret], and the contents are not added.
	Inspect(path string, id object.ID, content []byte) (leave bool)

	// InspectFrom is Inspect for contents that do not fit in memory. It returns errors of r.
	InspectFrom(path string, id object.ID, r io.Reader) (leave bool, err error)

	// Held is called for contents that the sink has.
	Held(path string, id object.ID)
}

// Counts is the progress of a scan.
type Counts struct {
	Files int   // captured so far
	Read  int   // number of these that were read, not known
	Bytes int64 // read
}

// Skipped is a path that is present but was not captured.
type Skipped struct {
	Path   string
	Reason index.Skip
	Size   int64
	Dir    bool
	Err    error // the system's error, for Unreadable
}

// Result is the result of a scan. The captured state is in Walk.Index.
type Result struct {
	Counts
	Tree    object.ID
	Skipped []Skipped // sorted by path
	Unread  []string  // sorted; not scanned, including everything below, because the context's deadline passed
	Changed bool      // something in the index changed, even if only a time stamp
	Differs int       // number of captured paths, without directories, that differ from the index before
	Dropped bool      // a path that the index had is gone
	Listed  int       // directories whose names were read
	Lent    int       // captured files that the Lender knew
	Ground  string    // the conditions of the seals in Walk.Index; the caller saves it with the index

	// RuleTexts are the .gitignore files that the scan has read and not captured, by the ids of
	// their records.
	RuleTexts map[object.ID][]byte

	// Misjudged are the directories whose .gitignore changed during the scan: the rules that were
	// applied differ from the recorded ones. Sorted.
	Misjudged []string

	// Before holds the changed directories as they were in the index; nil for those that it did not
	// have.
	Before map[string]*index.Dir
}

type scanner struct {
	*Walk
	ctx context.Context

	mu    sync.Mutex
	wake  sync.Cond
	stack []*node // last in, first out, which bounds the number of open directories
	done  bool
	err   error

	changed []*index.Dir
	removed []string
	skipped []Skipped
	unread  []string

	ruleTexts map[object.ID][]byte
	misjudged []string

	late   atomic.Bool  // the deadline has passed
	fresh  atomic.Int64 // number of files that were read, or tried
	due    atomic.Int64 // their bytes
	growth sync.Once

	refused error // result of OnGrowth; set once by growth

	local  bool // no network file system
	survey bool // only count, see Survey
	first  bool // the index is empty
	tally  map[string]Tally

	sealing

	dropped            atomic.Bool
	files, read, bytes atomic.Int64
	listed, lent       atomic.Int64
}

// Run scans. On success the index describes the directory, and every object that its ids name is in
// the sink. On error the index is unchanged.
//
// A passed deadline of the context is no error: Result.Unread lists the paths that were not
// scanned, and the index keeps their old entries. It is then useful as a cache, but no description
// of the directory.
func (s *Walk) Run(ctx context.Context) (*Result, error) {
	sc := &scanner{Walk: s, ctx: ctx, first: s.Index.Root() == nil}
	root, err := sc.walk()
	if err != nil {
		return nil, err
	}
	return sc.finish(root), nil
}

// walk scans everything below the root and returns the root.
func (sc *scanner) walk() (*node, error) {
	s, ctx := sc.Walk, sc.ctx
	sc.wake.L = &sc.mu
	root := &node{prev: s.Index.Root()}
	var err error
	if root.handle, err = dir.Open(s.Root); err != nil {
		return nil, fmt.Errorf("open %s: %w", s.Root, err)
	}
	sc.local = root.handle.Local()
	sc.beginSeals(root.handle)
	sc.stack = append(sc.stack, root)
	stop := context.AfterFunc(ctx, sc.interrupted)
	defer stop()
	parallel.Run(sc.workers(), func() { (&worker{scanner: sc}).run() })
	if err := sc.failure(); err != nil {
		sc.closeAll()
		return nil, err
	}
	return root, nil
}

// workers returns the number of goroutines. System calls block, so a few more goroutines than
// processors help on a cold cache and cost nothing on a warm one.
func (s *Walk) workers() int {
	if s.Workers > 0 {
		return s.Workers
	}
	return max(2, runtime.GOMAXPROCS(0))
}

func (sc *scanner) finish(root *node) *Result {
	before, first := make(blocks), len(sc.Index.Dirs) == 0
	for _, path := range sc.removed {
		before.addAll(sc.Index, path)
		sc.Index.Remove(path)
	}
	for _, d := range sc.changed {
		before.add(sc.Index, d.Path)
		sc.Index.Put(d)
	}
	sc.putSeals(len(sc.changed)+len(sc.removed) > 0)
	counts := sc.counted()
	differs := counts.Files // from nothing
	if !first {
		differs = before.differ(sc.Index)
	}
	slices.Sort(sc.unread)
	slices.Sort(sc.misjudged)
	slices.SortFunc(sc.skipped, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	return &Result{
		Counts:  counts,
		Tree:    root.dir.Tree,
		Skipped: sc.skipped,
		Unread:  sc.unread,
		Changed: len(sc.changed)+len(sc.removed) > 0,
		Differs: differs,
		Dropped: sc.dropped.Load() || len(sc.removed) > 0,
		Listed:  int(sc.listed.Load()),
		Lent:    int(sc.lent.Load()),
		Ground:  sc.groundNow(),
		Before:  before,

		RuleTexts: sc.ruleTexts,
		Misjudged: sc.misjudged,
	}
}

func (sc *scanner) counted() Counts {
	return Counts{Files: int(sc.files.Load()), Read: int(sc.read.Load()), Bytes: sc.bytes.Load()}
}

// fail records the first error and wakes all workers, so that they stop.
func (sc *scanner) fail(err error) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if sc.err == nil {
		sc.err = err
	}
	sc.done = true
	sc.wake.Broadcast()
}

// failure returns the first error. The context may still end after this.
func (sc *scanner) failure() error {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	return sc.err
}

func (sc *scanner) push(nodes []*node) {
	if len(nodes) == 0 {
		return
	}
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.stack = append(sc.stack, nodes...)
	sc.wake.Broadcast()
}

// pop returns the next directory, nil when the scan has ended.
func (sc *scanner) pop() *node {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	for len(sc.stack) == 0 && !sc.done {
		sc.wake.Wait()
	}
	if sc.done {
		return nil
	}
	n := sc.stack[len(sc.stack)-1]
	sc.stack = sc.stack[:len(sc.stack)-1]
	return n
}

func (sc *scanner) complete() {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.done = true
	sc.wake.Broadcast()
}

// closeAll closes the handles that a failed scan left open.
func (sc *scanner) closeAll() {
	for _, n := range sc.stack {
		for ; n != nil; n = n.parent {
			n.close()
		}
	}
}

func (sc *scanner) excluded(path string) bool { return slices.Contains(sc.Exclude, path) }

func (sc *scanner) full(path string) string {
	return filepath.Join(sc.Root, filepath.FromSlash(path))
}
