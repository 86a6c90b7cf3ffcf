package trees

// random is the SplitMix64 generator: small, and the same on every machine and in
// every release of Go, which the synthetic trees depend on.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number in [0, n).
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// early returns a number in [0, n) that is small more often than large.
func (r *random) early(n int) int { return min(r.below(n), r.below(n)) }

// oneIn is true once in n times.
func (r *random) oneIn(n int) bool { return r.below(n) == 0 }
