//go:build linux

package e2e

import (
	"bytes"
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
	nodePackage    = "node@22.23.3"
	piPackage      = "@earendil-works/pi-coding-agent@1.5.2"
	piOlder        = "@earendil-works/pi-coding-agent@0.87.1" // the last line before 1.0
	claudePackage  = "@anthropic-ai/claude-code@2.1.330"
	codexPackage   = "@openai/codex@0.169.0"
	openPackage    = "opencode-linux-x64@1.18.33"
	geminiPackage  = "@google/gemini-cli@0.61.0"
	qwenPackage    = "@qwen-code/qwen-code@0.24.4"
	kiloPackage    = "@kilocode/cli-linux-x64@7.7.9"
	copilotPackage = "@github/copilot@1.0.102"
	droidPackage   = "@factory/cli-linux-x64@0.225.2"
	clinePackage   = "@cline/cli-linux-x64@3.0.65"
	mcpPackage     = "@modelcontextprotocol/sdk@1.32.2"

	jitiPackage    = "jiti@2.7.0"         // what pi's program does not bring along
	quickjsPackage = "quickjs-wasi@3.6.2" // for its scripts

	pluginPackage     = "@opencode-ai/plugin@1.18.33"
	typescriptPackage = "typescript@5.9.3"
	nodeTypesPackage  = "@types/node@22.20.5"
)

// tier is how much of the tests was asked for by CAIRN_E2E: 1 pi, Claude Code, Codex,
// the type checks and the MCP client; 2 OpenCode and the agents of further_test.go, too; 3 everything.
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
// test: without the registry there is nothing to test with. Node comes first. Without
// it nothing else is tried.
func install(t *testing.T, name string, packages ...string) string {
	t.Helper()
	return installBy(t, installNow, name, packages...)
}

// unpack is install without what the packages depend on: for programs that bring it along
// in their own package, while not every registry has it as packages.
func unpack(t *testing.T, name string, packages ...string) string {
	t.Helper()
	return installBy(t, unpackNow, name, packages...)
}

// installer puts packages into the node_modules of an empty directory.
type installer func(dir string, packages []string) error

func installBy(t *testing.T, how installer, name string, packages ...string) string {
	t.Helper()
	registry.Do(func() { _, noInstall = installOnce(t, installNow, "node", nodePackage) })
	if noInstall != nil {
		t.Skipf("NOT TESTED: nothing can be installed here: %v", noInstall)
	}
	modules, err := installOnce(t, how, name, packages...)
	if err != nil {
		t.Skipf("NOT TESTED: %s cannot be installed here: %v", strings.Join(packages, ", "), err)
	}
	return modules
}

func installOnce(t *testing.T, how installer, name string, packages ...string) (modules string, err error) {
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
		if err = afresh(dir, packages, how); err == nil {
			return modules, os.WriteFile(filepath.Join(dir, "installed"), []byte(wanted), 0o644)
		}
	}
	return "", err
}

func afresh(dir string, packages []string, how installer) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o644); err != nil {
		return err
	}
	return how(dir, packages)
}

func installNow(dir string, packages []string) error {
	_, err := runNPM(dir, append([]string{"install", "--no-audit", "--no-fund"}, packages...)...)
	return err
}

func unpackNow(dir string, packages []string) error {
	for _, name := range packages {
		archive, err := runNPM(dir, "pack", name)
		if err != nil {
			return err
		}
		at := filepath.Join(dir, "node_modules", name[:strings.LastIndexByte(name, '@')])
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		tar := exec.Command("tar", "-xzf", filepath.Join(dir, strings.TrimSpace(archive)), "-C", at, "--strip-components=1")
		if out, err := tar.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", name, err, last(out, 500))
		}
	}
	return nil
}

// runNPM returns what npm prints to its standard output.
func runNPM(dir string, args ...string) (string, error) {
	cmd := exec.Command("npm", append(args, "--no-progress", "--loglevel=error", "--fetch-retries=1")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+nodeDir()+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	timer := time.AfterFunc(installBound, func() {
		if cmd.Process != nil {
			cmd.Process.Kill()
		}
	})
	defer timer.Stop()
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, last(stderr.Bytes(), 500))
	}
	return string(out), nil
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
