//go:build unix

package cairn_test

import (
	"os/exec"
	"syscall"
)

// asNobody makes cmd run as a user that owns nothing.
func asNobody(cmd *exec.Cmd) bool {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return true
}
