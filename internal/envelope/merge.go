package envelope

// MostParts is the number of parts beyond which the newest are written again as one. A part is a ref on the
// remote and a line of the note.
const MostParts = 64

// MergeFrom returns the index from which parts are to be written again as one. It is len(parts), for none, as long as
// there are fewer than most. fixed parts stay: they hold lines that the store no longer has. A merge takes at least
// half of most away. A large part is not sent again for every few small ones: it is taken along only where the newer
// ones together have half its size. So each byte is sent again about as often as the size of the store doubles.
func MergeFrom(parts []Part, fixed, most int) int {
	if len(parts) < most || len(parts)-fixed < most/2 {
		return len(parts)
	}
	from, size := len(parts), int64(0)
	for from > fixed && (len(parts)-from < most/2 || parts[from-1].Size <= 2*size) {
		from--
		size += parts[from].Size
	}
	return from
}
