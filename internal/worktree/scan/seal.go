package scan

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

const ignoreFile = index.IgnoreFile

// New seals alone are a reason to write the index from manySeals on, or if they concern one
// directory in largeShare. Listing fewer directories again takes less time than the write.
const (
	manySeals  = 64
	largeShare = 8
)

// sealing is the state of a scan for seals, see [index.Seal]. A scan seals the directories
// that it lists, and does not list a sealed one if trusted is set.
type sealing struct {
	start   time.Time
	device  uint64 // of the root, 0 = nothing can be sealed here
	ground  string
	trusted bool

	resealed []*index.Dir // only the seal has changed
	unsealed []*index.Dir // only the seal has changed: it must go
}

// beginSeals decides whether seals count. A seal covers neither rules outside of the
// directories, nor other devices, nor changes while another system had the disk. ground is a
// checksum of all of these.
func (sc *scanner) beginSeals(root *dir.Handle) {
	if sc.start = sc.began; sc.start.IsZero() {
		sc.start = time.Now()
	}
	if sc.Conditions == "" || sc.survey || !root.StampsNames() {
		return
	}
	at, err := root.Stat()
	if err != nil {
		return
	}
	sc.device = at.Device
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte(sc.Conditions), at.Device))
	sc.ground = hex.EncodeToString(sum[:16])
	sc.trusted = sc.Ground == sc.ground && sc.Scope == nil && sc.Hints == nil && sc.Forget == nil && !sc.Verify && !sc.NeverIsNew
}

// groundNow returns Result.Ground. A scan of a part proves nothing about the rest.
func (sc *scanner) groundNow() string {
	if sc.Scope == nil && sc.Hints == nil || sc.Ground == sc.ground {
		return sc.ground
	}
	return ""
}

// isSealed reports whether the old block of n accounts for every name that is in the
// directory now. A directory without entries is listed, because it may be empty.
func (w *worker) isSealed(n *node) bool {
	if !w.trusted || n.prev == nil || len(n.prev.Raw) == 0 || n.at.Device != w.device {
		return false
	}
	rules := findIgnoreFile(n.prev.Raw)
	return n.prev.Seal == n.sealWith(n.printWith(rulesOf(rules))) && n.prev.Seal.Rules != 0 && w.isUnchanged(n, rules)
}

// isUnchanged reports whether a .gitignore matches its record. No record is a match.
func (w *worker) isUnchanged(n *node, rec index.Record) bool {
	if rec == nil || rec.Mode() == object.Dir {
		return true
	}
	st, err := w.lstat(n, rec.Name())
	return err == nil && rec.Matches(st.Mode, st.Perm, &st.Stat)
}

func (n *node) sealWith(rules uint64) index.Seal {
	return index.Seal{MTime: n.at.Stat.MTime, CTime: n.at.Stat.CTime, Ino: n.at.Stat.Ino, Rules: rules}
}

// findIgnoreFile returns the record of the .gitignore in a block, nil if it has none.
func findIgnoreFile(block []byte) index.Record {
	for rec, rest := index.Next(block); rec != nil; rec, rest = index.Next(rest) {
		switch c := bytes.Compare(rec.Name(), []byte(ignoreFile)); {
		case c == 0:
			return rec
		case c > 0:
			return nil
		}
	}
	return nil
}

// printWith returns a checksum of the .gitignore files in force in n: the ones above and its
// own, whose id is zero if there is none.
func (n *node) printWith(own object.ID) uint64 {
	above := uint64(1)
	if n.parent != nil {
		above = n.parent.print
	}
	if above == 0 || own.IsZero() {
		return above
	}
	sum := sha256.Sum256(append(append(binary.LittleEndian.AppendUint64(nil, above), own[:]...), n.path...))
	return max(1, binary.LittleEndian.Uint64(sum[:]))
}

// rulesOf returns the id of the rules in a .gitignore record, zero for none. git reads no
// rules from a symlink or a directory.
func rulesOf(rec index.Record) (id object.ID) {
	if isFile(rec) && rec.Mode() != object.Symlink {
		id = rec.ID()
	}
	return id
}

// notePrint computes the checksum of the rules in force in n, before anything below n is
// scanned. An uncaptured .gitignore has no entry that would show a change. It is read now,
// and n stays unsealed, so the next scan lists it again.
func (w *worker) notePrint(n *node) {
	own := findIgnoreFile(n.entries())
	switch {
	case w.device == 0:
		return
	case own != nil && own.Skip() == index.Captured:
		n.rulesID = rulesOf(own)
	case n.listed && n.gitignore:
		n.leaky = true
		if own != nil && !own.ID().IsZero() && n.names == nil && w.Hints == nil {
			n.rulesID = own.ID() // read just now
		} else {
			_, n.rulesID = w.readGitignore(n)
		}
	case own != nil || n.gitignore:
		return
	}
	n.print = n.printWith(n.rulesID)
}

// rulesStillCurrent reports whether the .gitignore contents that were applied to the names in
// n equal the captured ones. A .gitignore may change in between.
func (n *node) rulesStillCurrent() bool {
	if !n.judged {
		return true
	}
	for a := n; a != nil; a = a.parent {
		if a.readID != nil && *a.readID != a.rulesID {
			return false
		}
	}
	return true
}

// finely reports whether every change of n after its opening shows in its stat, however soon
// it comes. Such a directory can be sealed right after a change.
func (w *worker) finely(n *node) bool { return w.FineDirs != nil && w.FineDirs(n.at.Device) }

// sealOf returns the new seal of a complete directory. same means that its block is the old
// one. An outdated seal may stay: it proves nothing, and replacing it would be a write.
func (w *worker) sealOf(n *node, same bool) (seal index.Seal) {
	var old index.Seal
	if n.prev != nil {
		old = n.prev.Seal
	}
	switch {
	case n.sealed && !n.leaky:
		return old
	case n.sealed:
		return index.Seal{}
	case !n.listed || n.names != nil && !w.finely(n) || w.Hints != nil:
		if same {
			return old
		}
		return index.Seal{}
	}
	now, tight := n.sealWith(n.print), !n.leaky && n.print != 0 && n.rulesStillCurrent()
	switch {
	case tight && w.device != 0 && n.at.Device == w.device && (w.finely(n) || !racy(&n.at.Stat, w.start)):
		return now
	case same && (tight || old != now):
		return old
	}
	return index.Seal{}
}

// reseal replaces the seal of an otherwise unchanged directory.
func (sc *scanner) reseal(d *index.Dir, seal index.Seal) {
	d = &index.Dir{Path: d.Path, Tree: d.Tree, Raw: d.Raw, Seal: seal}
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if seal == (index.Seal{}) {
		sc.unsealed = append(sc.unsealed, d)
	} else {
		sc.resealed = append(sc.resealed, d)
	}
}

// putSeals puts the seals into the index. New seals are put only if they are worth a write,
// or the index is written anyway.
func (sc *scanner) putSeals(writing bool) {
	for _, d := range sc.unsealed {
		sc.Index.Put(d)
	}
	if n := len(sc.resealed); !writing && len(sc.unsealed) == 0 && n < manySeals && n*largeShare < len(sc.Index.Dirs) {
		return
	}
	for _, d := range sc.resealed {
		sc.Index.Put(d)
	}
}
