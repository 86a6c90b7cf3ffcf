package index

import (
	"encoding/binary"
	"unsafe"
)

// longPath is the length from which on paths share memory and room in a base. In a chain of ten thousand
// directories, each path on its own would take 150 MB together.
const longPath = 512

// Extend returns dir+more and the bytes of that path, with room behind them, for a path that extends it in
// turn. A long path is written behind dir into room, which holds the bytes of dir or is nil. The caller gives
// room up: two paths in one room would overwrite each other. Nothing else writes to these bytes.
func Extend(room []byte, dir, more string) (path string, its []byte) {
	size := len(dir) + len(more)
	if size < longPath {
		return dir + more, nil
	}
	if room == nil {
		room = append(make([]byte, 0, size), dir...)
	}
	its = append(room, more...)
	return unsafe.String(unsafe.SliceData(its), size), its
}

// continued marks the length of a path in a base. The rest of the length counts the bytes that the path has in
// common with the one before it; the bytes after these follow as a piece. An earlier release takes such a base
// for malformed and scans without it.
const continued = 1 << 31

// appendPath appends the path of a block that follows the block of path before.
func appendPath(out []byte, path, before string) []byte {
	if len(path) < longPath {
		return appendPiece(out, path)
	}
	same := commonPrefix([]byte(path), []byte(before))
	out = binary.LittleEndian.AppendUint32(out, continued|uint32(same))
	return appendPiece(out, path[same:])
}

// path is the inverse of appendPath.
func (r *reader) path() string {
	if len(r.data) < 4 || binary.LittleEndian.Uint32(r.data)&continued == 0 {
		r.before, r.room = string(r.piece()), nil
		return r.before
	}
	same := int(binary.LittleEndian.Uint32(r.next(4)) &^ continued)
	if same > len(r.before) {
		r.data, r.short = nil, true
		return ""
	}
	if same < len(r.before) {
		r.room = nil
	}
	r.before, r.room = Extend(r.room, r.before[:same], string(r.piece()))
	return r.before
}
