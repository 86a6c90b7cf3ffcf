//go:build linux

package e2e

import (
	"os/exec"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// network is a thread in a network namespace that has nothing but loopback: what it
// starts cannot reach anything else, and sockets that it makes are of that namespace.
type network struct {
	jobs     chan func()
	isolated bool
}

// newNetwork makes the namespace, or says that it cannot: then nothing but the made-up
// addresses and keys keeps the agents at home.
func newNetwork(t testing.TB) *network {
	t.Helper()
	n := &network{jobs: make(chan func())}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		ready <- isolate()
		for f := range n.jobs {
			f()
		}
	}()
	if err := <-ready; err != nil {
		t.Logf("the agents share this machine's network: %v", err)
	} else {
		n.isolated = true
	}
	t.Cleanup(func() { close(n.jobs) })
	return n
}

func isolate() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request := struct {
		name  [unix.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: unix.IFF_UP | unix.IFF_RUNNING}
	copy(request.name[:], "lo")
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request)))
	if errno != 0 {
		return errno
	}
	return nil
}

// do runs f in the namespace.
func (n *network) do(f func() error) error {
	done := make(chan error)
	n.jobs <- func() { done <- f() }
	return <-done
}

func (n *network) start(cmd *exec.Cmd) error { return n.do(cmd.Start) }
