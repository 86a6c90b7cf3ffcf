package trial

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/process"
)

// Names below the directory for copies.
const (
	homePrefix = "copy-"
	ownerName  = "owner.json"
	filesName  = "files"
)

// unknownLife is the time after which a copy goes whose owner cannot be told to be alive or dead.
const unknownLife = 24 * time.Hour

// makeHome makes a directory that names this process as its owner, and removes those of the dead.
func makeHome(below string) (string, error) {
	if err := os.MkdirAll(below, 0o700); err != nil {
		return "", err
	}
	sweep(below, time.Now())
	home, err := os.MkdirTemp(below, homePrefix)
	if err != nil {
		return "", err
	}
	self, _ := process.Self()
	data, err := json.Marshal(self)
	if err == nil {
		err = os.WriteFile(filepath.Join(home, ownerName), data, 0o600)
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(home))
	}
	return home, nil
}

// sweep removes the copies of dead processes. The next one tries again where that fails.
func sweep(below string, now time.Time) {
	entries, err := os.ReadDir(below)
	if err != nil {
		return
	}
	for _, e := range entries {
		home := filepath.Join(below, e.Name())
		if e.IsDir() && strings.HasPrefix(e.Name(), homePrefix) && isDead(home, now) {
			_ = removeAll(home)
		}
	}
}

// isDead reports whether the owner of a copy is dead. A copy without an owner is one that was just made,
// or whose maker was killed at once.
func isDead(home string, now time.Time) bool {
	var owner process.ID
	data, err := os.ReadFile(filepath.Join(home, ownerName))
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
