//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// agentScript is an agent in a few lines: a session, one turn, and its own hook of cairn, which does
// nothing. The ids of the requests are those of the test.
const agentScript = `while read -r line; do
	case $line in
	*session/new*) echo '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}' ;;
	*leave*) exit 7 ;;
	*session/prompt*)
		echo '{"event":"before","session":"s","cwd":"'"$PWD"'","call":"c"}' | cairn hook agent >hook.txt
		echo x >new
		rm a
		echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","status":"completed"}}}'
		echo '{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}' ;;
	esac
done
echo "the end" >&2`

// proxied is a cairn acp that was started in a project of its own.
type proxied struct {
	*testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	err strings.Builder
	dir string
}

func startACP(t *testing.T, agent ...string) *proxied {
	t.Helper()
	defaultSignals()
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxied{T: t, dir: filepath.Join(t.TempDir(), "project")}
	gittest.Create(t, p.dir, gittest.Tree{"a": gittest.File("1\n")})
	p.cmd = exec.Command(program, append([]string{"acp", "--"}, agent...)...)
	p.cmd.Dir, p.cmd.Stderr = p.dir, &p.err
	p.cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	return p
}

// ask writes a line and reads lines until one has a text.
func (p *proxied) ask(line, until string) string {
	p.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.Fatal(err)
	}
	var all strings.Builder
	for {
		text, err := p.out.ReadString('\n')
		all.WriteString(text)
		switch {
		case err != nil:
			p.Fatalf("%v after %s", err, all.String())
		case strings.Contains(text, until):
			return all.String()
		}
	}
}

// ends wants the program to end with a status.
func (p *proxied) ends(want int) {
	p.Helper()
	if rest, err := io.ReadAll(p.out); err != nil || len(rest) > 0 {
		p.Errorf("more output: %s, %v", rest, err)
	}
	p.cmd.Wait() // its error is in the state
	if got := p.cmd.ProcessState.ExitCode(); got != want {
		p.Errorf("status %d, want %d: %s", got, want, p.err.String())
	}
}

const acpUndo = `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"/cairn-undo"}]}}`

// plays opens a session and plays a turn.
func (p *proxied) plays() {
	p.Helper()
	p.ask(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"`+p.dir+`"}}`, "cairn-undo")
	p.ask(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}`, "end_turn")
	gittest.AssertTree(p, p.dir, gittest.Tree{"new": gittest.File("x\n"), "hook.txt": gittest.File(`{"ok":true,"session":"s"}` + "\n")})
}

// TestACP: an agent of an editor is recorded, an undo is answered without it, and it ends when the
// editor ends its input.
func TestACP(t *testing.T) {
	t.Parallel()
	p := startACP(t, "sh", "-c", agentScript)
	p.plays()
	if got := p.ask(acpUndo, "end_turn"); !strings.Contains(got, "took back 1 turn: 1 restored, 2 deleted") {
		t.Errorf("undo says %s", got)
	}
	gittest.AssertTree(t, p.dir, gittest.Tree{"a": gittest.File("1\n")})
	p.in.Close()
	p.ends(cli.ExitDone)
	if got := p.err.String(); got != "the end\n" {
		t.Errorf("stderr: %q", got)
	}
}

// TestACPStatus: the status is the agent's, also that of a signal, which reaches the agent, and that of
// one that is missing.
func TestACPStatus(t *testing.T) {
	t.Parallel()
	p := startACP(t, "sh", "-c", agentScript)
	p.plays()
	if _, err := io.WriteString(p.in, "leave\n"); err != nil {
		t.Fatal(err)
	}
	p.ends(7)
	p = startACP(t, "sh", "-c", agentScript)
	p.plays()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.ends(128 + int(syscall.SIGTERM))
	p = startACP(t, "no-such-agent-of-cairn")
	p.ends(127)
	if got := p.err.String(); got != "cairn: cannot run no-such-agent-of-cairn: executable file not found in $PATH\n" {
		t.Errorf("stderr: %q", got)
	}
}

// TestACPBrokenProject: an agent in a directory that cairn does not look after works as without it.
func TestACPBrokenProject(t *testing.T) {
	t.Parallel()
	p := startACP(t, "sh", "-c", agentScript)
	if err := os.WriteFile(filepath.Join(p.dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.ask(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"`+p.dir+`/missing"}}`, "cairn-undo")
	got := p.ask(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}`, "end_turn")
	if !strings.Contains(got, "cairn cannot protect this session") {
		t.Errorf("the user is told: %s", got)
	}
	p.in.Close()
	p.ends(cli.ExitDone)
}
