package gittest

import (
	"os"
	"strconv"
	"testing"
)

// Stride is the distance between the system calls at which a test kills a process, or lets
// the call fail: a prime, so that calls which repeat in pairs or in fours are all visited.
// CAIRN_CRASH=all visits every call, as .ci/run does.
func Stride() int {
	switch {
	case os.Getenv("CAIRN_CRASH") == "all":
		return 1
	case testing.Short():
		return 23
	}
	return 7
}

// FamilyStride is the distance where each visit runs many processes of git. CAIRN_CRASH=git visits
// every call; CAIRN_CRASH=all keeps to the time that .ci/run has.
func FamilyStride() int {
	switch os.Getenv("CAIRN_CRASH") {
	case "git":
		return 1
	case "all":
		return 11
	}
	return 3 * Stride()
}

// Rounds is how often a random test repeats itself: -short thins it out to a fifth.
func Rounds(full int) int {
	if testing.Short() {
		return max(1, full/5)
	}
	return full
}

// Step is the distance between the bytes of a file, the calls of a program or the scripts
// that a test goes through one by one. That of -short has no divisor in common with the
// sizes of fields, so that each byte of a field is met in one record or another.
func Step() int {
	if testing.Short() {
		return 5
	}
	return 1
}

// SoakFactor returns how many times as long as usual the random tests take: the number in
// CAIRN_SOAK, or 1.
func SoakFactor() int {
	n, err := strconv.Atoi(os.Getenv("CAIRN_SOAK"))
	if err != nil || n < 1 {
		return 1
	}
	return n
}
