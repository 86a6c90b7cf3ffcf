package agents

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/setup"
)

// wakeServer starts a server where cairn setup --serve has said so and none of this build runs. The
// call that finds none works without one.
func (c *commands) wakeServer(dataDir string) {
	idle, ok := protocol.ReadOnDemand(dataDir)
	if !ok || !c.MayBegin() || c.WithoutServer() || c.served(dataDir) {
		return
	}
	// A failure costs nothing but time: the hooks open the store themselves.
	_ = c.Spawn([]string{"--data-dir", dataDir, "serve", "--on-demand", "--idle", idle.String()})
}

// served reports whether a server of this build runs, or one that a person has started.
func (c *commands) served(dataDir string) bool {
	path, err := protocol.Socket(dataDir)
	if err != nil {
		return true // no server can listen there
	}
	if !cli.Exists(path) {
		return false
	}
	if r := protocol.ReadRunning(dataDir); r != nil {
		return r.Build == cli.BuildName() && !r.Dead()
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// serverPlan is the part of setup about a server for the hooks.
func (c *commands) serverPlan(program []string, f *setupFlags) (*setup.Plan, error) {
	if f.idle <= 0 {
		return nil, c.Usage("--idle needs a time, as in 30m")
	}
	dataDir, err := c.UsersDataDir()
	if err != nil {
		return nil, err
	}
	if chosen, ok := protocol.ReadOnDemand(dataDir); ok && !f.idleGiven {
		f.idle = chosen
	}
	if _, err := protocol.Socket(dataDir); err != nil {
		return nil, err
	}
	if !f.remove && !f.dryRun {
		if err := os.MkdirAll(dataDir, 0o700); err != nil {
			return nil, err
		}
	}
	return setup.Server(setup.ServerOptions{
		Program: program, DataDir: dataDir, Idle: f.idle, System: runtime.GOOS, Systemd: cli.Exists("/run/systemd/system"),
		Home: c.Home(), Config: c.configHome(), Remove: f.remove,
	})
}

// configHome is the directory of the user's configuration, "" if it is not known.
func (c *commands) configHome() string {
	file := c.UserFile() // cairn/config.toml in it
	if file == "" {
		return ""
	}
	return filepath.Dir(filepath.Dir(file))
}

// endServer ends the server on demand that is running, if its setting is gone.
func (c *commands) endServer() error {
	dataDir, err := c.UsersDataDir()
	if err != nil {
		return err
	}
	r := protocol.ReadRunning(dataDir)
	if _, wanted := protocol.ReadOnDemand(dataDir); wanted || !r.Alive() {
		return nil
	}
	if !r.Terminate() {
		return fmt.Errorf("the server (process %d) cannot be ended", r.Process.PID)
	}
	return nil
}

// checkServer tells of a server that is to run on demand.
func (c *commands) checkServer(_ context.Context, _ doctorFlags) ([]cairn.Fault, error) {
	dataDir, err := c.UsersDataDir()
	if err != nil {
		return nil, nil // the other parts report it
	}
	idle, ok := protocol.ReadOnDemand(dataDir)
	switch r := protocol.ReadRunning(dataDir); {
	case !ok:
	case r.Alive() && r.Build == cli.BuildName():
		c.Console.Remark("server: runs on demand, process %d; it ends after %v without a request", r.Process.PID, idle)
	case r.Alive():
		c.Console.Remark("server: process %d is another build of cairn; the next hook replaces it", r.Process.PID)
	case c.served(dataDir):
		c.Console.Remark("server: one that was started by hand runs; hooks use it")
	default:
		c.Console.Remark("server: runs on demand; none is running, the next hook starts one")
	}
	return nil, nil
}
