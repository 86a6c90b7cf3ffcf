package object

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Mode is the mode of a tree entry as git stores it.
type Mode uint32

// The modes that git trees know. Gitlink is only ever read: cairn captures nested
// repositories as plain files.
const (
	Regular    Mode = 0o100644
	Executable Mode = 0o100755
	Symlink    Mode = 0o120000
	Dir        Mode = 0o040000
	Gitlink    Mode = 0o160000
)

// IsFile reports whether the mode is that of a regular file, executable or not.
func (m Mode) IsFile() bool { return m == Regular || m == Executable }

// String returns six octal digits, as git prints modes.
func (m Mode) String() string { return fmt.Sprintf("%06o", uint32(m)) }

// Entry is one line of a tree.
type Entry struct {
	Name string // any bytes but NUL and '/'
	Mode Mode
	ID   ID
}

// CompareEntries orders entries as git does: by name, a directory as if its name
// ended in '/'.
func CompareEntries(a, b Entry) int {
	return CompareNames(a.Name, a.Mode == Dir, b.Name, b.Mode == Dir)
}

// CompareNames is the order of CompareEntries for bare names.
func CompareNames(a string, aDir bool, b string, bDir bool) int {
	n := min(len(a), len(b))
	if c := strings.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	return int(byteAt(a, n, aDir)) - int(byteAt(b, n, bDir))
}

func byteAt(name string, i int, dir bool) byte {
	switch {
	case i < len(name):
		return name[i]
	case dir:
		return '/'
	}
	return 0
}

// SortEntries puts entries into git's order.
func SortEntries(entries []Entry) { slices.SortFunc(entries, CompareEntries) }

// AppendTree appends the encoding of entries, which must be sorted.
func AppendTree(dst []byte, entries []Entry) []byte {
	for i := range entries {
		dst = AppendEntry(dst, entries[i].Mode, entries[i].Name, entries[i].ID)
	}
	return dst
}

// AppendEntry appends the encoding of one line of a tree.
func AppendEntry[T string | []byte](dst []byte, mode Mode, name T, id ID) []byte {
	switch mode { // the usual ones at the price of a copy
	case Regular:
		dst = append(dst, "100644 "...)
	case Dir:
		dst = append(dst, "40000 "...)
	default:
		dst = append(strconv.AppendUint(dst, uint64(mode), 8), ' ')
	}
	dst = append(dst, name...)
	dst = append(dst, 0)
	return append(dst, id[:]...)
}

// ParseTree decodes a tree. It refuses names and orders that git's fsck refuses
// as dangerous: empty names, '/', '.', '..', duplicates and unsorted entries. It
// does not judge names that merely look like .git; see SafeName.
func ParseTree(data []byte) ([]Entry, error) {
	entries := make([]Entry, 0, len(data)/40+1)
	for len(data) > 0 {
		e, rest, err := parseEntry(data)
		if err != nil {
			return nil, err
		}
		if n := len(entries); n > 0 && CompareEntries(entries[n-1], e) >= 0 {
			return nil, fmt.Errorf("%w: tree entry %q out of order", ErrMalformed, e.Name)
		}
		if e.Mode == Dir && hasFile(entries, e.Name) {
			return nil, fmt.Errorf("%w: tree entry %q twice", ErrMalformed, e.Name)
		}
		entries = append(entries, e)
		data = rest
	}
	return entries, nil
}

// hasFile finds the duplicate that the order does not show: in git's order, others
// may lie between a file and a directory of the same name.
func hasFile(sorted []Entry, name string) bool {
	_, found := slices.BinarySearchFunc(sorted, Entry{Name: name, Mode: Regular}, CompareEntries)
	return found
}

func parseEntry(data []byte) (e Entry, rest []byte, err error) {
	digits, rest, blank := bytes.Cut(data, []byte{' '})
	name, rest, nul := bytes.Cut(rest, []byte{0})
	if !blank || len(digits) > len("100644") || !nul || len(rest) < len(e.ID) {
		return Entry{}, nil, fmt.Errorf("%w: truncated tree entry", ErrMalformed)
	}
	if e.Mode, err = parseMode(digits); err != nil {
		return Entry{}, nil, err
	}
	if e.Name = string(name); e.Name == "" || e.Name == "." || e.Name == ".." || bytes.IndexByte(name, '/') >= 0 {
		return Entry{}, nil, fmt.Errorf("%w: tree entry named %q", ErrMalformed, name)
	}
	copy(e.ID[:], rest)
	return e, rest[len(e.ID):], nil
}

// parseMode reads an octal mode. Trees of old tools hold 100664 and the like; git
// reads them as 644 or 755, and so does this.
func parseMode(digits []byte) (Mode, error) {
	raw, err := strconv.ParseUint(string(digits), 8, 16)
	if err != nil {
		return 0, fmt.Errorf("%w: tree entry mode %q", ErrMalformed, digits)
	}
	switch raw & 0o170000 {
	case 0o100000:
		if raw&0o100 != 0 {
			return Executable, nil
		}
		return Regular, nil
	case uint64(Dir), uint64(Symlink), uint64(Gitlink):
		return Mode(raw & 0o170000), nil
	}
	return 0, fmt.Errorf("%w: tree entry mode %q", ErrMalformed, digits)
}
