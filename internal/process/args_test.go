package process

import (
	"os"
	"runtime"
	"slices"
	"testing"
)

// TestArgs: a process's own command line is as the process knows it.
func TestArgs(t *testing.T) {
	t.Parallel()
	self, ok := Self()
	if !ok {
		t.Skipf("processes cannot be seen here (%s)", runtime.GOOS)
	}
	if got := self.Args(); !slices.Equal(got, os.Args) {
		t.Errorf("%q, want %q", got, os.Args)
	}
	self.Start += "0"
	if got := self.Args(); got != nil {
		t.Errorf("of another process: %q", got)
	}
}

// TestParseProcArgs: the words stand between the program's path and the environment. A cut text has fewer.
func TestParseProcArgs(t *testing.T) {
	t.Parallel()
	const head = "\x02\x00\x00\x00"
	for data, want := range map[string][]string{
		head + "/bin/a\x00\x00\x00a\x00-b c\x00PATH=/x\x00": {"a", "-b c"},
		head + "/bin/a\x00a\x00":                            {"a"},
		head + "/bin/a\x00a\x00b":                           {"a"},
		head + "/bin/a":                                     nil,
		"\x02\x00":                                          nil,
		"\x00\x00\x00\x00/bin/a\x00a\x00":                   nil,
	} {
		if got := parseProcArgs([]byte(data)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	}
}
