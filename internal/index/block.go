package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// ErrMalformed is wrapped by every error about an index that cannot be read. The remedy is always
// to drop the index and scan again.
var ErrMalformed = errors.New("malformed index")

// Dir is the block of one directory. It is immutable.
type Dir struct {
	Path string    // from the root, '/'-separated, "" for the root itself
	Tree object.ID // zero when nothing below is captured
	Raw  []byte    // the encoded entries, see Append and Next
	Seal Seal

	starts atomic.Pointer[[]uint32] // offsets of the records in Raw; set by Find when it needs them
}

// The layout of an encoded entry: fixed fields, the name, and a NUL, so that a system call can use
// the name in place.
const (
	offMode  = 0  // code of the mode
	offFlags = 1  // reason for skipping, and the bits below
	offPerm  = 2  // uint16
	offLen   = 4  // uint16, length of the name
	offSize  = 8  // int64
	offMTime = 16 // int64
	offCTime = 24 // int64
	offIno   = 32 // uint64
	offID    = 40
	offName  = 60
	nulLen   = 1

	flagRacy  = 0x80
	flagHeld  = 0x40
	flagEmpty = 0x20
	skipMask  = 0x1f
)

var modeCodes = [...]object.Mode{0, object.Regular, object.Executable, object.Symlink, object.Dir}

func modeCode(m object.Mode) byte {
	for i, mode := range modeCodes {
		if mode == m {
			return byte(i)
		}
	}
	return 0
}

// Append appends the encoding of e to a block. No supported file system has names longer than
// 65,535 bytes.
func Append(raw []byte, e *Entry) []byte {
	var fixed [offName]byte
	fixed[offMode] = modeCode(e.Mode)
	fixed[offFlags] = byte(e.Skip) & skipMask
	for _, f := range [...]struct {
		on  bool
		bit byte
	}{{e.Racy, flagRacy}, {e.Held, flagHeld}, {e.Empty, flagEmpty}} {
		if f.on {
			fixed[offFlags] |= f.bit
		}
	}
	le := binary.LittleEndian
	le.PutUint16(fixed[offPerm:], e.Perm)
	le.PutUint16(fixed[offLen:], uint16(len(e.Name)))
	le.PutUint64(fixed[offSize:], uint64(e.Stat.Size))
	le.PutUint64(fixed[offMTime:], uint64(e.Stat.MTime))
	le.PutUint64(fixed[offCTime:], uint64(e.Stat.CTime))
	le.PutUint64(fixed[offIno:], e.Stat.Ino)
	copy(fixed[offID:], e.ID[:])
	return append(append(append(raw, fixed[:]...), e.Name...), 0)
}

// RoomFor returns the size of a block with an entry for each of the names.
func RoomFor(names [][]byte) int {
	size := len(names) * (offName + nulLen)
	for _, name := range names {
		size += len(name)
	}
	return size
}

// SetDir sets the fields of a directory that are known only after everything below it was scanned.
// The entry begins at raw[0].
func SetDir(raw []byte, perm uint16, tree object.ID, empty bool) {
	binary.LittleEndian.PutUint16(raw[offPerm:], perm)
	copy(raw[offID:offName], tree[:])
	raw[offFlags] &^= flagEmpty
	if empty {
		raw[offFlags] |= flagEmpty
	}
}

// Record is one encoded entry inside a block. Its methods read single fields, so a comparison does
// not decode the rest.
type Record []byte

// Next splits the first record off a block. A nil record means the end. Blocks
// are checked when they are loaded, so Next trusts them.
func Next(raw []byte) (rec Record, rest []byte) {
	if len(raw) < offName {
		return nil, nil
	}
	n := offName + int(binary.LittleEndian.Uint16(raw[offLen:])) + nulLen
	return Record(raw[:n:n]), raw[n:]
}

// Name returns the name's bytes, which belong to the block. A NUL follows them there.
func (r Record) Name() []byte { return r[offName : len(r)-nulLen : len(r)-nulLen] }

// Mode returns the git mode, 0 for a special file.
func (r Record) Mode() object.Mode { return modeCodes[r[offMode]] }

// Perm returns the permission bits.
func (r Record) Perm() uint16 { return binary.LittleEndian.Uint16(r[offPerm:]) }

