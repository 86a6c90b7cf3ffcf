package index

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Perms holds the permission bits of the three kinds of entries that have any.
type Perms struct{ File, Exec, Dir uint16 }

// of returns the bits of a kind. ok is false for symlinks, whose bits have no meaning.
func (p Perms) of(m object.Mode) (perm uint16, ok bool) {
	switch m {
	case object.Regular:
		return p.File, true
	case object.Executable:
		return p.Exec, true
	case object.Dir:
		return p.Dir, true
	}
	return 0, false
}

// summary holds totals over all entries. From its first use on, Put and Remove keep it up to date,
// and it is saved, so that an answer costs the changes and not a walk over the index.
type summary struct {
	files int                 // captured, without directories
	perms map[permKey]int     // number of captured entries with these bits
	usual Perms               // the bits that odd refers to
	odd   map[string]struct{} // directories with an odd entry, see isOdd; nil = not known
}

type permKey struct {
	mode object.Mode
	perm uint16
}

// Files returns the number of captured files.
func (x *Index) Files() int { return x.summarise(Perms{}).files }

// KnownFiles is Files if that number is known without counting, else 0.
func (x *Index) KnownFiles() int {
	if x.summary == nil {
		return 0
	}
	return x.summary.files
}

// Usual returns the most frequent permission bits of captured entries. In a draw fallback wins,
// then the lower bits.
func (x *Index) Usual(fallback Perms) Perms {
	s := x.summarise(fallback)
	return Perms{s.most(object.Regular, fallback.File), s.most(object.Executable, fallback.Exec), s.most(object.Dir, fallback.Dir)}
}

// Odd returns the directories that hold an entry other than captured files and directories with
// these bits, and symlinks. A directory with nothing captured below it is odd in its parent. The
// set belongs to the index and changes with it.
func (x *Index) Odd(usual Perms) map[string]struct{} {
	s := x.summarise(usual)
	if s.odd == nil || s.usual != usual {
		s.usual, s.odd = usual, make(map[string]struct{})
		for _, d := range x.Dirs {
			s.noteOdd(d)
		}
		x.private = true
	}
	return s.odd
}

func (x *Index) summarise(usual Perms) *summary {
	if x.summary == nil {
		x.summary = &summary{usual: usual, perms: make(map[permKey]int), odd: make(map[string]struct{})}
		for _, d := range x.Dirs {
			x.summary.count(d)
			x.summary.noteOdd(d)
		}
		x.private = true
	}
	return x.summary
}

// replace updates the summary for a changed block; nil = none. It reads the records that differ;
// for a directory that was odd, all records.
func (s *summary) replace(old, new *Dir) {
	if s == nil {
		return
	}
	odd := false
	for was, is := range Differences(old, new) {
		s.countRecord(was, -1)
		s.countRecord(is, 1)
		odd = odd || is != nil && s.isOdd(is)
	}
	if s.odd == nil {
		return
	}
	if old != nil {
		if _, was := s.odd[old.Path]; was {
			delete(s.odd, old.Path)
			if new != nil {
				s.noteOdd(new)
			}
			return
		}
	}
	if odd {
		s.odd[new.Path] = struct{}{}
	}
}

// count adds the records of a directory. Most of them have the bits of the one before.
func (s *summary) count(d *Dir) {
	var like Record
	n := 0
	for rec := range d.All {
		if like == nil || rec.Mode() != like.Mode() || rec.Perm() != like.Perm() || rec.Skip() != like.Skip() {
			s.countRecord(like, n)
			like, n = rec, 0
		}
		n++
	}
	s.countRecord(like, n)
}

func (s *summary) countRecord(rec Record, by int) {
	if rec == nil || rec.Skip() != Captured {
		return
	}
	mode := rec.Mode()
	if mode != object.Dir {
		s.files += by
	}
	if mode == object.Symlink {
		return
	}
	key := permKey{mode, rec.Perm()}
	if s.perms[key] += by; s.perms[key] == 0 {
		delete(s.perms, key)
	}
}

func (s *summary) noteOdd(d *Dir) {
	for rec := range d.All {
		if s.isOdd(rec) {
			s.odd[d.Path] = struct{}{}
			return
		}
	}
}

func (s *summary) isOdd(rec Record) bool {
	mode := rec.Mode()
	perm, has := s.usual.of(mode)
	return rec.Skip() != Captured || has && rec.Perm() != perm || mode == object.Dir && rec.ID().IsZero()
}

func (s *summary) most(mode object.Mode, fallback uint16) uint16 {
	best, count := fallback, s.perms[permKey{mode, fallback}]
	for key, n := range s.perms {
		if key.mode == mode && (n > count || n == count && best != fallback && key.perm < best) {
			best, count = key.perm, n
		}
	}
	return best
}

// maxOddSaved limits the part of a summary that every save writes. With more odd directories, the
// next process that needs the set walks over the index once.
const maxOddSaved = 256

// oddUnknown is the stored number in that case.
const oddUnknown = 1<<32 - 1

func (s *summary) savesOdd() bool { return s.odd != nil && len(s.odd) <= maxOddSaved }

// size returns the size of the encoding.
func (s *summary) size() int {
	if s == nil {
		return 4
	}
	size := 4 + 4 + 6 + 4 + len(s.perms)*permSize + 4
	if !s.savesOdd() {
		return size
	}
	for dir := range s.odd {
		size += 4 + len(dir)
	}
	return size
}

// permSize is the size of one entry of perms: code of the mode, bits, count.
const permSize = 1 + 2 + 4

// append encodes a summary as one piece, empty for none.
func (s *summary) append(out []byte) []byte {
	le := binary.LittleEndian
	out = le.AppendUint32(out, uint32(s.size()-4))
	if s == nil {
		return out
	}
	out = le.AppendUint32(out, uint32(s.files))
	for _, perm := range [...]uint16{s.usual.File, s.usual.Exec, s.usual.Dir} {
		out = le.AppendUint16(out, perm)
	}
	out = le.AppendUint32(out, uint32(len(s.perms)))
	for key, n := range s.perms {
		out = le.AppendUint16(append(out, modeCode(key.mode)), key.perm)
		out = le.AppendUint32(out, uint32(n))
	}
	if !s.savesOdd() {
		return le.AppendUint32(out, oddUnknown)
	}
	return appendStrings(out, slices.Collect(maps.Keys(s.odd)))
}

// decodeSummary is the inverse of append. It returns nil for an empty or invalid piece.
func decodeSummary(piece []byte) *summary {
	if len(piece) == 0 {
		return nil
	}
	le := binary.LittleEndian
	r := reader{data: piece}
	s := &summary{perms: make(map[permKey]int)}
	head := r.next(4 + 6)
	if head == nil {
		return nil
	}
	s.files = int(le.Uint32(head))
	s.usual = Perms{le.Uint16(head[4:]), le.Uint16(head[6:]), le.Uint16(head[8:])}
	for range r.count(permSize) {
		b := r.next(permSize)
		if int(b[0]) >= len(modeCodes) {
			return nil
		}
		s.perms[permKey{modeCodes[b[0]], le.Uint16(b[1:])}] = int(le.Uint32(b[3:]))
	}
	if len(r.data) == 4 && le.Uint32(r.data) == oddUnknown {
		return s
	}
	s.odd = make(map[string]struct{})
	for _, dir := range r.strings() {
		s.odd[dir] = struct{}{}
	}
	if r.short || len(r.data) != 0 {
		return nil
	}
	return s
}
