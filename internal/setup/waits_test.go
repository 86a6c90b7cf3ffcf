package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestV47_TimeForACommand: each agent waits ten minutes for the answer to a prompt, in
// its own unit. An entry of an earlier setup is brought up to that; a time that the user
// has chosen stays.
func TestV47_TimeForACommand(t *testing.T) {
	t.Parallel()
	for _, a := range agents() {
		i := slices.IndexFunc(a.events, func(e hookEvent) bool { return slices.Contains(promptEvents, e.name) })
		if a.settings == "" || i < 0 {
			continue
		}
		prompt := a.events[i].name
		made, err := a.with(nil, program)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			was  int // seconds
			want time.Duration
		}{{waited, 10 * time.Minute}, {patience, 10 * time.Minute}, {45, 45 * time.Second}} {
			text, err := parseText(made)
			if err != nil {
				t.Fatal(err)
			}
			f := hookFile{a, text}
			value, _ := member(f.entry(prompt, 0), "timeout")
			if err := f.replace(value, a.units(c.was)); err != nil {
				t.Fatal(err)
			}
			again, err := a.with(text.bytes(), program)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, a.settings), again, 0o600); err != nil {
				t.Fatal(err)
			}
			places := Places{Dirs: map[string]string{a.Name: dir}}
			if got := Waits(a.Name, places); got != c.want {
				t.Errorf("%s, from %d s: waits %v\n%s", a.Name, c.was, got, again)
			}
		}
	}
	if d := Waits("claude-code", Places{Dirs: map[string]string{"claude-code": t.TempDir()}}); d != 0 {
		t.Errorf("without entries: %v", d)
	}
}

// TestV50_WhatCodexAsks: the note tells what happens in the terminal and without one.
func TestV50_WhatCodexAsks(t *testing.T) {
	t.Parallel()
	a, err := agentOf("codex")
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(a.notes, "\n")
	for _, want := range []string{"Hooks need review", "codex exec", "/hooks"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not in %s", want, notes)
		}
	}
}
