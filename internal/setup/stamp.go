package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// sumLength is the length of a sum, in hex digits.
const sumLength = 12

// stamped puts a sum of a text behind the marker in it. By that a setup of any version tells a file that setup has made
// from one that the user has edited.
func stamped(text string) string { return strings.Replace(text, marker, marker+" "+sumOf(text), 1) }

// bare returns a text without its sum, and whether the sum is right.
func bare(text string) (was string, right bool) {
	before, after, _ := strings.Cut(text, marker+" ")
	if len(after) < sumLength {
		return text, false
	}
	if was = before + marker + after[sumLength:]; sumOf(was) != after[:sumLength] {
		return text, false
	}
	return was, true
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:sumLength]
}
