package peers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Server is "cairn serve" as a process.
type Server struct {
	*exec.Cmd
	Socket string
}

// StartServer starts a server of projects and waits until it answers.
func StartServer(program, dataDir string, env []string, projects ...string) (*Server, error) {
	s := &Server{Cmd: exec.Command(program, append([]string{"--data-dir", dataDir, "--json", "serve"}, projects...)...)}
	s.Env, s.Stderr = env, os.Stderr
	stdout, err := s.StdoutPipe()
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	var way struct{ Socket string }
	if err == nil {
		err = json.Unmarshal(line, &way)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the server does not say where it is: %w", err), s.Wait())
	}
	s.Socket = way.Socket
	return s, nil
}

// Stop asks the server to end, and waits.
func (s *Server) Stop() error {
	if err := s.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return s.Wait()
}