// Skip returns the reason why the path was not captured.
func (r Record) Skip() Skip { return Skip(r[offFlags] & skipMask) }

// Racy reports whether the stat proves nothing.
func (r Record) Racy() bool { return r[offFlags]&flagRacy != 0 }

// Held reports whether the path was captured at any time.
func (r Record) Held() bool { return r[offFlags]&flagHeld != 0 }

// Empty reports whether it is a directory without any name in it.
func (r Record) Empty() bool { return r[offFlags]&flagEmpty != 0 }

// ID returns the blob or tree.
func (r Record) ID() (id object.ID) {
	copy(id[:], r[offID:offName])
	return id
}

// Stat decodes the stat fields.
func (r Record) Stat() Stat {
	le := binary.LittleEndian
	return Stat{
		Size:  int64(le.Uint64(r[offSize:])),
		MTime: int64(le.Uint64(r[offMTime:])),
		CTime: int64(le.Uint64(r[offCTime:])),
		Ino:   le.Uint64(r[offIno:]),
	}
}

// Entry decodes the whole record.
func (r Record) Entry() Entry {
	return Entry{
		Name: string(r.Name()), Mode: r.Mode(), Perm: r.Perm(), Skip: r.Skip(), Racy: r.Racy(),
		Held: r.Held(), Empty: r.Empty(), Stat: r.Stat(), ID: r.ID(),
	}
}

// Matches reports whether a file with this mode, permission and stat is certainly the one that the
// record was made from.
func (r Record) Matches(mode object.Mode, perm uint16, st *Stat) bool {
	le := binary.LittleEndian
	return r.Mode() == mode && r.Perm() == perm && r[offFlags]&flagRacy == 0 &&
		int64(le.Uint64(r[offSize:])) == st.Size &&
		int64(le.Uint64(r[offMTime:])) == st.MTime &&
		int64(le.Uint64(r[offCTime:])) == st.CTime &&
		le.Uint64(r[offIno:]) == st.Ino
}

// All yields the records of a directory.
func (d *Dir) All(yield func(Record) bool) {
	for rec, rest := Next(d.Raw); rec != nil; rec, rest = Next(rest) {
		if !yield(rec) {
			return
		}
	}
}

// Find returns the record of a name, or nil.
func (d *Dir) Find(name string) Record {
	if len(d.Raw) > maxWalk {
		return d.search(name)
	}
	for rec := range d.All {
		if string(rec.Name()) == name {
			return rec
		}
	}
	return nil
}

// maxWalk is the size up to which Find walks a block: about fifty records, for which a walk is as
// fast as a search.
const maxWalk = 4 << 10

// search walks the block once to find the offsets of all records, and then does a binary search for
// each name. So looking up all names of a large directory does not take quadratic time. Several
// goroutines may compute the same offsets at once.
func (d *Dir) search(name string) Record {
	starts := d.starts.Load()
	if starts == nil {
		starts = new([]uint32)
		at := 0
		for rec := range d.All {
			*starts = append(*starts, uint32(at))
			at += len(rec)
		}
		d.starts.Store(starts)
	}
	i, found := slices.BinarySearchFunc(*starts, name, func(start uint32, name string) int {
		rec, _ := Next(d.Raw[start:])
		switch at := rec.Name(); {
		case string(at) < name:
			return -1
		case string(at) > name:
			return 1
		}
		return 0
	})
	if !found {
		return nil
	}
	rec, _ := Next(d.Raw[(*starts)[i]:])
	return rec
}

// checkBlock refuses a block that Next cannot walk.
func checkBlock(raw []byte) error {
	var last []byte
	for len(raw) > 0 {
		if len(raw) < offName {
			return fmt.Errorf("%w: truncated entry", ErrMalformed)
		}
		n := offName + int(binary.LittleEndian.Uint16(raw[offLen:]))
		if n >= len(raw) || n == offName || int(raw[offMode]) >= len(modeCodes) || raw[n] != 0 {
			return fmt.Errorf("%w: bad entry", ErrMalformed)
		}
		name := raw[offName:n]
		if bytes.Compare(name, last) <= 0 {
			return fmt.Errorf("%w: entries out of order", ErrMalformed)
		}
		last, raw = name, raw[n+nulLen:]
	}
	return nil
}
