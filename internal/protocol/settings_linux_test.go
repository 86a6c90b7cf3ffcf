package protocol

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// settingsWord is in the environment of a test binary that TestSettingsOfNamespaces has started.
const settingsWord = "CAIRN_TEST_PRINT_SETTINGS"

// TestSettingsOfNamespaces: a process with mounts of its own has other settings. Its root may hold other files
// than the root of the server.
func TestSettingsOfNamespaces(t *testing.T) {
	if os.Getenv(settingsWord) != "" {
		t.Log("settings=" + Settings("b", filled(t)))
		return
	}
	t.Parallel()
	here := Settings("b", filled(t))
	if same := settingsElsewhere(t, 0); same != here {
		t.Errorf("a process with the same mounts has %s, this one %s", same, here)
	}
	if other := settingsElsewhere(t, syscall.CLONE_NEWUSER|syscall.CLONE_NEWNS); other == here {
		t.Error("a process with other mounts has the same settings")
	}
}

// settingsElsewhere returns the settings of a new process.
func settingsElsewhere(t *testing.T, flags uintptr) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSettingsOfNamespaces$", "-test.v")
	cmd.Env = append(os.Environ(), settingsWord+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  flags,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if flags == 0 {
		cmd.SysProcAttr = nil
	}
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("no process can have mounts of its own here: %v", err)
	}
	_, rest, ok := bytes.Cut(out, []byte("settings="))
	if !ok {
		t.Fatalf("the process printed %s", out)
	}
	line, _, _ := strings.Cut(string(rest), "\n")
	return line
}
