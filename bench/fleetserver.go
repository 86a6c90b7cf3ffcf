package main

import (
	"errors"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// fleetServer lets git daemon answer on the loopback, a process for each connection. The zero value serves nothing.
type fleetServer struct {
	url       string
	listener  net.Listener
	processes *system.Processes
	answering sync.WaitGroup
	wrong     chan error // the first error of a process
}

// serve serves a remote. With spaces all connections are in the namespace of the first project.
func (b *fleetBench) serve(remote string, spaces bool) (*fleetServer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	exec, err := b.processes.Run("", b.git, "--exec-path")
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s := &fleetServer{url: "git://" + l.Addr().String() + "/" + filepath.Base(remote), listener: l, processes: newProcesses(b.dir), wrong: make(chan error, 1)}
	if spaces {
		s.processes.Env = append(s.processes.Env, "GIT_NAMESPACE=p0")
	}
	daemon := filepath.Join(strings.TrimSpace(exec), "git-daemon"+exeSuffix)
	go s.accept(daemon, "--inetd", "--export-all", "--enable=receive-pack", "--base-path="+filepath.Dir(remote))
	return s, nil
}

func (s *fleetServer) accept(daemon string, args ...string) {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return // closed
		}
		s.answering.Go(func() {
			defer conn.Close()
			cmd := exec.Command(daemon, args...)
			cmd.Env, cmd.Stdin, cmd.Stdout = s.processes.Env, conn, conn
			if err := s.processes.Finish(cmd); err != nil {
				select {
				case s.wrong <- err:
				default:
				}
			}
		})
	}
}

// used returns the processor time since the last call, in seconds. It waits for processes that still answer.
func (s *fleetServer) used() float64 {
	if s.listener == nil {
		return 0
	}
	s.answering.Wait()
	return s.processes.Used().CPUSeconds
}

func (s *fleetServer) close() error {
	if s.listener == nil {
		return nil
	}
	err := s.listener.Close()
	s.answering.Wait()
	select {
	case wrong := <-s.wrong:
		err = errors.Join(err, wrong)
	default:
	}
	return err
}
