package gittest

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// WriteCalls lists the system calls that change files, or make changes durable, for
// CountSyscalls, KillAt and FailAt.
const WriteCalls = "write,pwrite64,writev,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir," +
	"symlink,symlinkat,link,linkat,mknodat,chmod,fchmod,fchmodat,fchmodat2,utimensat,fsync,fdatasync,syncfs,truncate,ftruncate,copy_file_range"

// Crash is how a run under KillAt or FailAt ended.
type Crash struct {
	// Hit reports whether the chosen call was reached. If not, the program ran as if without a
	// tracer.
	Hit bool
	// Call is the name of the system call that was hit.
	Call string
	// ExitCode is the program's own, or -1 if a signal ended it.
	ExitCode int
	// Stdout and Stderr are what it wrote.
	Stdout, Stderr string

	mute bool // it could not write a message: that call failed, too
}

// CountSyscalls runs argv to its end and counts how often it enters each of the
// system calls in calls, a list of names separated by commas. Calls that the
// machine does not have count zero. A nil env means the test's own environment.
//
// CountSyscalls, KillAt and FailAt trace the program themselves, by ptrace(2), and
// skip the test where that is not allowed or not Linux. The injection of strace
// would be shorter, but counts for each thread on its own: a Go program moves
// between threads as it likes, so that when=N hits some N-th call of some thread,
// misses others in every run, and is never reached when the calls are spread out.
// Here the count is one for all threads of the program, so that in a run that makes
// M of the calls every N from 1 to M is hit, exactly before the N-th call takes
// effect. Which call is the N-th may vary from run to run if goroutines race.
//
// Writes to event counters are not counted and not hit: the Go runtime wakes itself
// by them at times of its own.
//
// The calls of processes that the program starts do not count, and KillAt kills them
// only if they have stayed in its process group. Those of a Family count as well.
// No program under trace can trace another one.
func CountSyscalls(t testing.TB, argv, env []string, calls string) map[string]int {
	t.Helper()
	counts := make(map[string]int)
	end := runTraced(t, argv, env, calls, false, func(call string) verdict {
		counts[call]++
		return goOn
	})
	if end.ExitCode != 0 {
		t.Fatalf("%q under trace: exit status %d\n%s", argv, end.ExitCode, end.Stderr)
	}
	return counts
}

// KillAt runs argv and kills it, as kill -9 would, when it is about to make the n-th
// of the calls, counted from 1 over all their names and all threads. The call has no
// effect. To visit every state that a crash can leave behind, count n up until a run
// is not hit.
func KillAt(t testing.TB, argv, env []string, calls string, n int) Crash {
	t.Helper()
	return strike(t, argv, env, calls, false, killAt(n))
}

// Undisturbed runs argv to its end as KillAt does when no call is hit, in a process group of its own,
// without the costs of a tracer.
func Undisturbed(t testing.TB, argv, env []string) Crash {
	t.Helper()
	return runInGroup(t, argv, env)
}

// KillFamilyAt is KillAt for a program and all processes that it starts: their calls count as its
// own, and all of them are killed at once, as when the machine loses its power.
func KillFamilyAt(t testing.TB, argv, env []string, calls string, n int) Crash {
	t.Helper()
	return strike(t, argv, env, calls, true, killAt(n))
}

func killAt(n int) func(i int) verdict {
	return func(i int) verdict {
		if i == n {
			return verdict{kill: true}
		}
		return goOn
	}
}

// FailAt runs argv and makes the n-th of the calls fail with errno instead of
// taking effect.
func FailAt(t testing.TB, argv, env []string, calls string, n int, errno syscall.Errno) Crash {
	t.Helper()
	return strike(t, argv, env, calls, false, failAt(n, errno))
}

// FailFamilyAt is FailAt for a program and all processes that it starts.
func FailFamilyAt(t testing.TB, argv, env []string, calls string, n int, errno syscall.Errno) Crash {
	t.Helper()
	return strike(t, argv, env, calls, true, failAt(n, errno))
}

func failAt(n int, errno syscall.Errno) func(i int) verdict {
	return func(i int) verdict {
		if i == n {
			return verdict{errno: errno}
		}
		return goOn
	}
}

// FailFrom is FailAt for the n-th call and all later ones, as on a disk that has
// filled up.
func FailFrom(t testing.TB, argv, env []string, calls string, n int, errno syscall.Errno) Crash {
	t.Helper()
	crash := strike(t, argv, env, calls, false, func(i int) verdict {
		if i >= n {
			return verdict{errno: errno}
		}
		return goOn
	})
	crash.mute = true
	return crash
}

// verdict is what becomes of a system call.
type verdict struct {
	kill  bool
	errno syscall.Errno // 0: the call is made
}

var goOn verdict

func strike(t testing.TB, argv, env []string, calls string, family bool, judge func(i int) verdict) Crash {
	t.Helper()
	var hit Crash
	seen := 0
	end := runTraced(t, argv, env, calls, family, func(call string) verdict {
		seen++
		v := judge(seen)
		if v != goOn && !hit.Hit {
			hit.Hit, hit.Call = true, call
		}
		return v
	})
	end.Hit, end.Call = hit.Hit, hit.Call
	return end
}

// String describes the run for a test's log.
func (c Crash) String() string {
	if !c.Hit {
		return fmt.Sprintf("not hit, exit status %d", c.ExitCode)
	}
	return strings.TrimSpace(fmt.Sprintf("hit at %s, exit status %d %s", c.Call, c.ExitCode, c.Stderr))
}
