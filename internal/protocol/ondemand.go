package protocol

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/process"
)

// A server runs on demand where cairn setup --serve says so: a hook that finds none starts one in
// the background, and the server ends when no request has come for a time. Two files tell of it:
//
//	<data-dir>/serve.json         there is to be such a server
//	<data-dir>/serve/server.json  the one that runs

// DefaultIdle is the time without a request after which a server on demand ends.
const DefaultIdle = 30 * time.Minute

// OnDemand is the setting of a data directory.
type OnDemand struct {
	Origin string `json:"origin,omitempty"` // what made the file
	Idle   string `json:"idle"`
}

// OnDemandFile is the path of the setting.
func OnDemandFile(dataDir string) string { return filepath.Join(dataDir, "serve.json") }

// ReadOnDemand returns the time after which a server on demand ends. ok is false where none is to
// run, which a setting that cannot be read means, too.
func ReadOnDemand(dataDir string) (idle time.Duration, ok bool) {
	var s OnDemand
	data, err := os.ReadFile(OnDemandFile(dataDir))
	if err != nil || json.Unmarshal(data, &s) != nil {
		return 0, false
	}
	if idle, err = time.ParseDuration(s.Idle); err != nil || idle <= 0 {
		return 0, false
	}
	return idle, true
}

// Running names a server on demand. Servers that a person has started have no such record.
type Running struct {
	Process process.ID `json:"process"`
	Build   string     `json:"build"`
}

func runningFile(dataDir string) string { return filepath.Join(Dir(dataDir), "server.json") }

// ReadRunning returns the record of the server that was started last, nil if there is none. The
// process may be dead.
func ReadRunning(dataDir string) *Running {
	r := new(Running)
	data, err := os.ReadFile(runningFile(dataDir))
	if err != nil || json.Unmarshal(data, r) != nil {
		return nil
	}
	return r
}

// Alive reports whether the process is known to be there.
func (r *Running) Alive() bool { return r != nil && r.Process.State() == process.Alive }

// Dead reports whether the process is known to be gone.
func (r *Running) Dead() bool { return r.Process.State() == process.Dead }

// Terminate asks the process to end, and reports whether it was asked.
func (r *Running) Terminate() bool {
	p, err := os.FindProcess(r.Process.PID)
	return err == nil && p.Signal(syscall.SIGTERM) == nil
}

// WriteRunning records this process. The caller has claimed the data directory.
func WriteRunning(dataDir, build string) error {
	self, ok := process.Self()
	if !ok {
		return errors.New("this process cannot be named here")
	}
	data, err := json.Marshal(Running{self, build})
	if err != nil {
		return err
	}
	return atomicfile.Write(runningFile(dataDir), 0o600, false, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// RemoveOwnRunning removes the record of this process, which ends. That of another server stays: a user may have removed
// the data directory, and the next hook has started a server in the new one.
func RemoveOwnRunning(dataDir string) error {
	self, _ := process.Self()
	if r := ReadRunning(dataDir); r == nil || r.Process != self {
		return nil
	}
	return RemoveRunning(dataDir)
}

// RemoveRunning removes the record of whatever server, which is known to have ended.
func RemoveRunning(dataDir string) error {
	if err := os.Remove(runningFile(dataDir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
