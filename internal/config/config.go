// Package config merges what people set for a project, in rising order: the user's
// file, that file's section for the project, the project's own file, the environment.
// Flags come on top of it; they are the caller's.
//
//	max_age = "14d"                        # of all projects
//	never   = ["*.pem"]
//
//	[project."/home/me/big"]
//	enabled = false
//
// A key that is not known, a value that makes no sense and a file that is no TOML are
// errors that name the file, the line and the key: a limit that silently does not
// hold is worse than a command that does not start. In the project's own file they are no
// errors: see [Broken].
package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/transfer"
)

// Unlimited is what a limit is when it was switched off, with 0 or "none".
const Unlimited = -1

// Config holds the settings in force for one project. Zero values mean the defaults of
// package cairn.
type Config struct {
	Enabled    bool // false: nothing is captured
	RequireGit bool // true: nothing is captured where there is no git work tree
	Git        bool // false: checkpoints do not record the state of git
	Background bool // false: no cleaning in the background
	Prompts    bool // false: sessions hold no prompts, titles and commands
	Mask       bool // false: secrets in them are not masked

	// Retention.
	MaxAge   time.Duration
	MaxCount int
	MaxBytes int64
	MinFree  int64
	KeepLast int
	Keep     cairn.KeepRules

	// Captures.
	MaxFileSize    int64
	MaxFiles       int
	MaxScanBytes   int64
	Include        []string // of all places together
	MaxIncludeSize int64
	OutsideSize    int64    // 0 = the default
	NoOutside      bool     // true: no file outside the root is saved
	AllowInclude   []string // patterns that a project's own file may add to Include
	Never          []string // likewise: no file takes back what another forbids
	Secrets        cairn.SecretsPolicy
	SecretRules    string // absolute
	Timeout        time.Duration

	RemoteTimeout time.Duration

	Sync string // a URL or an absolute path, cairn.SyncRemembered, "" for no pushes in the background

	Encrypt  []string // recipients of sealed pushes, of all places together
	Identity string   // path of a file with keys, absolute; "" = none
	Seal     bool     // true: the store is sealed while no command works with it

	DataDir     string // absolute
	Sign        string // path of an SSH key that signs heads, absolute; "" = none
	Signers     string // path of a list of allowed signers, absolute; "" = none
	LockTimeout time.Duration

	decided map[string]Decision
	refused []Decision
	broken  *Broken
}

// Decision is a setting that a file, a variable or a flag has made.
type Decision struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // file and line, or the variable

	// Refused says why the setting is not in force, "" if it is.
	Refused string `json:"refused,omitempty"`
}

// Refused lists the settings of the project's own file that are not in force.
func (c *Config) Refused() []Decision { return c.refused }

// Broken is a project's own file that is not in force, nothing of it, because of an error in
// it. An agent can write it, so the error must not end the captures.
type Broken struct {
	Path string
	Sum  string // changes with what the file holds
	Err  error  // an *Error, or several of them joined
}

// Broken returns the project's own file if it is not in force, else nil.
func (c *Config) Broken() *Broken { return c.broken }

// Decisions lists the settings that differ from their defaults, by key.
func (c *Config) Decisions() []Decision {
	list := []Decision{}
	for _, d := range c.decided {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b Decision) int { return strings.Compare(a.Key, b.Key) })
	return list
}

// Decide notes who made a setting: for callers that put flags on top.
func (c *Config) Decide(key, value, origin string) {
	if key == "sync" {
		value = transfer.Redacted(value)
	}
	c.decided[key] = Decision{Key: key, Value: value, Origin: origin}
}

// Sources names where settings come from. Empty ones are left out, and so are files
// that do not exist.
type Sources struct {
	UserFile string // may hold sections [project."/absolute/path"]
	Project  string // the project's root, for its section

	// ProjectFile is the project's own file. An agent or a clone can write it, so it can
	// leave more out, and loosens nothing that protects: see ownFile. The caller passes
	// only a file that is not under version control.
	ProjectFile string

	Env func(string) string // nil = nothing set
}

