package child

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// group is a command and all processes that it starts: a job object.
type group struct{ job windows.Handle }

// prepare keeps Ctrl-C of the console from the command. A line for cmd.exe stays as it is: cmd.exe does not
// know the backslashes by which Go keeps quotes in an argument.
func (*group) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	if args := cmd.Args; len(args) == 3 && args[0] == "cmd" && args[1] == "/c" {
		cmd.SysProcAttr.CmdLine = `cmd /s /c "` + args[2] + `"`
	}
}

// add makes the command the first process of the job. Where that fails, only the command itself ends
// with its context.
func (g *group) add(leader *os.Process) {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(leader.Pid))
	if err != nil {
		return
	}
	defer func() { _ = windows.CloseHandle(process) }()
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	if windows.AssignProcessToJobObject(job, process) != nil {
		_ = windows.CloseHandle(job)
		return
	}
	g.job = job
}

// ask ends the command. Windows has no signal that asks a process without a window.
func (*group) ask(leader *os.Process) error { return leader.Kill() }

// kill ends the processes that are left.
func (g *group) kill(*os.Process) {
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
	}
}

func (g *group) forget() {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
	}
}
