package cli

import (
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/config"
)

func TestByteSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "4096": 4096, "1k": 1 << 10, "3K": 3 << 10, "64M": 64 << 20, "2g": 2 << 30,
		"9223372036854775807": 1<<63 - 1, "8589934591G": 8589934591 << 30,
	} {
		var s byteSize
		if err := s.Set(text); err != nil || s.bytes != want {
			t.Errorf("%q: %d and %v, want %d", text, s.bytes, err, want)
		}
	}
	for _, text := range []string{"", "K", "-1", "+1", "1.5M", "1T", "1KB", " 1", "0x10", "1_000", "9223372036854775808", "8589934592G", "K1"} {
		var s byteSize
		if err := s.Set(text); err == nil {
			t.Errorf("%q is taken for %d", text, s.bytes)
		}
	}
}

func TestMaxFileSize(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flag, env string
		want      int64
	}{
		{"", "", 0}, {"0", "", cairn.NoLimit}, {"", "0", cairn.NoLimit}, {"5", "0", 5}, {"0", "5", cairn.NoLimit}, {"", "2K", 2048},
	} {
		c := &Program{}
		cfg, err := config.Load(config.Sources{Env: func(name string) string {
			if name == "CAIRN_MAX_FILE_SIZE" {
				return test.env
			}
			return ""
		}})
		if err != nil {
			t.Fatal(err)
		}
		if test.flag != "" {
			if err := c.Global.MaxFileSize.Set(test.flag); err != nil {
				t.Fatal(err)
			}
		}
		if got := c.maxFileSize(cfg); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}

// TestSystemDataDir: each system's own place.
func TestSystemDataDir(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := &Program{Env: func(string) string { return home }}
	for goos, want := range map[string]string{
		"linux":   filepath.Join(home, ".local", "share", "cairn"),
		"freebsd": filepath.Join(home, ".local", "share", "cairn"),
		"darwin":  filepath.Join(home, "Library", "Application Support", "cairn"),
		"windows": filepath.Join(home, "cairn"),
	} {
		if got, _ := c.systemDataDir(goos); got != want {
			t.Errorf("%s: %s, want %s", goos, got, want)
		}
		c := &Program{Env: func(string) string { return "" }}
		if got, variable := c.systemDataDir(goos); got != "" || variable == "" {
			t.Errorf("%s without a home: %q, %q", goos, got, variable)
		}
	}
}
