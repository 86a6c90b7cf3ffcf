package config

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
	"github.com/seed-fb9cbc17/cairn/internal/transfer"
)

// setting is one key. text takes a value as the environment has it, and any value
// of a file that is no array.
type setting struct {
	key   string
	text  func(c *Config, text string) error
	list  func(c *Config) *[]string                       // for those that take arrays
	table func(t map[string]any) (text string, err error) // for those that take tables: the same as text
	good  func([]string) error                            // whether an array can be used; nil = any
	user  bool                                            // not to be set by a project's own file
}

// settings are all keys, in the order of the manual.
var settings = []setting{
	{key: "enabled", text: boolean(func(c *Config) *bool { return &c.Enabled })},
	{key: "require_git", text: boolean(func(c *Config) *bool { return &c.RequireGit })},
	{key: "git", text: boolean(func(c *Config) *bool { return &c.Git })},
	{key: "background", text: boolean(func(c *Config) *bool { return &c.Background })},
	{key: "record_prompts", text: boolean(func(c *Config) *bool { return &c.Prompts })},
	{key: "mask_secrets", text: boolean(func(c *Config) *bool { return &c.Mask })},
	{key: "max_age", text: duration(func(c *Config) *time.Duration { return &c.MaxAge })},
	{key: "max_count", text: count(func(c *Config) *int { return &c.MaxCount })},
	{key: "max_bytes", text: size(func(c *Config) *int64 { return &c.MaxBytes })},
	{key: "min_free_bytes", text: size(func(c *Config) *int64 { return &c.MinFree })},
	{key: "keep_last", text: count(func(c *Config) *int { return &c.KeepLast })},
	{key: "keep", text: keepText, table: keepTable},
	{key: "max_file_size", text: size(func(c *Config) *int64 { return &c.MaxFileSize })},
	{key: "max_files", text: count(func(c *Config) *int { return &c.MaxFiles })},
	{key: "max_scan_bytes", text: size(func(c *Config) *int64 { return &c.MaxScanBytes })},
	{key: "max_include_size", text: size(func(c *Config) *int64 { return &c.MaxIncludeSize })},
	{key: "outside", text: outside},
	list("include", func(c *Config) *[]string { return &c.Include }),
	userList("allow_include", func(c *Config) *[]string { return &c.AllowInclude }),
	list("never", func(c *Config) *[]string { return &c.Never }),
	{key: "secrets", text: secrets},
	{key: "secret_rules", text: path(func(c *Config) *string { return &c.SecretRules })},
	{key: "timeout", text: duration(func(c *Config) *time.Duration { return &c.Timeout })},
	{key: "lock_timeout", text: duration(func(c *Config) *time.Duration { return &c.LockTimeout })},
	{key: "sync", text: remote},
	recipients,
	{key: "seal", text: boolean(func(c *Config) *bool { return &c.Seal }), user: true},
	{key: "identity", text: path(func(c *Config) *string { return &c.Identity }), user: true},
	{key: "remote_timeout", text: duration(func(c *Config) *time.Duration { return &c.RemoteTimeout })},
	{key: "data_dir", text: path(func(c *Config) *string { return &c.DataDir }), user: true},
	{key: "sign", text: path(func(c *Config) *string { return &c.Sign }), user: true},
	{key: "signers", text: path(func(c *Config) *string { return &c.Signers }), user: true},
}

func find(key string) *setting {
	for i := range settings {
		if settings[i].key == key {
			return &settings[i]
		}
	}
	return nil
}

func boolean(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, text string) error {
		switch strings.ToLower(text) {
		case "true", "1", "yes", "on":
			*field(c) = true
		case "false", "0", "no", "off":
			*field(c) = false
		default:
			return fmt.Errorf("want true or false, not %.80q", text)
		}
		return nil
	}
}

func duration(field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, text string) error {
		d, err := ParseDuration(text)
		if err == nil {
			*field(c) = d
		}
		return err
	}
}

func count(field func(*Config) *int) func(*Config, string) error {
	return func(c *Config, text string) error {
		n, err := strconv.ParseUint(text, 10, 31)
		switch {
		case text == "none" || err == nil && n == 0:
			*field(c) = Unlimited
		case err != nil:
			return fmt.Errorf("want a number, or none, not %.80q", text)
		default:
			*field(c) = int(n)
		}
		return nil
	}
}

func size(field func(*Config) *int64) func(*Config, string) error {
	return func(c *Config, text string) error {
		n, err := ParseSize(text)
		if err == nil {
			*field(c) = n
		}
		return err
	}
}

