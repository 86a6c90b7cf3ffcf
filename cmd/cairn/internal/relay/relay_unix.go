//go:build unix

package relay

import (
	"io"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/program"
)

const (
	// patience is the time in which a server has to take a connection and ask for the body.
	patience = 100 * time.Millisecond

	// answerTime is the longest time of a call, which the server keeps to. It is longer than that of an event.
	answerTime = 25 * time.Second

	// stdinTime is the longest time until the end of stdin. The program waits longer, and reports an
	// end that does not come.
	stdinTime = 5 * time.Second

	maxPath    = 103      // bytes of a socket's path
	maxPayload = 16 << 20 // bytes that a server keeps in memory several times; the program takes more
)

func init() { Hand() }

// Hand has a server carry out the call that the command line is, and ends the process. It returns if no server has
// done so.
func Hand() {
	if len(os.Args) < 3 {
		return
	}
	dataDir, agent, ok := wanted(os.Args[1:])
	if !ok {
		return
	}
	if path := socket(runtime.GOOS, dataDir, os.Getenv); path != "" && owned(path) {
		call := &Call{Program: Program(), Space: Space(), Agent: agent, DataDir: dataDir, Parent: os.Getppid(), Env: os.Environ()}
		call.Dir, _ = os.Getwd()
		if answer, done := call.send(path, stdin); done {
			os.Stdout.Write(answer) // the agent is gone if this fails
			os.Exit(0)
		}
	}
}

// Program identifies this program's file, "" if that cannot be looked at.
func Program() string {
	path, err := program.Path()
	if err != nil {
		return ""
	}
	return programAt(path)
}

// programAt tells builds apart by more than size and time: some package managers give every file the same time.
func programAt(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return strconv.FormatUint(st.Ino, 10) + " " + strconv.FormatInt(info.Size(), 10) + " " + strconv.FormatInt(info.ModTime().UnixNano(), 10)
}

// owned reports whether a socket and its directory belong to this user and are closed to all others.
func owned(path string) bool {
	if len(path) > maxPath {
		return false
	}
	for name, kind := range map[string]uint32{path[:len(path)-len("/sock")]: syscall.S_IFDIR, path: syscall.S_IFSOCK} {
		var st syscall.Stat_t
		if syscall.Lstat(name, &st) != nil || uint32(st.Mode)&syscall.S_IFMT != kind || int(st.Uid) != os.Geteuid() || st.Mode&0o077 != 0 {
			return false
		}
	}
	return true
}

// stdin reads the payload, and puts it on stdin again for the program.
func stdin() (data []byte, ok bool) {
	data, os.Stdin, ok = reread(os.Stdin, stdinTime, maxPayload)
	return data, ok
}

// reread reads a file to its end, and returns a pipe on which the same comes again. ok is false if the end does not
// come in time, or not within that many bytes: the pipe then also has what is read later.
func reread(in *os.File, limit time.Duration, most int64) (data []byte, again *os.File, ok bool) {
	again, w, err := os.Pipe()
	if err != nil {
		return nil, in, false
	}
	whole := make(chan []byte, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(in, most+1))
		if fits := int64(len(data)) <= most; fits && err == nil {
			whole <- data
		} else {
			close(whole)
		}
		w.Write(data) // a program that ends early does not want it
		if int64(len(data)) > most {
			io.Copy(w, in)
		}
		w.Close()
	}()
	select {
	case data, ok = <-whole:
	case <-time.After(limit):
	}
	return data, again, ok
}

// send has the server at a socket carry out the call, and reports whether it has. The payload is read once the
// server has asked for it.
func (c *Call) send(path string, payload func() ([]byte, bool)) (answer []byte, done bool) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, false
	}
	defer syscall.Close(fd)
	waits(fd, patience)
	if syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}) != nil {
		return nil, false
	}
	if !write(fd, []byte("POST "+Path+" HTTP/1.1\r\nHost: cairn\r\nConnection: close\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n")) {
		return nil, false
	}
	if first, ok := read(fd, true); !ok || !begins(first, "HTTP/1.1 100 ") {
		return nil, false
	}
	text, ok := payload()
	if !ok {
		return nil, false
	}
	waits(fd, answerTime)
	head := c.head()
	size := strconv.FormatInt(int64(len(head)+len(text)), 16)
	for _, part := range [][]byte{[]byte(size + "\r\n"), head, text, []byte("\r\n0\r\n\r\n")} {
		if !write(fd, part) {
			return nil, false
		}
	}
	all, ended := read(fd, false)
	if !ended {
		return nil, false
	}
	return body(all)
}

// body is the body of a whole answer of status 200.
func body(all []byte) ([]byte, bool) {
	const length, end = "\r\nContent-Length: ", "\r\n\r\n"
	if !begins(all, "HTTP/1.1 200 ") {
		return nil, false
	}
	var want string
	for i := range all {
		if begins(all[i:], length) {
			rest := all[i+len(length):]
			for n := 0; n < len(rest) && rest[n] >= '0' && rest[n] <= '9'; n++ {
				want = string(rest[:n+1])
			}
		}
		if begins(all[i:], end) {
			text := all[i+len(end):]
			return text, want == strconv.Itoa(len(text))
		}
	}
	return nil, false
}

// waits limits each further call on a socket.
func waits(fd int, limit time.Duration) {
	t := syscall.NsecToTimeval(limit.Nanoseconds())
	_ = syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &t) // without it a call takes what it takes
	_ = syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &t)
}

func write(fd int, data []byte) bool {
	for len(data) > 0 {
		n, err := syscall.Write(fd, data)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return false
		}
		data = data[n:]
	}
	return true
}

// read reads up to the end of the stream, or up to the empty line after a head, and reports whether that came.
func read(fd int, head bool) (data []byte, ok bool) {
	buffer := make([]byte, 4096)
	for {
		n, err := syscall.Read(fd, buffer)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return nil, false
		case n <= 0:
			return data, !head
		}
		data = append(data, buffer[:n]...)
		if end := len(data) - 4; head && end >= 0 && string(data[end:]) == "\r\n\r\n" {
			return data, true
		}
	}
}
