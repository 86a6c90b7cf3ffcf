package git

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
	"unsafe"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// errIndex is wrapped by every error about the contents of an index.
var errIndex = errors.New("malformed index")

const (
	indexHeader = 12
	statSize    = 40 // from ctime to size, the mode among them

	flagAssumeValid = 0x8000
	flagExtended    = 0x4000
	flagStage       = 0x3000
	stageShift      = 12
	flagNameLen     = 0x0fff // maximum value: the name has at least this length

	flagSkipWorktree = 0x4000
	flagIntentToAdd  = 0x2000

	// maxIndexNames limits the names of a version 4 index, which are compressed, in multiples of
	// the file's size. Real indexes need less than one. Sixteen would take names of more than a
	// thousand bytes on average that nearly repeat each other.
	maxIndexNames = 16
)

// indexFile is one index file, read and checked entry by entry.
type indexFile struct {
	whole   []byte
	data    []byte // header, entries and extensions
	trailer []byte // the checksum, which may be all zero
	idSize  int
	version uint32
	names   string // what entries' names are parts of
	entries []entryRef
	link    *indexLink // nil unless the file builds on a shared one
	more    bool       // an extension holds what git cannot compute again
}

// readIndexFile reads a file, and checks it while it is being hashed.
func readIndexFile(path string, isSHA256 bool) (*indexFile, error) {
	h := sha1.New()
	if isSHA256 {
		h = sha256.New()
	}
	data, sum, err := readSummed(path, h)
	if err != nil {
		return nil, err
	}
	f, err := parseIndexFile(data, h.Size())
	if got := <-sum; got != nil && !bytes.Equal(got, data[len(data)-h.Size():]) {
		return nil, fmt.Errorf("%w: checksum does not match", errIndex)
	}
	return f, err
}

// parseIndexFile parses a file's contents, which must not change afterwards. The
// entries of a file that builds on another are not in order yet.
func parseIndexFile(data []byte, idSize int) (*indexFile, error) {
	end := len(data) - idSize
	f := &indexFile{whole: data, data: data[:end:end], trailer: data[end:], idSize: idSize}
	if err := f.parse(); err != nil || f.link != nil {
		return f, err
	}
	x := Index{files: [2]indexFile{*f}, entries: f.entries}
	return f, x.checkOrder()
}

