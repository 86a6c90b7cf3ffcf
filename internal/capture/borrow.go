package capture

import (
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/keep"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/scan"
)

const (
	// borrowAtLeast is the number of files from which on borrowing is worth its system calls.
	borrowAtLeast = 64

	// borrowSlack is the least difference between the times of a file and the user's index. Git
	// accepts any difference. The slack covers clocks that tick slowly.
	borrowSlack = 100 * time.Millisecond
)

// lender answers from the index of the user's own repository which blob a file holds, so that a
// first capture need not read the file. The blobs are in borrowed packs.
type lender struct {
	db         *odb.DB
	from       []string // object directories of the repository
	most       int64    // bytes of loose objects to be linked, 0 = no limit
	index      *git.Index
	attributes *git.Attributes
	prefix     string  // of the root inside the repository
	written    int64   // mtime of the index in nanoseconds since 1970
	sizes      []int64 // of the blobs in the packs, by position in the index; nil = not asked for yet
}

// borrow prepares a capture without a stat cache: it hard-links the packs of the user's repository
// and trusts the repository's index. Nil means that nothing can be borrowed and every file is read.
//
// Two things go unnoticed. A filter driver that keeps the size, if its attribute was removed after
// git had read the file. Damage to the user's packs, which shows when the contents are read. Verify
// reads every file.
func (r *Capturer) borrow(x *index.Index, rules *ruleSource) (*lender, error) {
	if r.Opt.NoBorrow || x.Root() != nil && !rules.before.Incomplete || rules.user == nil || rules.user.full == nil || rules.user.repo.SHA256 {
		return nil, nil
	}
	user := rules.user
	if user.full.Len() < borrowAtLeast || r.NeverID() != "" {
		return nil, nil
	}
	from := user.repo.ObjectDirs()
	packs, err := r.DB.Borrow(from)
	if err != nil {
		return nil, err
	}
	r.Log.Debug("packs borrowed", "count", packs)
	u := git.UserConfig{Home: r.Opt.Home, ConfigHome: r.Opt.ConfigHome, System: r.Opt.SystemGitConfig}
	return &lender{
		db: r.DB, from: from, most: r.Room.MaxBytes / keep.Share, index: user.full,
		attributes: user.repo.Attributes(u, user.full), prefix: user.prefix,
		written: user.signature.MTime,
	}, nil
}

// borrowLoose reads all sizes at once, for a scan that asks for nearly every file, and borrows the blobs
// that lie loose. It returns how many it has borrowed.
func (l *lender) borrowLoose() (loose int, err error) {
	ids := make([]object.ID, 0, l.index.Len())
	for id := range l.index.IDs() {
		ids = append(ids, object.ID(id))
	}
	l.sizes = l.db.PackedSizes(ids)
	want := func(i int) int64 {
		e := l.index.At(i)
		return l.lendable(&e)
	}
	return l.db.BorrowLoose(l.from, ids, want, l.sizes, l.most)
}

// lendable returns the size of the file of an entry of which the blob may be borrowed, -1 for
// another entry. A file of 4 GiB or more counts as another one, because git cuts its size.
func (l *lender) lendable(e *git.IndexEntry) int64 {
	if e.Mode == object.Dir || e.Mode == object.Gitlink || e.Stage != 0 || e.AssumeValid || e.SkipWorktree || e.IntentToAdd || !strings.HasPrefix(e.Name, l.prefix) {
		return -1
	}
	return int64(e.Stat.Size)
}

// in implements scan.Lender.
func (l *lender) in(dir string, names [][]byte) scan.Lent {
	path := strings.TrimSuffix(l.prefix+dir, "/")
	return lentDir{l, path, l.index.Dir(path), l.attributes.Dir(path, names)}.known
}

// lentDir is the part of the index in one directory.
type lentDir struct {
	*lender
	path       string // from the top of the work tree
	names      git.IndexDir
	attributes *git.AttributeDir
}

// known implements scan.Lent. Three conditions must hold. The index has the file. The file's stat
// is the recorded one. The attributes make git store the bytes as they lie on disk; a conversion of
// line ends or $Id$ would make the blob shorter.
func (l lentDir) known(name []byte, mode object.Mode, st *index.Stat) (object.ID, bool) {
	at, ok := l.names.Lookup(name)
	if !ok {
		return object.ID{}, false
	}
	e := l.index.At(at)
	if e.AssumeValid || e.SkipWorktree || e.IntentToAdd || e.Mode != mode || !l.unchanged(&e.Stat, st) || l.attributes.Convert(l.path, name) {
		return object.ID{}, false
	}
	return e.ID, l.size(at, e.ID) == st.Size
}

// size returns the size of a blob, -1 if no pack has it.
func (l *lender) size(at int, id object.ID) int64 {
	if l.sizes != nil {
		return l.sizes[at]
	}
	return l.db.PackedSizes([]object.ID{id})[0]
}

// unchanged compares the recorded stat with the present one. Every field must be recorded: some
// programs leave out fractions of seconds, or inodes.
func (l *lender) unchanged(was *git.IndexStat, now *index.Stat) bool {
	if max(now.MTime, now.CTime) >= l.written-borrowSlack.Nanoseconds() {
		return false
	}
	mtime, ctime := time.Unix(0, now.MTime), time.Unix(0, now.CTime)
	return was.MTimeSec == uint32(mtime.Unix()) && was.MTimeNsec == uint32(mtime.Nanosecond()) &&
		was.CTimeSec == uint32(ctime.Unix()) && was.CTimeNsec == uint32(ctime.Nanosecond()) &&
		was.Ino == uint32(now.Ino) && was.Size == uint32(now.Size) && now.Ino != 0
}
