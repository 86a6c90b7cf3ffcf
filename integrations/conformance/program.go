package conformance

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// Program is a driver that is a program. It reads one JSON request a line and writes one answer a
// line, see README.md.
type Program struct {
	Args []string

	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

type request struct {
	Do      string `json:"do"`
	Dir     string `json:"dir,omitempty"`
	Session string `json:"session,omitempty"`
	Ops     []Op   `json:"ops,omitempty"`
	After   int64  `json:"after,omitempty"` // milliseconds
}

type response struct {
	OK          bool   `json:"ok"`
	Unsupported bool   `json:"unsupported,omitempty"`
	Error       string `json:"error,omitempty"`
}

// Start starts the program in the directory.
func (p *Program) Start(dir string) error {
	p.cmd = exec.Command(p.Args[0], p.Args[1:]...)
	p.cmd.Dir = dir
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.cmd = nil
		return err
	}
	p.in, p.out = in, bufio.NewReader(out)
	return p.ask(request{Do: "start", Dir: dir})
}

func (p *Program) Turn(session string, ops []Op) error {
	return p.ask(request{Do: "turn", Session: session, Ops: ops})
}

func (p *Program) Undo(session string) error { return p.ask(request{Do: "undo", Session: session}) }

func (p *Program) Redo(session string) error { return p.ask(request{Do: "redo", Session: session}) }

func (p *Program) KillUndo(session string, after time.Duration) error {
	return p.ask(request{Do: "killUndo", Session: session, After: after.Milliseconds()})
}

// Stop closes the program's input, and it has to end.
func (p *Program) Stop() error {
	if p.cmd == nil {
		return nil
	}
	p.in.Close()
	return p.cmd.Wait()
}

func (p *Program) ask(r request) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(data, '\n')); err != nil {
		return err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the driver has ended: %w", err)
	}
	var answer response
	if err := json.Unmarshal(line, &answer); err != nil {
		return fmt.Errorf("the driver's answer: %w", err)
	}
	switch {
	case answer.Unsupported:
		return fmt.Errorf("%w: %s", ErrUnsupported, answer.Error)
	case !answer.OK:
		return errors.New(answer.Error)
	}
	return nil
}

// Serve is the other side: it lets a driver answer requests until they end.
func Serve(in io.Reader, out io.Writer, d Driver) error {
	lines := json.NewDecoder(in)
	answers := json.NewEncoder(out)
	for {
		var r request
		if err := lines.Decode(&r); errors.Is(err, io.EOF) {
			return d.Stop()
		} else if err != nil {
			return err
		}
		err := serveOne(d, &r)
		answer := response{OK: err == nil, Unsupported: errors.Is(err, ErrUnsupported)}
		if err != nil {
			answer.Error = err.Error()
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
}

func serveOne(d Driver, r *request) error {
	switch r.Do {
	case "start":
		return d.Start(r.Dir)
	case "turn":
		return d.Turn(r.Session, r.Ops)
	case "undo":
		return d.Undo(r.Session)
	case "redo":
		return d.Redo(r.Session)
	case "killUndo":
		if k, ok := d.(Killer); ok {
			return k.KillUndo(r.Session, time.Duration(r.After)*time.Millisecond)
		}
	}
	return fmt.Errorf("%w: %s", ErrUnsupported, r.Do)
}
