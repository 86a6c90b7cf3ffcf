package cairn_test

import "os/exec"

func asNobody(*exec.Cmd) bool { return false }
