package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/bench/internal/benchtest"
)

// TestFleet: a small fleet is measured in every form that this git has, and nothing is left behind.
func TestFleet(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	dir := t.TempDir()
	cache, file := filepath.Join(dir, "cache"), filepath.Join(dir, "fleet.json")
	opt := optionsOf(t, "-fleet", "50", "-checkpoints", "100", "-n", "1", "-quiet", "-cache", cache, "-json", file)
	var out bytes.Buffer
	if err := fleetLatency(t.Context(), opt, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var saved struct{ Samples []fleetSample }
	if err := json.Unmarshal(benchtest.ReadFile(t, file), &saved); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range saved.Samples {
		got = append(got, fmt.Sprint(s.Operation, " ", s.Form, " ", s.Refs, " ", s.Checkpoints))
		if s.Seconds <= 0 || s.CPUSeconds <= 0 {
			t.Errorf("%+v", s)
		}
	}
	b := &fleetBench{dir: dir, git: "git", processes: newProcesses(dir)}
	for _, form := range fleetForms {
		for _, beside := range []string{"0 0", "50 100"} {
			for _, operation := range []string{"push-turn", "fetch-session", "list"} {
				want := fmt.Sprint(operation, " ", form.name, " ", beside)
				if has := slices.Contains(got, want); has != (form.name != reftable || b.hasReftable()) {
					t.Errorf("measured %v: %s", has, want)
				}
			}
		}
	}
	if left := benchtest.ReadDir(t, cache); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFleetSizes(t *testing.T) {
	for most, want := range map[int][]int{150: {150}, 1000: {1000}, 20_000: {1000, 10_000, 20_000}} {
		if got := fleetSizes(most); !slices.Equal(got, want) {
			t.Errorf("up to %d: %v", most, got)
		}
	}
}
