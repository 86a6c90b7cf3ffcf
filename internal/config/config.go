// Package config merges what people set: defaults, the user's file, the project's
// file, the environment.
package config

import (
	"errors"
	"time"
)

// Config is what is in force for one project. Zero values mean the library's
// defaults; a limit that was switched off is -1.
type Config struct {
	Enabled    bool // false: nothing is captured
	RequireGit bool // true: nothing is captured where there is no git work tree
	Background bool // false: no cleaning in the background

	MaxAge       time.Duration
	MaxCount     int
	MaxBytes     int64
	MinFree      int64
	KeepLast     int
	MaxFileSize  int64
	MaxFiles     int
	MaxScanBytes int64
	Timeout      time.Duration
	LockTimeout  time.Duration
	Include      []string
	Never        []string
	DataDir      string

	// Origin says who decided each key that is not at its default.
	Origin map[string]string

	// Notes are remarks for people, as on a file that was ignored.
	Notes []string
}

// Sources names where settings come from. Empty ones are left out.
type Sources struct {
	UserFile    string // may hold sections [project."/absolute/path"]
	Project     string // root of the project, for its section
	ProjectFile string // .cairn.toml of the project, already known to be trustworthy
	Env         func(string) string
}

// Load reads and merges.
func Load(s Sources) (*Config, error) { return nil, errors.ErrUnsupported }
