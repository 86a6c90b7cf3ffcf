//go:build !linux

package gittest

import "testing"

// AppendOnly skips the test: only Linux makes a directory take additions alone.
func AppendOnly(t testing.TB, _ string) {
	t.Helper()
	t.Skip("no directory takes additions alone here")
}
