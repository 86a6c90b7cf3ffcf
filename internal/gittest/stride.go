package gittest

import (
	"os"
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
