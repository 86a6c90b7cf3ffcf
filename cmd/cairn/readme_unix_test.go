//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// TestReadme runs the examples of README.md and of the pages in docs. A block of code is
// known by the beginning of its first line; one that is not known fails, so that every
// example has a test. The block for the library is tested by TestReadmeLibrary in the root
// package.
func TestReadme(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	examples := map[string]func(*readme, []string){
		"$ cairn track":            (*readme).firstSession,
		"go run ./cmd/cairn track": (*readme).fromClone,
		"CGO_ENABLED=0 go install": (*readme).install,
		"cairn setup claude-code":  (*readme).setup,
		`"agent_servers": {`:       (*readme).editor,
		"cd integrations/vscode":   (*readme).extension,
		"cairn track [-m TEXT]":    (*readme).manual,
		"cairn serve  ":            (*readme).serve,
		"cairn help --man":         (*readme).manualPages,
		"before=$(cairn track":     (*readme).whileTheModelThinks,
		`max_age = "14d"`:          (*readme).settings,
		"repo, err := cairn.Open":  func(*readme, []string) {},
	}
	for _, block := range documented(t) {
		run := (func(*readme, []string))(nil)
		for first, f := range examples {
			if strings.HasPrefix(block[0], first) {
				run = f
				delete(examples, first)
			}
		}
		if run == nil {
			t.Errorf("no test runs this example: give it one here\n%s", strings.Join(block, "\n"))
			continue
		}
		t.Run(strings.Fields(block[0])[0], func(t *testing.T) {
			t.Parallel()
			run(newReadme(t), block)
		})
	}
	for first := range examples {
		t.Errorf("no page has an example that begins with %q any more", first)
	}
}

// documented returns the blocks of README.md and of the pages in docs.
func documented(t *testing.T) (list [][]string) {
	t.Helper()
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		list = append(list, blocks(t, page)...)
	}
	return list
}

// blocks returns the indented blocks of a Markdown file, without their indentation.
func blocks(t *testing.T, path string) (list [][]string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var block []string
	for line := range strings.Lines(string(data) + "\nend\n") {
		code, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		switch {
		case ok:
			block = append(block, code)
		case strings.TrimSpace(line) == "" && block != nil:
			block = append(block, "")
		case block != nil:
			for block[len(block)-1] == "" {
				block = block[:len(block)-1]
			}
			list, block = append(list, block), nil
		}
	}
	return list
}

// readme is a home with a project in which an example is run.
type readme struct {
	*testing.T
	home, project string
}

func newReadme(t *testing.T) *readme {
	home, err := os.MkdirTemp("", "readme") // short: sockets have short paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	r := &readme{t, home, filepath.Join(home, "project")}
	r.write("main.go", "package main\n\nfunc main() {}\n")
	r.write("notes.txt", "note\n")
	return r
}

func (r *readme) write(name, text string) {
	r.Helper()
	path := filepath.Join(r.project, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
		r.Fatal(err)
	}
}

func (r *readme) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(r.Context(), name, args...)
	cmd.Dir = r.project
	cmd.Env = []string{"HOME=" + r.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
	return cmd
}

// manualPages runs the line, and looks for a page where man looks for it.
func (r *readme) manualPages(block []string) {
	r.sh(block[0])
	if _, err := os.Stat(filepath.Join(r.home, ".local", "share", "man", "man1", "cairn-restore.1")); err != nil {
		r.Error(err)
	}
}

// sh runs a line of an example, which has to succeed.
func (r *readme) sh(line string) string {
	r.Helper()
	cmd := r.command("sh", "-ec", line)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.Errorf("%s: %v\n%s%s", line, err, out, stderr.String())
	}
	return string(out)
}

// firstSession runs what stands behind a $, and compares what is printed, but for ids.
func (r *readme) firstSession(block []string) {
	digits := regexp.MustCompile(`\b[0-9a-f]{40}\b`)
	var want, got strings.Builder
	for _, line := range block {
		line, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case !isCommand:
			want.WriteString(digits.ReplaceAllString(line, "ID") + "\n")
		case strings.HasPrefix(line, "... an agent works: main.go is edited, notes.txt deleted, out.txt created ..."):
			r.write("main.go", "package main\n\nfunc main() { println() }\n")
			r.sh("rm notes.txt; echo out > out.txt")
		default:
			out := r.sh(line)
			if !strings.HasPrefix(line, "cairn undo") && !strings.HasPrefix(line, "cairn redo") { // their answers are left out
				got.WriteString(digits.ReplaceAllString(out, "ID"))
			}
		}
	}
	if got.String() != want.String() {
		r.Errorf("printed\n%swant\n%s", got.String(), want.String())
	}
	if r.sh("ls") != "main.go\nnotes.txt\n" { // the restore was undone and done again
		r.Errorf("%s", r.sh("ls"))
	}
}

// fromClone looks whether the paths in the commands are there; to run the tests from a test
// goes nowhere.
func (r *readme) fromClone(block []string) {
	r.mentions(block, "go run ./cmd/cairn track", "go test ./...")
	if out, err := exec.CommandContext(r.Context(), "go", "list", "-f", "{{.Name}}", "../../cmd/cairn").Output(); err != nil || string(out) != "main\n" {
		r.Errorf("%q, %v", out, err)
	}
}

func (r *readme) mentions(block []string, lines ...string) {
	r.Helper()
	for i, line := range block {
		if code, _, _ := strings.Cut(line, "  "); i >= len(lines) || code != lines[i] {
			r.Errorf("%q is not what this test knows", line)
		}
	}
}

