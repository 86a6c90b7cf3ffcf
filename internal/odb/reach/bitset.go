package reach

// Bitset is a set of small numbers.
type Bitset []uint64

// NewBitset returns an empty set for the numbers below n.
func NewBitset(n int) Bitset { return make(Bitset, (n+63)/64) }

// Has reports whether i is in the set.
func (s Bitset) Has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// Set adds i and reports whether it was absent.
func (s Bitset) Set(i int) bool {
	if s.Has(i) {
		return false
	}
	s[i/64] |= 1 << (i % 64)
	return true
}
