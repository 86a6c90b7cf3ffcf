package gittest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hangLimit is how long a traced program may take before it counts as hung.
const hangLimit = 3 * time.Minute

// runTraced runs argv and asks judge about each of the calls before it is made. With family the calls
// of the processes that it starts count, too.
func runTraced(t testing.TB, argv, env []string, calls string, family bool, judge func(call string) verdict) Crash {
	t.Helper()
	numbers := callNumbers(t, calls)
	program, files := programRun(t, argv)
	if env == nil {
		env = os.Environ()
	}
	tr := tracer{family: family, numbers: numbers, judge: judge, failing: map[int]syscall.Errno{}, known: map[int]bool{}}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: what the program has left behind is served by this thread
		done <- tr.run(program, argv, env, files)
		tr.serve()
		runtime.UnlockOSThread()
	}()
	switch err := <-done; {
	case errors.Is(err, errNoTrace):
		t.Skipf("ptrace is not allowed here: %v", err)
	case errors.Is(err, errors.ErrUnsupported):
		t.Skip("calls can be made to fail on amd64 only")
	case err != nil:
		t.Fatalf("trace %q: %v", argv, err)
	}
	return outputs(t, tr.status, files)
}

// runInGroup runs argv in a process group of its own.
func runInGroup(t testing.TB, argv, env []string) Crash {
	t.Helper()
	program, files := programRun(t, argv)
	cmd := exec.Command(program, argv[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, files[0], files[1], files[2]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err := cmd.Run()
	if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
		t.Fatalf("run %q: %v", argv, err)
	}
	return outputs(t, cmd.ProcessState.Sys().(syscall.WaitStatus), files)
}

// programRun finds a program, and opens the files that it reads and writes.
func programRun(t testing.TB, argv []string) (program string, files []*os.File) {
	t.Helper()
	program, err := exec.LookPath(argv[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{os.DevNull, filepath.Join(dir, "stdout"), filepath.Join(dir, "stderr")} {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return program, files
}

// outputs is how a program ended, and what it wrote. It closes the files.
func outputs(t testing.TB, status syscall.WaitStatus, files []*os.File) Crash {
	t.Helper()
	end := Crash{ExitCode: status.ExitStatus()}
	for i, to := range []*string{nil, &end.Stdout, &end.Stderr} {
		if to != nil {
			data, err := os.ReadFile(files[i].Name())
			if err != nil {
				t.Fatal(err)
			}
			*to = string(data)
		}
		files[i].Close()
	}
	return end
}

// callNumbers resolves a list of names. Those that this machine lacks are left out.
func callNumbers(t testing.TB, calls string) map[uint64]string {
	t.Helper()
	numbers := make(map[uint64]string)
	for name := range strings.SplitSeq(calls, ",") {
		nr, known := syscallNumbers[name]
		switch {
		case known:
			numbers[nr] = name
		case !strings.Contains(","+WriteCalls+",", ","+name+","):
			t.Fatalf("system call %q is not known here", name)
		}
	}
	return numbers
}

var errNoTrace = errors.New("cannot trace")

// tracer follows all threads of one program. ptrace ties it to one thread of ours.
type tracer struct {
	family  bool // the calls of the processes that the program starts count, too
	filter  bool // only the calls that count stop a thread; every process is followed
	numbers map[uint64]string
	judge   func(call string) verdict
	pid     int
	known   map[int]bool          // threads that have been seen to stop
	failing map[int]syscall.Errno // threads inside of a call that is to fail
	killed  bool                  // all of a family are
	ended   bool                  // the program has
	over    bool                  // the program has ended, and its family
	status  syscall.WaitStatus    // how the program ended, once it is over
}

func (tr *tracer) run(program string, argv, env []string, files []*os.File) (err error) {
	attr := &syscall.ProcAttr{Env: env, Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true}}
	for _, f := range files {
		attr.Files = append(attr.Files, f.Fd())
	}
	if tr.pid, err = syscall.ForkExec(program, argv, attr); err != nil {
		return fmt.Errorf("%w: %w", errNoTrace, err)
	}
	var hung atomic.Bool
	timer := time.AfterFunc(hangLimit, func() { hung.Store(true); tr.kill() })
	defer timer.Stop()
	if err = tr.begin(); err != nil {
		tr.kill()
		return errors.Join(err, tr.reap())
	}
	for !tr.over {
		if err = tr.step(); err != nil {
			tr.kill()
			return errors.Join(err, tr.reap())
		}
	}
	if hung.Load() {
		return fmt.Errorf("hung for %v", hangLimit)
	}
	return nil
}

// kill ends the program and what it has started, as far as it is in its group or followed.
func (tr *tracer) kill() {
	_ = syscall.Kill(-tr.pid, syscall.SIGKILL)
	for tid := range tr.followed() {
		_ = syscall.Kill(tid, syscall.SIGKILL)
	}
}

// followed are the threads of a family.
func (tr *tracer) followed() map[int]bool {
	if tr.family {
		return tr.known
	}
	return nil
}

// reap waits for the end of a program that has been killed.
func (tr *tracer) reap() error {
	for {
		pid, status, err := tr.wait()
		if !status.Stopped() {
			delete(tr.known, pid)
			tr.ended = tr.ended || pid == tr.pid
		}
		if err != nil || tr.ended && len(tr.followed()) == 0 {
			return err
		}
	}
}

// wait returns the next event of any thread of the program. Waiting by process
// group leaves the children of other tests to those.
func (tr *tracer) wait() (int, syscall.WaitStatus, error) {
	if tr.family || tr.filter {
		return waitFamily(tr.known)
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-tr.pid, &status, unix.WALL, nil)
		if err != syscall.EINTR {
			return pid, status, err
		}
	}
}

// begin takes the stop at exec, and asks to be shown threads and system calls.
func (tr *tracer) begin() error {
	pid, status, err := tr.wait()
	if err != nil {
		return err
	}
	if pid != tr.pid || !status.Stopped() {
		return fmt.Errorf("%w: program did not stop at its start", errNoTrace)
	}
	tr.known[pid] = true
	tr.filter = filterCalls(pid, tr.numbers)
	options := unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC
	if tr.filter {
		options |= unix.PTRACE_O_TRACESECCOMP
	}
	if tr.family || tr.filter {
		options |= unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK
	}
	if err := unix.PtraceSetOptions(pid, options); err != nil {
		return fmt.Errorf("%w: set options: %w", errNoTrace, err)
	}
	return tr.resume(pid, 0)
}

// step takes one event and lets the thread go on.
func (tr *tracer) step() error {
	tid, status, err := tr.wait()
	if err != nil {
		return err
	}
	if !status.Stopped() {
		delete(tr.known, tid)
		if tid == tr.pid {
			tr.ended, tr.status = true, status
		}
		tr.over = tr.ended && len(tr.followed()) == 0
		return nil
	}
	if tr.killed { // it was started when the others died
		return gone(syscall.Kill(tid, syscall.SIGKILL))
	}
	signal := status.StopSignal()
	switch {
	case signal == syscall.SIGTRAP|0x80:
		return tr.syscallStop(tid)
	case signal == syscall.SIGTRAP && status.TrapCause() == unix.PTRACE_EVENT_SECCOMP:
		return tr.filterStop(tid)
	case signal == syscall.SIGTRAP && status.TrapCause() > 0: // another event that was asked for
		tr.replaced(tid, status.TrapCause())
		signal = 0
	case signal == syscall.SIGSTOP && !tr.known[tid]: // a new thread
		signal = 0
	}
	tr.known[tid] = true
	return tr.resume(tid, signal)
}

// syscallStop handles a thread that enters or leaves a system call.
func (tr *tracer) syscallStop(tid int) error {
	nr, arg, entering, err := syscallInfo(tid)
	if err != nil {
		return gone(err)
	}
	if !entering {
		errno, ok := tr.failing[tid]
		delete(tr.failing, tid)
		if ok {
			err = setResult(tid, errno)
		}
		if err != nil {
			return gone(err)
		}
		return tr.resume(tid, 0)
	}
	if call, ok := tr.numbers[nr]; ok && !wakesItself(tid, call, arg) {
		switch v := tr.judge(call); {
		case v.kill:
			tr.killAll()
			return nil
		case v.errno != 0:
			if err := skipCall(tid); err != nil {
				return gone(err)
			}
			tr.failing[tid] = v.errno
		}
	}
	return tr.resume(tid, 0)
}

// replaced forgets the thread that has become the whole program by an exec: it has the number of the
// program's first thread from then on, and no end of its own.
func (tr *tracer) replaced(tid, event int) {
	if event != unix.PTRACE_EVENT_EXEC {
		return
	}
	if former, err := unix.PtraceGetEventMsg(tid); err == nil && int(former) != tid {
		delete(tr.known, int(former))
	}
}

// killAll ends the program at a call that was chosen for that.
func (tr *tracer) killAll() {
	tr.killed = tr.family
	tr.kill()
}

func (tr *tracer) resume(tid int, signal syscall.Signal) error {
	if tr.filter {
		return gone(unix.PtraceCont(tid, int(signal)))
	}
	return gone(unix.PtraceSyscall(tid, int(signal)))
}

// gone forgives that a thread has died since it stopped: another has ended the
// program.
func gone(err error) error {
	if err == syscall.ESRCH {
		return nil
	}
	return err
}
