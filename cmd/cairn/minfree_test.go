package main

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
)

// TestMinFreeOfACleaning: a cleaning and a way back work where less of the disk is free than is to stay free. A cleaning
// that a command starts in the background has the command's limit.
func TestMinFreeOfACleaning(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	s.variables["CAIRN_MIN_FREE_BYTES"] = "100000G" // more than the disk has
	s.variables["CAIRN_KEEP_LAST"], s.variables["CAIRN_MAX_COUNT"] = "1", "1"
	for _, text := range []string{"1\n", "2\n", "3\n"} {
		s.write("a", text)
		s.must("--min-free", "0", "track")
	}
	s.write("a", "4\n")
	if _, stderr, status := s.run("", "track"); status == cli.ExitDone {
		t.Errorf("there is room: %s", stderr)
	}
	s.must("du")
	s.must("gc", "--thorough")
	s.must("restore", "@")
	s.must("undo")

	stores, err := filepath.Glob(filepath.Join(s.home, ".local", "share", "cairn", "snapshot", "*"))
	if err != nil || len(stores) != 1 {
		t.Skip("the data directory lies elsewhere on this system")
	}
	makeDue(t, stores[0])
	var started []string
	c := newProgram(nil, io.Discard, io.Discard, func(name string) string { return s.variables[name] }, s.project)
	c.Spawn = func(args []string) error { started = args; return nil }
	if status := c.Run(t.Context(), []string{"--min-free", "0", "track"}); status != cli.ExitDone || !slices.Contains(started, "gc") {
		t.Fatalf("status %d, started %q", status, started)
	}
	if i := slices.Index(started, "--min-free"); i < 0 || started[i+1] != "0" {
		t.Errorf("started %q", started)
	}
	s.must(started...)
}

// TestMinFreeInDoctor: a store that takes nothing new, because too little is free on its disk, is no healthy one.
func TestMinFreeInDoctor(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	s.write("a", "1\n")
	s.must("--min-free", "0", "track")
	stdout, _, status := s.run("", "--min-free", "100000G", "doctor")
	if status != cli.ExitFailed || !strings.Contains(stdout, "are to stay free") || !strings.Contains(stdout, "min_free_bytes") {
		t.Errorf("status %d: %s", status, stdout)
	}
	if stdout, _, status := s.run("", "--min-free", "0", "doctor"); status != cli.ExitDone {
		t.Errorf("without a limit: status %d: %s", status, stdout)
	}
}
