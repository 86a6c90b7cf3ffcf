package gittest

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// OneDay is a clock for tests in which the days of UTC count. It goes from the noon of yesterday on, so it
// passes no midnight, and the clock of a process that the test starts is ahead.
func OneDay() time.Time { return yesterday.Add(time.Since(begun)) }

var (
	begun     = time.Now()
	yesterday = begun.UTC().Truncate(24 * time.Hour).Add(-12 * time.Hour)
)

// Stride is the distance between the system calls at which a test kills a process, or lets
// the call fail: a prime, so that calls which repeat in pairs or in fours are all visited.
// CAIRN_CRASH=all visits every call. CAIRN_CRASH=K/N visits every Nth from the Kth on, so
// that N runs with every K visit them all; .ci/run takes K from the commit. Without it a few
// calls are visited, with -short one to three.
func Stride() int {
	_, every, given := crashes()
	switch {
	case given:
		return every
	case brief():
		return 211
	case testing.Short():
		return 101
	}
	return 61
}

// First is the number of the first call that such a test visits, at most Stride.
func First() int {
	first, _, _ := crashes()
	return first
}

// FamilyStride is the distance where each visit runs many processes of git. CAIRN_CRASH=git visits
// every call; CAIRN_CRASH=all keeps to a time that fits into an hour.
func FamilyStride() int {
	switch os.Getenv("CAIRN_CRASH") {
	case "git":
		return 1
	case "all":
		return 11
	}
	return 3 * Stride()
}

// crashes reads CAIRN_CRASH: the first call to visit, and the distance where one is given.
func crashes() (first, every int, given bool) {
	wish := os.Getenv("CAIRN_CRASH")
	if wish == "all" {
		return 1, 1, true
	}
	if n, _ := fmt.Sscanf(wish, "%d/%d", &first, &every); n == 2 && 1 <= first && first <= every {
		return first, every, true
	}
	return 1, 0, false
}

// Full reports whether the tests do all that they can: with CAIRN_CRASH, as .ci/run sets it. Without it
// go test ./... is for everyday use, and -short for every change of a line.
func Full() bool { return os.Getenv("CAIRN_CRASH") != "" }

// brief reports whether the tests are for a change of a line: with -short, but not under the race detector,
// which sees only what runs, and not with CAIRN_CRASH, as .ci/run sets it for the tests on the disk.
func brief() bool { return testing.Short() && !Race && !Full() }

// Rounds is how often a random test repeats itself: a twentieth with -short, all with CAIRN_CRASH=all, else a quarter of
// it.
func Rounds(full int) int {
	switch _, every, _ := crashes(); {
	case brief():
		return max(1, full/20)
	case testing.Short():
		return max(1, full/10)
	case Full() && every <= 1:
		return full
	}
	return (full + 3) / 4
}

// Due reports whether it is the turn of the ith part of a test in a browser or with a server: all with
// CAIRN_CRASH=all, every other with K/N, the first or the second by K, else one in Step.
func Due(i int) bool {
	first, every, given := crashes()
	if given && every > 1 {
		return i%2 == first%2
	}
	return i%Step() == 0
}

// Step is the distance between the bytes of a file, the calls of a program or the scripts
// that a test goes through one by one: 1 if Full. The others have no divisor in common with the
// sizes of fields, so that each byte of a field is met in one record or another.
func Step() int {
	switch {
	case brief():
		return 11
	case testing.Short():
		return 7
	case Full():
		return 1
	}
	return 5
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

// Long skips a test with -short: it takes about a second of a processor or more.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what takes a second of a processor")
	}
}

// LongUnlessRace skips a test with -short, but neither under the race detector nor with CAIRN_CRASH: it takes
// half a second of a processor or more.
func LongUnlessRace(t testing.TB) {
	t.Helper()
	if brief() {
		t.Skip("-short leaves out what takes half a second of a processor")
	}
}

// Killed lets kill run a program that dies before its nth call, for every stride-th n from First on, until
// the program comes to its end, which has to be a success. check looks at what each kill leaves, and when
// says which kill it was. The test ends with the first kill after which it has failed.
func Killed(t *testing.T, stride int, kill func(n int) Crash, check func(when string)) {
	t.Helper()
	struck(t, First(), stride, kill, func(n int, crash Crash) {
		check(fmt.Sprintf("killed at call %d, %s", n, crash.Call))
	})
}

// Failed lets fail run a program whose nth call fails, for every stride-th n from first on, with the errnos
// in turn, until the program comes to its end, which has to be a success. A program with a failed call ends
// with status 0, or with status 1 and a message. check looks at what it leaves, and when says which failure
// it was. The test ends with the first failure after which it has failed.
func Failed(
	t *testing.T, errnos []syscall.Errno, first, stride int,
	fail func(n int, errno syscall.Errno) Crash, check func(when string, crash Crash),
) {
	t.Helper()
	errno := func(n int) syscall.Errno { return errnos[(n-first)/stride%len(errnos)] }
	struck(t, first, stride, func(n int) Crash { return fail(n, errno(n)) }, func(n int, crash Crash) {
		when := fmt.Sprintf("%s at call %d, %s", errno(n), n, crash.Call)
		if crash.ExitCode != 0 && (crash.ExitCode != 1 || crash.Stderr == "" && !crash.mute) {
			t.Fatalf("%s: %s", when, crash)
		}
		check(when, crash)
	})
}

// struck is the loop of Killed and Failed. A program without any such call is none that they were meant for.
func struck(t *testing.T, first, stride int, strike func(n int) Crash, check func(n int, crash Crash)) {
	t.Helper()
	n := first
	for ; ; n += stride {
		crash := strike(n)
		if !crash.Hit {
			if crash.ExitCode != 0 {
				t.Fatalf("undisturbed: %s: %s", crash, crash.Stderr)
			}
			if n == 1 {
				t.Fatalf("the program makes no such call: %s", crash)
			}
			break
		}
		check(n, crash)
		if t.Failed() {
			t.Fatalf("call %d: %s", n, crash)
		}
	}
	t.Logf("%d write-type system calls", n-1)
}