// readSummed returns a file's contents, and on a channel the hash of all but the
// checksum at its end, or nil if that is all zero.
func readSummed(path string, h hash.Hash) (data []byte, sum <-chan []byte, err error) {
	f, info, err := openRegular(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info.Size() < int64(indexHeader+h.Size()) {
		return nil, nil, fmt.Errorf("%w: too short", errIndex)
	}
	if info.Size() > math.MaxUint32 {
		return nil, nil, fmt.Errorf("%w: larger than 4 GiB", errIndex)
	}
	data = make([]byte, info.Size())
	end := len(data) - h.Size()
	if _, err := f.ReadAt(data[end:], int64(end)); err != nil {
		return nil, nil, err
	}
	feed, sum := summer(h, len(data)/readPart+1, allZero(data[end:]))
	defer close(feed)
	for at := 0; at < end; at += readPart {
		part := data[at:min(at+readPart, end)]
		if _, err := io.ReadFull(f, part); err != nil {
			return nil, nil, err // the file shrank: git renames an index into place and does not truncate it
		}
		feed <- part
	}
	return data, sum, nil
}

// summer hashes the data fed to it, at most parts times, on the side. Closing feed
// makes it deliver the sum: nil if there is nothing to compare it with.
func summer(h hash.Hash, parts int, idle bool) (feed chan<- []byte, sum <-chan []byte) {
	in, out := make(chan []byte, parts), make(chan []byte, 1)
	go func() {
		for part := range in {
			if !idle {
				h.Write(part)
			}
		}
		if idle {
			out <- nil
			return
		}
		out <- h.Sum(nil)
	}()
	return in, out
}

// readPart is the number of bytes that are read before they are handed to the hash: large enough
// that the calls cost little, small enough to keep both goroutines busy.
const readPart = 256 << 10

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// parse reads header, entries and extensions.
func (f *indexFile) parse() error {
	if string(f.data[:4]) != "DIRC" {
		return fmt.Errorf("%w: no signature", errIndex)
	}
	f.version = binary.BigEndian.Uint32(f.data[4:])
	if f.version < 2 || f.version > 4 {
		return fmt.Errorf("%w: version %d is not known", errIndex, f.version)
	}
	count := int64(binary.BigEndian.Uint32(f.data[8:]))
	if count > int64(len(f.data)/(statSize+f.idSize+2)) {
		return fmt.Errorf("%w: too short for %d entries", errIndex, count)
	}
	f.entries = make([]entryRef, count)
	parseEntries := f.parsePlain
	if f.version == 4 {
		parseEntries = f.parseCompressed
	}
	end, err := parseEntries()
	if err != nil {
		return err
	}
	return f.parseExtensions(f.data[end:])
}

// fixedPart checks the part of an entry that precedes its name and returns where
// the name begins, and the length that the flags give it.
func (f *indexFile) fixedPart(at int) (next, nameLen int, err error) {
	next = at + statSize + f.idSize + 2
	if next > len(f.data) {
		return 0, 0, fmt.Errorf("%w: cut off in an entry", errIndex)
	}
	if _, ok := indexMode(binary.BigEndian.Uint32(f.data[at+24:])); !ok {
		return 0, 0, fmt.Errorf("%w: entry of an unknown mode", errIndex)
	}
	flags := binary.BigEndian.Uint16(f.data[next-2:])
	if flags&flagExtended != 0 {
		next += 2
		if f.version == 2 || next > len(f.data) {
			return 0, 0, fmt.Errorf("%w: extended flags in an entry that has none", errIndex)
		}
		if binary.BigEndian.Uint16(f.data[next-2:])&^(flagSkipWorktree|flagIntentToAdd) != 0 {
			return 0, 0, fmt.Errorf("%w: unknown flags in an entry", errIndex)
		}
	}
	return next, int(flags & flagNameLen), nil
}

// parsePlain reads entries of versions 2 and 3: the name is NUL-terminated, and
// padded so that the entry's size is a multiple of eight.
func (f *indexFile) parsePlain() (end int, err error) {
	// The bytes are not written to after this.
	f.names = unsafe.String(unsafe.SliceData(f.data), len(f.data))
	at := indexHeader
	for i := range f.entries {
		name, nameLen, err := f.fixedPart(at)
		if err != nil {
			return 0, err
		}
		n := bytes.IndexByte(f.data[name:], 0)
		if n < 0 || n != nameLen && (nameLen != flagNameLen || n < nameLen) {
			return 0, fmt.Errorf("%w: bad name in an entry", errIndex)
		}
		f.entries[i] = entryRef{fixed: uint32(at), name: uint32(name), len: uint32(n)}
		if at += (name + n - at + 8) &^ 7; at > len(f.data) {
			return 0, fmt.Errorf("%w: cut off in an entry", errIndex)
		}
	}
	return at, nil
}

// parseCompressed reads entries of version 4: a name is encoded as the number of bytes to drop from
// the end of the previous name, and the bytes to append.
func (f *indexFile) parseCompressed() (end int, err error) {
	limit := int(min(maxIndexNames*int64(len(f.data)), math.MaxUint32))
	names := make([]byte, 0, len(f.data))
	at, last := indexHeader, 0 // last is where the name before begins
	for i := range f.entries {
		next, _, err := f.fixedPart(at)
		if err != nil {
			return 0, err
		}
		drop, width := offsetInt(f.data[next:])
		next += width
		n := bytes.IndexByte(f.data[next:], 0)
		keep := len(names) - last - drop
		if width == 0 || n < 0 || keep < 0 {
			return 0, fmt.Errorf("%w: bad name in an entry", errIndex)
		}
		if len(names)+keep+n > limit {
			return 0, fmt.Errorf("%w: names are too long", errIndex)
		}
		start := len(names)
		names = append(names, names[last:last+keep]...)
		names = append(names, f.data[next:next+n]...)
		f.entries[i] = entryRef{fixed: uint32(at), name: uint32(start), len: uint32(len(names) - start)}
		at, last = next+n+1, start
	}
	f.names = unsafe.String(unsafe.SliceData(names), len(names))
	return at, nil
}

// offsetInt decodes the variable-width integer of pack offsets: seven bits a byte,
// the most significant first, one added at each continuation. width is 0 if it does
// not end, or is larger than any name.
func offsetInt(b []byte) (value, width int) {
	for i, c := range b {
		if value > math.MaxUint32>>8 {
			return 0, 0
		}
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, i + 1
		}
		value++
	}
	return 0, 0
}

// computed are the extensions that git computes again where they are missing: trees, what the work tree looks like,
// where entries lie in the file.
var computed = []string{"TREE", "UNTR", "FSMN", "EOIE", "IEOT"}

// parseExtensions finds the extensions that change the meaning of entries. Those with an upper-case
// name are optional; the others must be known.
func (f *indexFile) parseExtensions(data []byte) error {
	for len(data) > 0 {
		if len(data) < 8 {
			return fmt.Errorf("%w: cut off in an extension", errIndex)
		}
		name, size := string(data[:4]), binary.BigEndian.Uint32(data[4:])
		data = data[8:]
		if uint64(size) > uint64(len(data)) {
			return fmt.Errorf("%w: extension %q is cut off", errIndex, name)
		}
		switch {
		case name == "link":
			link, err := parseLink(data[:size], f.idSize)
			if err != nil {
				return err
			}
			f.link = link
		case name == "sdir":
		case 'A' <= name[0] && name[0] <= 'Z':
			f.more = f.more || !slices.Contains(computed, name)
		default:
			return fmt.Errorf("%w: extension %q is not known", errIndex, name)
		}
		data = data[size:]
	}
	return nil
}

// stage returns the merge stage of an entry of this file.
func (f *indexFile) stage(e entryRef) int {
	return int(f.data[int(e.fixed)+statSize+f.idSize]&(flagStage>>8)) >> (stageShift - 8)
}

// indexMode decodes the mode of an entry. As in git, only the owner's execute bit of the permission
// bits counts.
func indexMode(raw uint32) (object.Mode, bool) {
	switch m := object.Mode(raw & 0o170000); m {
	case object.Regular & 0o170000:
		if raw&0o100 != 0 {
			return object.Executable, true
		}
		return object.Regular, true
	case object.Symlink, object.Gitlink, object.Dir:
		return m, true
	}
	return 0, false
}