// outside takes "off", "on" or a size.
func outside(c *Config, text string) error {
	switch strings.ToLower(text) {
	case "off", "false", "no":
		c.NoOutside, c.OutsideSize = true, 0
		return nil
	case "on", "true", "yes":
		c.NoOutside, c.OutsideSize = false, 0
		return nil
	}
	n, err := ParseSize(text)
	if err != nil {
		return fmt.Errorf("%w, or off", err)
	}
	c.NoOutside, c.OutsideSize = false, n
	return nil
}

// list takes patterns; those of several places add up. In a variable they are
// separated by commas or line feeds.
func list(key string, field func(*Config) *[]string) setting {
	return setting{key: key, list: field, text: func(c *Config, text string) error {
		*field(c) = append(*field(c), itemsOf(text)...)
		return nil
	}}
}

// itemsOf splits the value of a variable.
func itemsOf(text string) (items []string) {
	for _, item := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// recipients are those that pushes are sealed for.
var recipients = setting{
	key: "encrypt", good: CheckRecipients, list: func(c *Config) *[]string { return &c.Encrypt },
	text: func(c *Config, text string) error {
		c.Encrypt = append(c.Encrypt, itemsOf(text)...)
		return CheckRecipients(c.Encrypt)
	},
}

// CheckRecipients returns an error, sealed.ErrRecipient, unless a push takes the recipients: those that it can seal
// for, or the one element cairn.EncryptNone.
func CheckRecipients(list []string) error {
	if slices.Equal(list, []string{cairn.EncryptNone}) {
		return nil
	}
	return sealed.Check(list)
}

func userList(key string, field func(*Config) *[]string) setting {
	s := list(key, field)
	s.user = true
	return s
}

// remote takes a remote, or whether the remembered one is meant.
func remote(c *Config, text string) error {
	remembered := false
	if boolean(func(*Config) *bool { return &remembered })(c, text) == nil {
		c.Sync = ""
		if remembered {
			c.Sync = cairn.SyncRemembered
		}
		return nil
	}
	if transfer.IsLocal(text) && !filepath.IsAbs(text) || strings.HasPrefix(text, "-") || strings.ContainsAny(text, "\x00\r\n") {
		return fmt.Errorf("want true, false, a URL or an absolute path, not %.200q", transfer.Redacted(text))
	}
	c.Sync = text
	return nil
}

func path(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, text string) error {
		if !filepath.IsAbs(text) {
			return fmt.Errorf("it must be an absolute path, not %.200q", text)
		}
		*field(c) = filepath.Clean(text)
		return nil
	}
}

func secrets(c *Config, text string) error {
	for _, policy := range []cairn.SecretsPolicy{cairn.SecretsWarn, cairn.SecretsSkip, cairn.SecretsRefuse, cairn.SecretsOff} {
		if text == string(policy) {
			c.Secrets = policy
			return nil
		}
	}
	return fmt.Errorf("want warn, skip, refuse or off, not %.80q", text)
}

// ParseDuration reads a duration: as in Go, and with days and weeks, as in 7d, 2w or
// 1d12h. 0 and none are Unlimited.
func ParseDuration(text string) (time.Duration, error) {
	wrong := fmt.Errorf("want a duration as in 12h, 7d or 2w, or none, not %.80q", text)
	if text == "none" || text == "0" {
		return Unlimited, nil
	}
	var total time.Duration
	rest := text
	for _, unit := range []struct {
		letter string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		digits, after, found := strings.Cut(rest, unit.letter)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || time.Duration(n) > math.MaxInt64/unit.length {
			return 0, wrong
		}
		total, rest = total+time.Duration(n)*unit.length, after
	}
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 {
			return 0, wrong
		}
		total += d
	}
	switch {
	case text == "" || total < 0:
		return 0, wrong
	case total == 0:
		return Unlimited, nil
	}
	return total, nil
}

// ParseSize reads a number of bytes: plain, or with K, M, G or T, each 1024 times the
// one before, followed by nothing, B or iB. 0 and none are Unlimited.
func ParseSize(text string) (int64, error) {
	if text == "none" {
		return Unlimited, nil
	}
	number := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(text), "b"), "i")
	shift := 0
	if n := len(number); n > 0 {
		if i := strings.IndexByte("kmgt", number[n-1]); i >= 0 {
			number, shift = strings.TrimRight(number[:n-1], " "), 10*(i+1)
		}
	}
	n, err := strconv.ParseUint(number, 10, 63-shift)
	switch {
	case err != nil:
		return 0, errors.New("want a number of bytes, with K, M, G or T as in 64M or 5GiB, or none, not " + strconv.Quote(text))
	case n == 0:
		return Unlimited, nil
	}
	return int64(n) << shift, nil
}
