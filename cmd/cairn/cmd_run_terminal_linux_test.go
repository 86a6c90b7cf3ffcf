package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// openTerminal makes a pseudo-terminal.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	return master, slave
}

// TestRunOnTerminal: the command has the terminal, Ctrl-C reaches it exactly once,
// and cairn outlives it.
func TestRunOnTerminal(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	master, slave := openTerminal(t)
	dir := filepath.Join(t.TempDir(), "project")
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1\n")})
	cmd := exec.Command(program, "-q", "run", "sh", "-c", "test -t 0 && test -t 1 && test -t 2 && echo terminal; exec counts-signals")
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	defer time.AfterFunc(waitBound, func() { cmd.Process.Kill() }).Stop()
	out := bufio.NewReader(master)
	expect := func(want string) {
		t.Helper()
		line, err := out.ReadString('\n')
		line = strings.TrimPrefix(strings.TrimSpace(line), "^C") // the echo
		if line != want {
			t.Fatalf("got %q, %v, want %q", line, err, want)
		}
	}
	expect("terminal")
	expect("ready")
	for n := 1; n <= 3; n++ {
		if _, err := master.WriteString("\x03"); err != nil {
			t.Fatal(err)
		}
		expect(fmt.Sprint("interrupt ", n))
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	expect("total map[interrupt:3 terminated:1]")
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 42 {
		t.Errorf("status %d", got)
	}
}

// TestRunLeavesTheScreenToTheCommand: looks that take place while the command runs draw no progress over what it shows.
func TestRunLeavesTheScreenToTheCommand(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	master, slave := openTerminal(t)
	dir := filepath.Join(t.TempDir(), "project")
	tree := gittest.Tree{}
	for i := range 2000 {
		tree[fmt.Sprintf("d%d/f%d", i%40, i)] = gittest.File("x\n")
	}
	gittest.Create(t, dir, tree)
	cmd := exec.Command(program, "run", "sh", "-c", "echo begun; for i in 1 2 3 4 5 6; do sleep 0.3; echo $i > d1/new$i; done; echo over")
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TERM=xterm"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	defer time.AfterFunc(waitBound, func() { cmd.Process.Kill() }).Stop()
	shown, _ := io.ReadAll(master) // ends with an error once no process has the terminal
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, shown)
	}
	_, shown, _ = bytes.Cut(shown, []byte("begun\r\n"))
	if shown, _, over := bytes.Cut(shown, []byte("over\r\n")); !over || len(shown) > 0 {
		t.Errorf("while the command ran: %q", shown)
	}
}
