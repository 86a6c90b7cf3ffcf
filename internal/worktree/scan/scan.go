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

// Sink takes the objects that a scan finds. It is called from several goroutines.
type Sink interface {
	Add(kind object.Kind, content []byte) (object.ID, error)
	AddBlob(r io.Reader, size int64) (object.ID, error)
	Has(id object.ID) bool
}

// Walk describes one look at a directory. See the package comment for the rules.
type Walk struct {
	Root        string
	MaxFileSize int64                            // in bytes; 0 = no limit
	Index       *index.Index                     // the last scan's, brought up to date by Run
	Rules       *ignore.Chain                    // in force at the root
	Prefix      string                           // path of the root as Rules sees it, "" or ending in '/'
	FoldCase    bool                             // core.ignoreCase, for the .gitignore files on the way
	Include     *ignore.Patterns                 // files to capture although ignored; may be nil
	MaxIncluded int64                            // in bytes, of such a file; 0 = MaxFileSize alone
	Held        func(path string, dir bool) bool // what is captured whatever the rules say; may be nil
	Forget      map[string]bool                  // paths that Index holds but that count as never seen, so that the rules decide anew
	Known       Known                            // may be nil
	Lender      Lender                           // may be nil
	Never       *ignore.Chain                    // what is never captured, held or not; nil = nothing
	NeverIsNew  bool                             // Never may cover what Index holds as captured
	Enter       Enter                            // may be nil
	Exclude     []string                         // directories below the root that are never entered: the store
	Scope       map[string]bool                  // the known directories to look at, with all that lead to them; nil = all
	Names       map[string][]string              // of directories in Scope: the names to look at, sorted; of others all
	Hints       *Hints                           // the paths to look at; nil = all
	Conditions  string                           // names all that decides here but for the directories themselves, the boot of the machine included; "" = not known
	Ground      string                           // Result.Ground of the last Run that looked at everything, if Index and Held are what they were after it; else ""
	Sink        Sink
	FineDirs    func(device uint64) bool // whether a file system gives a directory new times with every change, however soon; nil = unknown for all
	Verify      bool                     // read every file, whatever its stat says
	Workers     int                      // 0 = chosen by the number of processors
	Progress    func(n Counts)           // called now and then from several goroutines; may be nil

	MaxFiles int          // ErrLimit beyond; 0 = no limit
	MaxBytes int64        // of files to be read: ErrLimit beyond; 0 = no limit
	OnGrowth func() error // called once when there is much to be read; its error ends the scan; may be nil

	began time.Time // in place of the present, for tests
}

// Known names the contents of a file or symlink that the index does not hold, when
// somebody trustworthy has read it in the state that its stat shows. Then it is not
// read here. With lasting, each change after that shows in the stat, however soon it came.
// It is called from several goroutines.
type Known func(path string, mode object.Mode, st *index.Stat) (id object.ID, lasting, ok bool)

// Lender answers, for each directory, like Known for the files and symlinks in it. What
// it knows is captured whatever the rules say, so that they are not asked.
type Lender func(dir string) Lent

// Lent is Known for one directory. It is called from one goroutine.
type Lent func(name []byte, mode object.Mode, st *index.Stat) (id object.ID, ok bool)

// Enter is told of every directory before it is listed: the path, and the descriptor
// that it is open on, -1 on systems that have none. It is called from several
// goroutines.
type Enter func(path string, descriptor int)

// Counts is how far a scan has come.
type Counts struct {
	Files int   // captured so far
	Read  int   // of these, read rather than known
	Bytes int64 // read
}

// Skipped is a path that is present but was not captured.
type Skipped struct {
	Path   string
	Reason index.Skip
	Size   int64
	Dir    bool
	Err    error // the system's answer, for Unreadable
}

// Result is what a scan found; the captured state itself is in Walk.Index.
type Result struct {
	Counts
	Tree    object.ID
	Skipped []Skipped // sorted by path
	Unread  []string  // sorted: not looked at, with all below, because the deadline of the context passed
	Changed bool      // anything in the index, be it only a time stamp
	Differs int       // captured paths, without directories, that are not as the index had them
	Dropped bool      // something that the index had is not there any more
	Listed  int       // directories whose names were read
	Ground  string    // the conditions of the seals in Walk.Index; the caller saves it with the index

	// RuleTexts are the .gitignore files that the scan has read and not captured, by
	// the ids that their records have.
	RuleTexts map[object.ID][]byte

	// Misjudged are the directories whose .gitignore changed during the scan: what was put
	// to its rules is not what the record tells. Sorted.
	Misjudged []string

	// Before is the directories that changed, as the index had them; nil for those that it
	// did not have.
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
	fresh  atomic.Int64 // files that had to be read, or tried to
	due    atomic.Int64 // their bytes
	growth sync.Once

	refused error // by OnGrowth; set by growth

	local  bool // nothing waits for a network
	survey bool // only count, see Survey
	first  bool // nothing is known yet
	tally  map[string]Tally

	sealing

	dropped            atomic.Bool
	files, read, bytes atomic.Int64
	listed             atomic.Int64
}

// Run scans. On success the index describes the directory and every object that
// its ids name is in the sink; on error the index is as it was.
//
// When the deadline of the context passes, that is no error: what was not looked at
// is listed in Result.Unread, and the index keeps what it had there. It is then a
// cache worth keeping, but no description of the directory.
func (s *Walk) Run(ctx context.Context) (*Result, error) {
	sc := &scanner{Walk: s, ctx: ctx, first: s.Index.Root() == nil}
	root, err := sc.walk()
	if err != nil {
		return nil, err
	}
	return sc.finish(root), nil
}

// walk visits everything below the root, which it returns.
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

// workers: system calls block, so a few more goroutines than processors help on a
// cold cache and cost nothing on a warm one.
func (s *Walk) workers() int {
	if s.Workers > 0 {
		return s.Workers
	}
	return max(2, runtime.GOMAXPROCS(0))
}

func (sc *scanner) finish(root *node) *Result {
	before := make(blocks)
	for _, path := range sc.removed {
		before.addAll(sc.Index, path)
		sc.Index.Remove(path)
	}
	for _, d := range sc.changed {
		before.add(sc.Index, d.Path)
		sc.Index.Put(d)
	}
	sc.putSeals(len(sc.changed)+len(sc.removed) > 0)
	slices.Sort(sc.unread)
	slices.Sort(sc.misjudged)
	slices.SortFunc(sc.skipped, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	return &Result{
		Counts:  sc.counted(),
		Tree:    root.dir.Tree,
		Skipped: sc.skipped,
		Unread:  sc.unread,
		Changed: len(sc.changed)+len(sc.removed) > 0,
		Differs: before.differ(sc.Index),
		Dropped: sc.dropped.Load() || len(sc.removed) > 0,
		Listed:  int(sc.listed.Load()),
		Ground:  sc.groundNow(),
		Before:  before,

		RuleTexts: sc.ruleTexts,
		Misjudged: sc.misjudged,
	}
}

func (sc *scanner) counted() Counts {
	return Counts{Files: int(sc.files.Load()), Read: int(sc.read.Load()), Bytes: sc.bytes.Load()}
}

// fail records the first error and wakes everybody up to stop.
func (sc *scanner) fail(err error) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if sc.err == nil {
		sc.err = err
	}
	sc.done = true
	sc.wake.Broadcast()
}

// failure is the first error. The context may end, and say so, even now.
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

// pop returns nil when the scan is over.
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

// closeAll closes what a failed scan left open.
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
