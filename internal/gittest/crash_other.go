//go:build !linux

package gittest

import "testing"

func runTraced(t testing.TB, _, _ []string, _ string, _ bool, _ func(string) verdict) Crash {
	t.Helper()
	t.Skip("system calls can be counted on Linux only")
	return Crash{}
}

func runInGroup(t testing.TB, _, _ []string) Crash {
	t.Helper()
	t.Skip("runs in a process group belong to tests that trace, on Linux")
	return Crash{}
}
