package capture

import (
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/scan"
)

const (
	// borrowAtLeast is how many files make borrowing worth its system calls.
	borrowAtLeast = 64

	// borrowSlack is how much older than the user's index the times of a file must
	// be. Git asks for any difference; this covers clocks that tick slowly.
	borrowSlack = 100 * time.Millisecond
)

// lender answers, from the index of the user's own repository, what files hold that
// a first capture would have to read. Its objects are in packs that were borrowed.
type lender struct {
	db         *odb.DB
	index      *git.Index
	attributes *git.Attributes
	prefix     string  // of the root inside the repository
	written    int64   // the index, in nanoseconds since 1970
	sizes      []int64 // of the blobs in the packs, by position in the index; nil = to be asked for
}

// borrow prepares a capture that has no stat cache to go by: it takes over the packs
// of the user's repository and trusts what its index knows. Nil means that there is
// nothing to go by, and that everything is read.
//
// What is not noticed: a file whose filter driver keeps the size, if the attribute was
// taken away after git had looked at the file; and damage to the user's packs, which
// shows when the contents are read. Verify reads everything.
func (r *Capturer) borrow(x *index.Index, rules *ruleSource) (*lender, error) {
	if r.Opt.NoBorrow || x.Root() != nil && !rules.before.Incomplete || rules.user == nil || rules.user.full == nil || rules.user.repo.SHA256 {
		return nil, nil
	}
	user := rules.user
	if user.full.Len() < borrowAtLeast || r.NeverID() != "" {
		return nil, nil
	}
	packs, err := r.DB.Borrow(user.repo.ObjectDirs())
	if err != nil {
		return nil, err
	}
	r.Log.Debug("packs borrowed", "count", packs)
	u := git.UserConfig{Home: r.Opt.Home, ConfigHome: r.Opt.ConfigHome, System: r.Opt.SystemGitConfig}
	return &lender{db: r.DB, index: user.full, attributes: user.repo.Attributes(u, user.full), prefix: user.prefix, written: user.signature.MTime}, nil
}

// look prepares for a scan that asks about nearly everything.
func (l *lender) look() {
	ids := make([]object.ID, l.index.Len())
	for i := range ids {
		ids[i] = l.index.At(i).ID
	}
	l.sizes = l.db.PackedSizes(ids)
}

// in implements scan.Lender.
func (l *lender) in(dir string) scan.Lent {
	path := strings.TrimSuffix(l.prefix+dir, "/")
	return lentDir{l, path, l.index.Dir(path), l.attributes.Dir(path)}.known
}

// lentDir is what the index knows of one directory.
type lentDir struct {
	*lender
	path       string // from the top of the work tree
	names      git.IndexDir
	attributes *git.AttributeDir
}

// known implements scan.Lent. The index must say what the file's contents are,
// its stat that they still are, and the attributes that git stores them as they lie
// on disk: what changes line ends or $Id$ on the way makes the blob shorter.
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

// size is that of a blob, -1 where no pack has it.
func (l *lender) size(at int, id object.ID) int64 {
	if l.sizes != nil {
		return l.sizes[at]
	}
	return l.db.PackedSizes([]object.ID{id})[0]
}

// unchanged compares what the index remembers with what the disk shows. Everything
// has to be there: some programs leave out fractions of seconds, or inodes.
func (l *lender) unchanged(was *git.IndexStat, now *index.Stat) bool {
	if max(now.MTime, now.CTime) >= l.written-borrowSlack.Nanoseconds() {
		return false
	}
	mtime, ctime := time.Unix(0, now.MTime), time.Unix(0, now.CTime)
	return was.MTimeSec == uint32(mtime.Unix()) && was.MTimeNsec == uint32(mtime.Nanosecond()) &&
		was.CTimeSec == uint32(ctime.Unix()) && was.CTimeNsec == uint32(ctime.Nanosecond()) &&
		was.Ino == uint32(now.Ino) && was.Size == uint32(now.Size) && now.Ino != 0
}