// Error is a setting that cannot be used.
type Error struct {
	Where string // file, or name of a variable
	Line  int    // in the file, 0 if it is not known
	Key   string // "" if it is about the file
	Err   error
}

func (e *Error) Error() string {
	text := e.Where
	if e.Line > 0 {
		text += fmt.Sprintf(":%d", e.Line)
	}
	if e.Key != "" && e.Key != e.Where {
		text += ": " + e.Key
	}
	return text + ": " + e.Err.Error()
}

// Unwrap gives the reason.
func (e *Error) Unwrap() error { return e.Err }

// Load reads and merges. Errors are of type *Error, several of them joined.
func Load(s Sources) (*Config, error) {
	c := &Config{Enabled: true, Git: true, Background: true, Prompts: true, Mask: true, decided: make(map[string]Decision)}
	err := c.loadFile(s.UserFile, func(f *file) error {
		return errors.Join(f.apply(c, nil), f.applyProject(c, s.Project))
	})
	c.loadOwn(s.ProjectFile)
	if err := errors.Join(err, c.loadEnv(s.Env)); err != nil {
		return nil, err
	}
	return c, nil
}

// loadOwn takes over a project's own file, or nothing of it.
func (c *Config) loadOwn(path string) {
	if path == "" {
		return
	}
	before := c.clone()
	f, err := readFile(path)
	if err == nil && f != nil {
		f.own = true
		err = f.apply(c, nil)
	}
	if err == nil {
		return
	}
	text := err.Error()
	if f != nil {
		text += f.text
	}
	sum := sha256.Sum256([]byte(text))
	*c = *before
	c.broken = &Broken{Path: path, Sum: hex.EncodeToString(sum[:8]), Err: err}
}

// clone shares nothing with c that a file can change.
func (c *Config) clone() *Config {
	d := *c
	d.decided = maps.Clone(c.decided)
	d.Include, d.AllowInclude, d.Never = slices.Clone(c.Include), slices.Clone(c.AllowInclude), slices.Clone(c.Never)
	d.Encrypt = slices.Clone(c.Encrypt)
	return &d
}

// defaultMaxFileSize is the limit of package cairn where none is set.
const defaultMaxFileSize = 32 << 20

const onlyUser = "only your own configuration can set this: a project's file could switch off what protects"

// refuse tells why the project's own file cannot set a key to a value, "" if it can:
// it may forbid files, lower the size limit, and include what the user allows.
func (c *Config) refuse(key string, value any) string {
	switch key {
	case "never":
		return ""
	case "max_file_size":
		limit := c.MaxFileSize
		if limit == 0 {
			limit = defaultMaxFileSize
		}
		size, err := ParseSize(fmt.Sprint(value))
		if err == nil && (size == Unlimited && limit != Unlimited || limit != Unlimited && size > limit) {
			return "a project's file can only lower the limit"
		}
		return ""
	case "include":
		list, _ := value.([]any)
		for _, pattern := range list {
			if text, ok := pattern.(string); ok && !slices.Contains(c.AllowInclude, text) {
				return fmt.Sprintf("%.80q is not in allow_include of your own configuration", text)
			}
		}
		return ""
	}
	return onlyUser
}

// EnvPrefix begins the names of the variables: max_age is CAIRN_MAX_AGE.
const EnvPrefix = "CAIRN_"

func (c *Config) loadEnv(env func(string) string) error {
	if env == nil {
		return nil
	}
	var errs []error
	for i := range settings {
		set := &settings[i]
		name := EnvPrefix + strings.ToUpper(set.key)
		text := env(name)
		if text == "" {
			continue
		}
		if err := set.text(c, text); err != nil {
			errs = append(errs, &Error{Where: name, Key: name, Err: err})
			continue
		}
		if set.list != nil {
			text = strings.Join(*set.list(c), ",") // of all places together
		}
		c.Decide(set.key, text, name)
	}
	return errors.Join(errs...)
}
