package process

import (
	"bytes"
	"encoding/binary"
)

// Args returns the command line of a running process, its program first. It is nil where the process is
// gone, or belongs to another user, or the system does not tell. A program may have overwritten it.
func (id ID) Args() []string {
	if id.State() != Alive {
		return nil
	}
	return args(id.PID)
}

// parseProcArgs reads what macOS tells of a process: the number of the words in four bytes, the path of the
// program, NULs, the words, each with a NUL behind it, and the environment.
func parseProcArgs(data []byte) []string {
	if len(data) < 4 {
		return nil
	}
	count := int(binary.NativeEndian.Uint32(data))
	path := bytes.IndexByte(data[4:], 0)
	if path < 0 {
		return nil
	}
	rest := bytes.TrimLeft(data[4+path:], "\x00")
	var words []string
	for len(words) < count {
		word, after, found := bytes.Cut(rest, []byte{0})
		if !found {
			break
		}
		words, rest = append(words, string(word)), after
	}
	return words
}
