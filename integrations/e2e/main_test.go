//go:build linux

// Package e2e runs cairn with the real agents, headless, against a model that plays
// scripts on loopback: they write, edit, delete and move files through their tools and
// through the shell, and cairn takes it back, byte for byte.
//
//	CAIRN_E2E=1 go test ./integrations/e2e      pi, Claude Code, Codex, MCP, type checks
//	CAIRN_E2E=2 ...                             OpenCode, Kilo CLI, Copilot CLI, Droid and Cline, too
//	CAIRN_E2E=3 ...                             Gemini CLI and Qwen Code, too
//
// The agents come from the npm registry, each in a pinned version, and are kept in
// CAIRN_E2E_CACHE (by default cairn-e2e in the directory for temporary files; 2.5 GB
// with everything). Missing ones are skipped and named. Homes are made up,
// keys too, and where the system allows it the agents run in a network namespace that
// has nothing but loopback.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	if os.Getenv("CAIRN_E2E") == "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "cairn-e2e-program")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	cairnProgram = filepath.Join(dir, "cairn")
	for program, tags := range map[string]string{cairnProgram: "lean", cairnProgram + "-full": ""} { // as a release has them
		if out, err := exec.Command("go", "build", "-tags", tags, "-o", program, "../../cmd/cairn").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build cairn: %v\n%s", err, out)
			return 1
		}
	}
	return m.Run()
}
