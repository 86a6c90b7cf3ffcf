package pack

import "math"

// applyDelta applies a delta to its base. Results above limit bytes are refused: a few
// bytes of delta can ask for gigabytes.
func applyDelta(base, delta []byte, limit int64) ([]byte, error) {
	baseSize, delta, err := deltaSize(delta)
	if err != nil {
		return nil, err
	}
	size, delta, err := deltaSize(delta)
	if err != nil {
		return nil, err
	}
	if baseSize != int64(len(base)) {
		return nil, Corrupt("delta against %d bytes, its base has %d", baseSize, len(base))
	}
	if size > limit {
		return nil, Corrupt("delta that makes %d bytes", size)
	}
	out := make([]byte, 0, min(size, readFirst))
	for len(delta) > 0 {
		var piece []byte
		if piece, delta, err = deltaStep(base, delta); err != nil {
			return nil, err
		}
		if int64(len(piece)) > size-int64(len(out)) {
			return nil, Corrupt("delta that makes more than its %d bytes", size)
		}
		out = append(out, piece...)
	}
	if int64(len(out)) != size {
		return nil, Corrupt("delta that makes %d bytes instead of %d", len(out), size)
	}
	return out, nil
}

// deltaSize decodes one of the two sizes that a delta begins with.
func deltaSize(delta []byte) (size int64, rest []byte, err error) {
	var n uint64
	for i, b := range delta {
		if i > 8 {
			break
		}
		n |= uint64(b&0x7f) << (7 * i)
		if b&0x80 == 0 {
			if n > math.MaxInt64 {
				break
			}
			return int64(n), delta[i+1:], nil
		}
	}
	return 0, nil, Corrupt("delta with an endless or truncated size")
}

// deltaStep decodes one instruction: a copy from the base or bytes to insert.
func deltaStep(base, delta []byte) (piece, rest []byte, err error) {
	op, rest := delta[0], delta[1:]
	if op == 0 {
		return nil, nil, Corrupt("delta with a reserved instruction")
	}
	if op&0x80 == 0 {
		if int(op) > len(rest) {
			return nil, nil, Corrupt("delta ends within an insertion")
		}
		return rest[:op], rest[op:], nil
	}
	var arg [7]byte // offset in four bytes, size in three, little-endian
	for i := range arg {
		if op&(1<<i) == 0 {
			continue
		}
		if len(rest) == 0 {
			return nil, nil, Corrupt("delta ends within a copy")
		}
		arg[i], rest = rest[0], rest[1:]
	}
	off := int64(arg[0]) | int64(arg[1])<<8 | int64(arg[2])<<16 | int64(arg[3])<<24
	size := int64(arg[4]) | int64(arg[5])<<8 | int64(arg[6])<<16
	if size == 0 {
		size = 0x10000
	}
	if off+size > int64(len(base)) {
		return nil, nil, Corrupt("delta copies from beyond its base")
	}
	return base[off : off+size], rest, nil
}
