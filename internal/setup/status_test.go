package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/known"
)

func statusOf(t *testing.T, p Places, name string) Status {
	t.Helper()
	list := Statuses(p)
	i := slices.IndexFunc(list, func(s Status) bool { return s.Agent == name })
	if i < 0 {
		t.Fatalf("%s is not among %+v", name, list)
	}
	return list[i]
}

func TestLook(t *testing.T) {
	t.Parallel()
	for _, a := range agents() {
		p, home := places(t)
		if s := statusOf(t, p, a.Name); s.Found || s.SetUp {
			t.Errorf("%s before it is there: %+v", a.Name, s)
		}
		if err := os.MkdirAll(a.home(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if s := statusOf(t, p, a.Name); !s.Found || s.SetUp || s.Err != nil {
			t.Errorf("%s before setup: %+v", a.Name, s)
		}
		cairn := filepath.Join(home, "bin", "cairn.exe")
		apply(t, a.Name, Options{Places: p, Program: []string{cairn}})
		s := statusOf(t, p, a.Name)
		if !s.SetUp || !s.Complete || s.Program[0] != cairn || s.Unfit != "is not there" {
			t.Errorf("%s after setup: %+v", a.Name, s)
		}
		write(t, cairn, "")
		if s := statusOf(t, p, a.Name); s.Unfit != "is not executable" && runtime.GOOS != "windows" {
			t.Errorf("%s with a program without permission to run: %+v", a.Name, s)
		}
		if err := os.Chmod(cairn, 0o700); err != nil {
			t.Fatal(err)
		}
		if s := statusOf(t, p, a.Name); s.Unfit != "" {
			t.Errorf("%s: %+v", a.Name, s)
		}
		lost := "SessionStart"
		if len(a.events) > 0 {
			lost = a.events[0].name
		}
		write(t, s.File, strings.Replace(contents(t, s.File), lost, "Elsewhere", 1)+"\n")
		if s := statusOf(t, p, a.Name); s.Complete && !a.Tools { // a tool server has one entry
			t.Errorf("%s after an entry was taken out: %+v", a.Name, s)
		}
		if a.settings != "" {
			write(t, s.File, "{")
			if s := statusOf(t, p, a.Name); s.Err == nil {
				t.Errorf("%s with a broken file: %+v", a.Name, s)
			}
		}
	}
}

func TestR124_UnreviewedHooksOfCodex(t *testing.T) {
	t.Parallel()
	p, home := places(t)
	config, hooks := filepath.Join(home, "codex", "config.toml"), filepath.Join(home, "codex", "hooks.json")
	write(t, hooks, `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "guard"}]}]}}`)
	apply(t, "codex", Options{Places: p, Program: program})
	all := len(statusOf(t, p, "codex").Unreviewed)
	if all != 8 {
		t.Errorf("%d entries are not reviewed", all)
	}
	write(t, config, fmt.Sprintf("model = \"x\"\n[hooks.state.%q]\ntrusted_hash = \"sha256:00\"\n", hooks+":pre_tool_use:1:0"))
	got := statusOf(t, p, "codex").Unreviewed
	if len(got) != all-1 || slices.Contains(got, "PreToolUse") {
		t.Errorf("%q", got)
	}
	write(t, config, fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = \"sha256:00\"\nenabled = false\n", hooks+":pre_tool_use:1:0"))
	if got := statusOf(t, p, "codex").Unreviewed; len(got) != all {
		t.Errorf("with a hook that is switched off: %q", got)
	}
	write(t, config, "no toml")
	if got := statusOf(t, p, "codex").Unreviewed; len(got) != all {
		t.Errorf("%q", got)
	}
}

// TestNoConfigurationWithoutHome: without a home directory no file of the current directory is taken for the user's.
func TestNoConfigurationWithoutHome(t *testing.T) {
	t.Parallel()
	a, err := agentOf("codex")
	if err != nil {
		t.Fatal(err)
	}
	if got := a.configuration(Places{Project: t.TempDir()}); got != "" {
		t.Errorf("%s", got)
	}
}

// TestStatusOfAFIFO: nothing waits for the other end of a FIFO in the place of an agent's file.
func TestStatusOfAFIFO(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no FIFO here")
	}
	p, _ := places(t)
	for _, a := range agents() {
		made := a.settingsPath(p)
		if made == "" {
			made = filepath.Join(a.home(p), filepath.FromSlash(a.files([]string{"cairn"})[0].path))
		}
		gittest.Create(t, filepath.Dir(made), gittest.Tree{filepath.Base(made): gittest.FIFO()})
		if a.Name == known.Codex {
			gittest.Create(t, a.home(p), gittest.Tree{"config.toml": gittest.FIFO()})
		}
	}
	done := make(chan []Status, 1)
	go func() {
		for _, a := range agents() {
			Waits(a.Name, p)
		}
		done <- Statuses(p)
	}()
	select {
	case list := <-done:
		for _, s := range list {
			if s.Err == nil || s.SetUp {
				t.Errorf("%+v", s)
			}
		}
	case <-time.After(20 * time.Second):
		t.Fatal("a FIFO is waited for")
	}
}
