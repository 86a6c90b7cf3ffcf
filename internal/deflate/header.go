package deflate

// header is how a block tells its codes: the lengths of all codes, those of equal
// symbols in a row taken together, in a code of their own whose lengths come first.
type header struct {
	alphabet
	all   [lengthCodes + distanceCodes]uint8
	runs  [lengthCodes + distanceCodes]run
	nruns int

	nlengths, ndistances, nown int
}

// run is a symbol of the header and the bits that follow it.
type run struct{ symbol, extra uint8 }

const (
	repeat     = 16 // the length before, 3 to 6 times
	zeros      = 17 // no code, 3 to 10 times
	manyZeros  = 18 // no code, 11 to 138 times
	ownSymbols = 19
)

var runBits = [ownSymbols]uint{repeat: 2, zeros: 3, manyZeros: 7}

// ownOrder is in which order the lengths of the header's own code come.
var ownOrder = [ownSymbols]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// encode prepares the header of two codes.
func (h *header) encode(lengths, distances *alphabet) {
	h.nlengths, h.ndistances = used(lengths, lengthCodes, firstLength), used(distances, distanceCodes, 1)
	for i, c := range lengths.codes[:h.nlengths] {
		h.all[i] = uint8(c.len())
	}
	for i, c := range distances.codes[:h.ndistances] {
		h.all[h.nlengths+i] = uint8(c.len())
	}
	clear(h.counts[:ownSymbols])
	h.nruns = 0
	for all := h.all[:h.nlengths+h.ndistances]; len(all) > 0; {
		n := 1
		for n < len(all) && all[n] == all[0] {
			n++
		}
		h.addRuns(all[0], n)
		all = all[n:]
	}
	h.build(ownSymbols, 7)
	h.nown = ownSymbols
	for h.nown > 4 && h.codes[ownOrder[h.nown-1]] == 0 {
		h.nown--
	}
}

// used is how many symbols there are up to the last one that has a code.
func used(a *alphabet, n, least int) int {
	for n > least && a.codes[n-1] == 0 {
		n--
	}
	return n
}

// addRuns adds a length that comes n times in a row.
func (h *header) addRuns(length uint8, n int) {
	if length > 0 {
		h.addRun(length, 0)
		n--
	}
	for n > 0 {
		switch {
		case n < 3:
			h.addRun(length, 0)
			n--
		case length > 0:
			part := min(n, 6)
			h.addRun(repeat, part-3)
			n -= part
		case n < 11:
			h.addRun(zeros, n-3)
			n = 0
		default:
			part := min(n, 138)
			h.addRun(manyZeros, part-11)
			n -= part
		}
	}
}

func (h *header) addRun(symbol uint8, extra int) {
	h.runs[h.nruns] = run{symbol, uint8(extra)}
	h.nruns++
	h.counts[symbol]++
}

// bits is how many the header takes.
func (h *header) bits() int {
	n := 5 + 5 + 4 + 3*h.nown + h.alphabet.bits(ownSymbols, &h.codes)
	for symbol := repeat; symbol < ownSymbols; symbol++ {
		n += int(h.counts[symbol]) * int(runBits[symbol])
	}
	return n
}

func (h *header) write(w *writer) {
	w.bits(uint64(h.nlengths-firstLength), 5)
	w.bits(uint64(h.ndistances-1), 5)
	w.bits(uint64(h.nown-4), 4)
	w.flush()
	for _, symbol := range ownOrder[:h.nown] {
		w.bits(uint64(h.codes[symbol].len()), 3)
		w.flush()
	}
	for _, r := range h.runs[:h.nruns] {
		w.code(h.codes[r.symbol])
		w.bits(uint64(r.extra), runBits[r.symbol])
		w.flush()
	}
}
