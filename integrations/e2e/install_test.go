//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// The versions that are tested. An unpinned install gives other ones, depending on the
// node that runs npm.
const (
	nodePackage   = "node@22.23.3"
	piPackage     = "@earendil-works/pi-coding-agent@0.87.1"
	claudePackage = "@anthropic-ai/claude-code@2.1.329"
	codexPackage  = "@openai/codex@0.169.0"
	openPackage   = "opencode-linux-x64@1.18.33"
	geminiPackage = "@google/gemini-cli@0.61.0"
	qwenPackage   = "@qwen-code/qwen-code@0.24.4"
	mcpPackage    = "@modelcontextprotocol/sdk@1.32.2"

	pluginPackage     = "@opencode-ai/plugin@1.18.33"
	typescriptPackage = "typescript@5.9.3"
	nodeTypesPackage  = "@types/node@22.20.5"
)

// tier is how much of the tests was asked for by CAIRN_E2E: 1 pi, Claude Code, Codex,
// the type checks and the MCP client; 2 OpenCode, too; 3 everything.
func needTier(t *testing.T, tier int) {
	t.Helper()
	if want := os.Getenv("CAIRN_E2E"); want < fmt.Sprint(tier) {
		t.Skipf("CAIRN_E2E=%d runs this: it installs agents from the npm registry", tier)
	}
	t.Parallel()
}

// cacheDir is where packages are installed, once for all runs.
func cacheDir() string {
	if dir := os.Getenv("CAIRN_E2E_CACHE"); dir != "" {
		return dir
	}
	return filepath.Join(os.TempDir(), "cairn-e2e")
}

// installBound ends an install that hangs.
const installBound = 5 * time.Minute

var (
	npm       sync.Mutex // one install at a time: they share a cache, and a disk
	registry  sync.Once
	noInstall error // why nothing at all can be installed
)

// install returns the directory of node_modules that holds the packages, or skips the
// test: without the registry there is nothing to test with. Node comes first. If that
// cannot be had, nothing else is tried.
func install(t *testing.T, name string, packages ...string) string {
	t.Helper()
	registry.Do(func() { _, noInstall = installOnce(t, "node", nodePackage) })
	if noInstall != nil {
		t.Skipf("NOT TESTED: nothing can be installed here: %v", noInstall)
	}
	modules, err := installOnce(t, name, packages...)
	if err != nil {
		t.Skipf("NOT TESTED: %s cannot be installed here: %v", strings.Join(packages, ", "), err)
	}
	return modules
}

func installOnce(t *testing.T, name string, packages ...string) (modules string, err error) {
	t.Helper()
	npm.Lock()
	defer npm.Unlock()
	dir := filepath.Join(cacheDir(), name)
	lock := flock.New(dir + ".lock")
	if err := os.MkdirAll(cacheDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	modules = filepath.Join(dir, "node_modules")
	wanted := strings.Join(packages, "\n")
	if have, err := os.ReadFile(filepath.Join(dir, "installed")); err == nil && string(have) == wanted {
		return modules, nil
	}
	for range 2 { // registries have bad moments
		if err = installNow(dir, packages); err == nil {
			return modules, os.WriteFile(filepath.Join(dir, "installed"), []byte(wanted), 0o644)
		}
	}
	return "", err
}

func installNow(dir string, packages []string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o644); err != nil {
		return err
	}
	args := append([]string{"install", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error", "--fetch-retries=1"}, packages...)
	cmd := exec.Command("npm", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+nodeDir()+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.WaitDelay = time.Second
	timer := time.AfterFunc(installBound, func() {
		if cmd.Process != nil {
			cmd.Process.Kill()
		}
	})
	defer timer.Stop()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, last(out, 500))
	}
	return nil
}

// nodeDir is where the node lies that the agents want, which is newer than that of
// many systems. It is a package like any other.
func nodeDir() string { return filepath.Join(cacheDir(), "node", "node_modules", "node", "bin") }

func installNode(t *testing.T) string {
	t.Helper()
	install(t, "node", nodePackage)
	return filepath.Join(nodeDir(), "node")
}

func last(out []byte, n int) string {
	text := strings.TrimSpace(string(out))
	return text[max(0, len(text)-n):]
}
