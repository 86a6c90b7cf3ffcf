package trial

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/process"
)

// Names below the directory for copies.
const (
	homePrefix  = "copy-"
	ownerSuffix = ".json" // of the file beside a copy that names its owner
	filesName   = "files"
)

// unknownLife is the time after which a copy goes whose owner cannot be told to be alive or dead.
const unknownLife = 24 * time.Hour

// In returns the directory of the copies below a data directory.
func In(dataDir string) string { return filepath.Join(dataDir, "scratch") }

// Sweep removes the copies that dead processes have left below a data directory. They hold contents in the open.
func Sweep(dataDir string) { sweep(In(dataDir), time.Now()) }

// makeHome makes a directory, and before it the file that names this process as its owner. It removes
// the copies of the dead.
func makeHome(below string) (string, error) {
	if err := os.MkdirAll(below, 0o700); err != nil {
		return "", err
	}
	sweep(below, time.Now())
	home := filepath.Join(below, homePrefix+strings.ToLower(rand.Text()))
	self, _ := process.Self()
	data, err := json.Marshal(self)
	if err == nil {
		err = atomicfile.Write(home+ownerSuffix, 0o600, false, func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
	}
	if err == nil {
		err = os.Mkdir(home, 0o700)
	}
	if err != nil {
		return "", errors.Join(err, removeHome(home))
	}
	return home, nil
}

// removeHome removes a copy, and then the name of its owner.
func removeHome(home string) error {
	if err := removeAll(home); err != nil {
		return err
	}
	return atomicfile.RemoveIfThere(home + ownerSuffix)
}

// sweep removes the copies of dead processes. The next one tries again where that fails.
func sweep(below string, now time.Time) {
	entries, err := os.ReadDir(below)
	if err != nil {
		return
	}
	_ = atomicfile.Sweep(below, atomicfile.Prefix)
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ownerSuffix)
		if home := filepath.Join(below, name); strings.HasPrefix(name, homePrefix) && isDead(home, now) {
			_ = removeHome(home)
		}
	}
}

// isDead reports whether the owner of a copy is dead. Where that cannot be told, age decides.
func isDead(home string, now time.Time) bool {
	var owner process.ID
	data, err := os.ReadFile(home + ownerSuffix)
	if err == nil {
		err = json.Unmarshal(data, &owner)
	}
	if err == nil {
		switch owner.State() {
		case process.Alive:
			return false
		case process.Dead:
			return true
		}
	}
	info, err := os.Stat(home)
	return err == nil && now.Sub(info.ModTime()) > unknownLife
}

// removeAll removes a directory, also where a command has made directories in it read-only.
func removeAll(home string) error {
	err := os.RemoveAll(home)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(home)
}