// install compares the path with the module's; to install it would need the network.
func (r *readme) install(block []string) {
	data, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		r.Fatal(err)
	}
	module, _, _ := strings.Cut(strings.TrimPrefix(string(data), "module "), "\n")
	r.mentions(block, "CGO_ENABLED=0 go install "+module+"/cmd/cairn@latest")
}

// editor parses the settings of an editor. TestACP runs what they start.
func (r *readme) editor(block []string) {
	var settings struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"agent_servers"`
	}
	err := json.Unmarshal([]byte("{"+strings.Join(block, "\n")+"}"), &settings)
	if server := settings.Servers["Gemini with cairn"]; err != nil || server.Command != "cairn" || len(server.Args) < 3 || server.Args[0] != "acp" || server.Args[1] != "--" {
		r.Errorf("%q is not what this test knows: %v", block, err)
	}
}

// extension compares with the files of the extension, which .ci/run packs.
func (r *readme) extension(block []string) {
	data, err := os.ReadFile(filepath.Join("..", "..", "integrations", "vscode", "package.json"))
	if err != nil {
		r.Fatal(err)
	}
	var manifest struct {
		Name, Version string
		Scripts       map[string]string
	}
	if err := json.Unmarshal(data, &manifest); err != nil || manifest.Scripts["package"] == "" {
		r.Fatal(err, manifest)
	}
	r.mentions(block, "cd integrations/vscode && npm ci --ignore-scripts && npm run package",
		"code --install-extension "+manifest.Name+"-"+manifest.Version+".vsix")
}

// setup sets up each agent, previews it, and removes it.
func (r *readme) setup(block []string) {
	r.mentions(block, "cairn setup claude-code")
	for _, name := range known.Names() {
		r.sh("cairn setup " + name + " --dry-run; cairn setup " + name + " --project; cairn setup " + name + " --project --remove")
		r.sh("cairn setup " + name + "; cairn setup " + name + " --remove")
	}
}

// manual asks the help of every command that is listed for the options that the line names.
func (r *readme) manual(block []string) {
	option := regexp.MustCompile(`(^|[ (\[])(--?[a-z][a-z-]*)`)
	for _, line := range block {
		line = strings.ReplaceAll(strings.ReplaceAll(line, "cairn undo, cairn redo", "cairn undo, redo"), "cairn log, cairn operations", "cairn log, operations")
		code, about, _ := strings.Cut(strings.TrimPrefix(line, "cairn "), "  ")
		for part := range strings.SplitSeq(code, ", ") {
			verb := strings.Fields(part)[0]
			help := r.sh("cairn help " + verb)
			for _, found := range option.FindAllStringSubmatch(part+" "+strings.ReplaceAll(about, "cairn wait TICKET", ""), -1) {
				if name := found[2]; !strings.Contains(help, name) && verb == strings.Fields(code)[0] {
					r.Errorf("cairn help %s does not know %s of %q", verb, name, line)
				}
			}
			if verb != "session" {
				continue
			}
			_, verbs, _ := strings.Cut(about, ":")
			for v := range strings.SplitSeq(verbs, ",") {
				if !strings.Contains(help, strings.TrimSpace(v)) {
					r.Errorf("cairn help session does not know %s", v)
				}
			}
		}
	}
}

// serve starts the server as each line says, and stops it once it answers.
func (r *readme) serve(block []string) {
	r.mentions(block, "cairn serve", "cairn serve --listen 127.0.0.1:0")
	if _, err := protocol.Socket(filepath.Join(r.home, ".local", "share", "cairn")); err != nil {
		r.Skip("no server can listen here:", err)
	}
	for _, line := range block {
		code, _, _ := strings.Cut(line, "  ")
		ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
		cmd := r.command("sh", "-c", "exec "+code)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			r.Fatal(err)
		}
		stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
		lines := bufio.NewReader(out)
		first, err := lines.ReadString('\n')
		if err != nil || !strings.HasPrefix(first, "socket  /") && !strings.HasPrefix(first, "url     http://127.0.0.1:") {
			r.Errorf("%s: %q, %v", code, first, err)
		}
		cmd.Process.Signal(syscall.SIGTERM)
		io.Copy(io.Discard, lines)
		if err := cmd.Wait(); err != nil {
			r.Errorf("%s: %v", code, err)
		}
		stop()
		cancel()
	}
}

// whileTheModelThinks runs the lines as one script: ./tool finds the state before safe.
func (r *readme) whileTheModelThinks(block []string) {
	r.write("tool", "#!/bin/sh\ncairn log --json > log.json\n")
	lines := slices.DeleteFunc(slices.Clone(block), func(line string) bool { return strings.HasPrefix(line, "... ") })
	if len(lines) != 2 {
		r.Errorf("%q is not what this test knows", block)
	}
	r.sh(strings.Join(lines, "\n"))
	var list []map[string]any
	data, err := os.ReadFile(filepath.Join(r.project, "log.json"))
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil || len(list) != 1 {
		r.Errorf("./tool found %s, %v", data, err)
	}
}

// settings puts the block into the user's file, where every line has to count.
func (r *readme) settings(block []string) {
	dir := filepath.Join(r.home, ".config", "cairn")
	text := strings.ReplaceAll(strings.Join(block, "\n"), "/home/me/huge", r.project)
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600)); err != nil {
		r.Fatal(err)
	}
	got := r.sh("cairn config")
	for _, want := range []string{`max_age\s.*(14d|336h)`, `never\s.*\*\.pem.*\.env\*`, `enabled\s.*false`} {
		if !regexp.MustCompile(want).MatchString(got) {
			r.Errorf("cairn config does not say %s:\n%s", want, got)
		}
	}
}
