package wording

// Slips counts the letters that were left out, added, exchanged with the next one, or replaced: the
// optimal string alignment distance.
func Slips(a, b string) int {
	older, old := []int(nil), make([]int, len(b)+1)
	for j := range old {
		old[j] = j
	}
	for i := range len(a) {
		row := []int{i + 1}
		for j := range len(b) {
			d := old[j]
			if a[i] != b[j] {
				d++
			}
			d = min(d, old[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, older[j-1]+1)
			}
			row = append(row, d)
		}
		older, old = old, row
	}
	return old[len(b)]
}

// Nearest returns the word that is at most slips away from a text, and nearer than any before it,
// "" for none. A word of which no letter is left does not count.
func Nearest(text string, words []string, slips int) string {
	best, at := "", slips+1
	for _, word := range words {
		if d := Slips(text, word); d < at && d < len(word) {
			best, at = word, d
		}
	}
	return best
}
