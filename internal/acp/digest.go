package acp

const (
	maxText   = 64 << 10 // of a string in a digest, in bytes
	maxLate   = 1 << 10  // of a string once half of the digest is full: the rest is for the structure
	maxDigest = 1 << 20
)

// digest is a JSON text whose long strings are cut, so that it fits into memory. It is a JSON text
// if the input is one.
type digest struct {
	data   []byte
	inside bool // a string
	text   int  // bytes of the string so far
	escape int  // bytes to come of an escape sequence; -1 = the next byte tells
	cut    bool // the rest of the string is left out
	lost   bool // the input has more structure than a digest holds
}

func (d *digest) add(data []byte) {
	for _, b := range data {
		switch {
		case d.lost:
			return
		case d.inside:
			d.addText(b)
		default:
			d.store(b)
			d.inside, d.text, d.cut = b == '"', 0, false
		}
	}
}

// addText adds a byte of a string. A string is cut between two characters of its JSON form.
func (d *digest) addText(b byte) {
	switch {
	case d.escape < 0 && b == 'u':
		d.escape = 4
	case d.escape < 0:
		d.escape = 0
	case d.escape > 0:
		d.escape--
	case b == '"':
		d.inside = false
		d.store(b)
		return
	default:
		d.cut = d.text >= maxText || d.text >= maxLate && len(d.data) > maxDigest/2
		if b == '\\' {
			d.escape = -1
		}
	}
	d.text++
	if !d.cut {
		d.store(b)
	}
}

func (d *digest) store(b byte) {
	if len(d.data) == maxDigest {
		d.data, d.lost = nil, true
		return
	}
	d.data = append(d.data, b)
}
