package linediff

// A line that the other text lacks is a change whatever the search finds, so the
// search need not see it. A line that is very common in the other text says
// little about where it belongs; amid lines without a match it is taken for a
// change as well, which keeps stray braces and blank lines from tearing a
// rewritten block apart.

const (
	commonCap     = 1024 // a line that occurs so often is common in any text
	discardReach  = 100  // how far around a common line its neighbours count
	discardFactor = 3    // unmatched neighbours needed for each common one
)

type rarity uint8

const (
	matched   rarity = iota // the other text has it
	unmatched               // the other text lacks it
	common                  // the other text has it very often
)

// roughRoot returns the power of two next above the square root: 2 to half the
// number of bits of n, rounded up.
func roughRoot(n int) int {
	root := 1
	for ; n > 0; n >>= 2 {
		root *= 2
	}
	return root
}

// rarities classifies the lines of one side by their number in the other text.
// lines is the length of the whole text the lines are of.
func rarities(ids []int32, inOther []int32, lines int) []rarity {
	limit := int32(min(roughRoot(lines), commonCap))
	class := make([]rarity, len(ids))
	for i, id := range ids {
		switch n := inOther[id]; {
		case n == 0:
			class[i] = unmatched
		case n >= limit:
			class[i] = common
		}
	}
	return class
}

// matchable returns the lines worth matching and where they were; it marks the others
// in changed.
func matchable(ids []int32, class []rarity, changed []bool) (lines, at []int32) {
	n := 0
	for i := range ids {
		changed[i] = class[i] == unmatched || class[i] == common && lost(class, i)
		if !changed[i] {
			n++
		}
	}
	lines, at = make([]int32, 0, n), make([]int32, 0, n)
	for i, id := range ids {
		if !changed[i] {
			lines = append(lines, id)
			at = append(at, int32(i))
		}
	}
	return lines, at
}

// lost reports whether the common line i stands amid unmatched lines: there are
// some on both sides of it and, up to the next matched line or the reach, more
// than discardFactor times as many as common ones. The line itself counts as
// common once for either direction.
func lost(class []rarity, i int) bool {
	var before, after [3]int
	for j := i - 1; j >= max(0, i-discardReach) && class[j] != matched; j-- {
		before[class[j]]++
	}
	if before[unmatched] == 0 {
		return false
	}
	for j := i + 1; j <= min(len(class)-1, i+discardReach) && class[j] != matched; j++ {
		after[class[j]]++
	}
	if after[unmatched] == 0 {
		return false
	}
	return before[unmatched]+after[unmatched] > discardFactor*(before[common]+after[common]+2)
}
