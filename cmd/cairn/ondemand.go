package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/setup"
)

// wakeServer starts a server where cairn setup --serve has said so and none of this build runs. The
// call that finds none works without one.
func (c *cli) wakeServer(dataDir string) {
	idle, ok := protocol.ReadOnDemand(dataDir)
	if !ok || !c.background() || c.global.noServer || c.env("CAIRN_NO_SERVER") != "" || c.served(dataDir) {
		return
	}
	// A failure costs nothing but time: the hooks open the store themselves.
	_ = c.spawn([]string{"--data-dir", dataDir, "serve", "--on-demand", "--idle", idle.String()})
}

// served reports whether a server of this build runs, or one that a person has started.
func (c *cli) served(dataDir string) bool {
	path, err := protocol.Socket(dataDir)
	if err != nil {
		return true // no server can listen there
	}
	if !isThere(path) {
		return false
	}
	if r := protocol.ReadRunning(dataDir); r != nil {
		return r.Build == buildName() && !r.Dead()
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// usersDataDir is the data directory of a command that is about no root.
func (c *cli) usersDataDir() (string, error) {
	dir, err := c.workDir()
	if err != nil {
		return "", err
	}
	return c.dataDir(dir)
}

// serverPlan is the part of setup about a server for the hooks.
func (c *cli) serverPlan(program []string, f *setupFlags) (*setup.Plan, error) {
	if f.idle <= 0 {
		return nil, c.usage("--idle needs a time, as in 30m")
	}
	dataDir, err := c.usersDataDir()
	if err != nil {
		return nil, err
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
		Program: program, DataDir: dataDir, Idle: f.idle, System: runtime.GOOS, Systemd: isThere("/run/systemd/system"),
		Home: c.home(), Config: c.configHome(), Remove: f.remove,
	})
}

// configHome is the directory of the user's configuration, "" if it is not known.
func (c *cli) configHome() string {
	file := c.userFile() // cairn/config.toml in it
	if file == "" {
		return ""
	}
	return filepath.Dir(filepath.Dir(file))
}

// endServer ends the server on demand that is running, if its setting is gone.
func (c *cli) endServer() error {
	dataDir, err := c.usersDataDir()
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
func (c *cli) checkServer(_ context.Context, _ doctorFlags) ([]cairn.Fault, error) {
	dataDir, err := c.usersDataDir()
	if err != nil {
		return nil, nil // the other parts report it
	}
	idle, ok := protocol.ReadOnDemand(dataDir)
	switch r := protocol.ReadRunning(dataDir); {
	case !ok:
	case r.Alive() && r.Build == buildName():
		c.console.Remark("server: runs on demand, process %d; it ends after %v without a request", r.Process.PID, idle)
	case r.Alive():
		c.console.Remark("server: process %d is another build of cairn; the next hook replaces it", r.Process.PID)
	case c.served(dataDir):
		c.console.Remark("server: one that was started by hand runs; hooks use it")
	default:
		c.console.Remark("server: runs on demand; none is running, the next hook starts one")
	}
	return nil, nil
}
