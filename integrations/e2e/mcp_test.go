//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// beside makes a directory in which programs find the modules that were installed
// elsewhere.
func beside(t *testing.T, modules string, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(file)), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestTypes: the adapters agree with what the agents declare.
func TestTypes(t *testing.T) {
	needTier(t, 1)
	node := installNode(t)
	check := func(name, modules string) {
		dir := beside(t, modules, "../"+name+"/cairn.ts", "../"+name+"/tsconfig.json", "../"+name+"/package.json")
		s := &sandbox{t: t, project: dir, net: newNetwork(t), env: []string{"HOME=" + dir, "PATH=/usr/bin:/bin"}}
		if out := s.run("", node, filepath.Join(modules, "typescript", "bin", "tsc"), "--noEmit"); out.status != 0 {
			t.Errorf("%s: %s%s", name, out.stdout, out.stderr)
		}
	}
	check("opencode", install(t, "opencode-types", pluginPackage, typescriptPackage, nodeTypesPackage))
	for _, v := range piVersions {
		check("pi", v.install(t))
	}
}

// TestMCPWithAnotherClient goes through everything with the protocol's TypeScript
// client.
func TestMCPWithAnotherClient(t *testing.T) {
	needTier(t, 1)
	node := installNode(t)
	dir := beside(t, install(t, "mcp", mcpPackage), "mcp.mjs")
	s := newSandbox(t)
	before := s.state()
	out := s.must(node, filepath.Join(dir, "mcp.mjs"), cairnProgram, s.project)
	var seen struct {
		Server                              string
		Tools, Destructive, Diff, Templates []string
		Untouched, Same                     bool
		Restored, Undone, Redone            struct{ Complete bool }
		Resources, Files, Missing           int
		Steps                               []struct {
			Name, Text string
			Error      bool
		}
	}
	if err := json.Unmarshal([]byte(out.stdout), &seen); err != nil {
		t.Fatalf("%v: %s", err, out.stdout)
	}
	if seen.Server != "cairn" || !seen.Untouched || !seen.Same || !seen.Restored.Complete || !seen.Undone.Complete || !seen.Redone.Complete {
		t.Errorf("%+v", seen)
	}
	if want := []string{"fork_remove", "merge", "redo", "restore", "resume", "revert", "session_redo", "session_revert", "session_undo", "session_unrevert", "undo"}; !slices.Equal(want, seen.Destructive) {
		t.Errorf("destructive: %q", seen.Destructive)
	}
	if want := []string{"added added.txt", "deleted gone.txt"}; !slices.Equal(want, seen.Diff) {
		t.Errorf("diff: %q", seen.Diff)
	}
	if seen.Resources != 1 || len(seen.Templates) != 2 || seen.Files < 10 || seen.Missing != -32602 {
		t.Errorf("resources: %+v", seen)
	}
	for i, step := range seen.Steps {
		fails := i >= len(seen.Steps)-2
		if step.Error != fails || fails && !strings.Contains(step.Text, "hint: ") {
			t.Errorf("%+v", step)
		}
	}
	gittest.AssertEqual(t, "after restore, undo and redo", before, s.state())
}
