package setup

import (
	"errors"
	"slices"
	"testing"
)

// TestLasting: which path hooks name, for the layouts of package managers on each system.
func TestLasting(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, os, file, path string
		same                 []string // paths that lead to the file
		want                 string
		passing              bool
	}{
		{"in PATH", "linux", "/usr/local/bin/cairn", "/usr/bin:/usr/local/bin", nil, "/usr/local/bin/cairn", false},
		{"not in PATH", "linux", "/opt/cairn/cairn", "/usr/bin", nil, "/opt/cairn/cairn", false},
		{"another one in PATH", "linux", "/opt/cairn/cairn", "/usr/bin:/usr/local/bin", []string{"/usr/local/bin/cairn"}, "/usr/local/bin/cairn", false},
		{"relative in PATH", "linux", "/opt/cairn/cairn", ".:bin", []string{"./cairn", "bin/cairn"}, "/opt/cairn/cairn", false},
		{"Homebrew", "darwin", "/opt/homebrew/Cellar/cairn/1.2.3/bin/cairn", "/opt/homebrew/bin:/usr/bin", []string{"/opt/homebrew/bin/cairn"}, "/opt/homebrew/bin/cairn", false},
		{"Homebrew, PATH of another", "darwin", "/opt/homebrew/Cellar/cairn/1.2.3/bin/cairn", "/usr/bin", []string{"/opt/homebrew/opt/cairn/bin/cairn"}, "/opt/homebrew/opt/cairn/bin/cairn", false},
		{"Homebrew, unlinked", "darwin", "/opt/homebrew/Cellar/cairn/1.2.3/bin/cairn", "/usr/bin", nil, "/opt/homebrew/Cellar/cairn/1.2.3/bin/cairn", true},
		{"the version itself in PATH", "linux", "/nix/store/abc-cairn-1/bin/cairn", "/nix/store/abc-cairn-1/bin:/usr/bin", []string{"/home/dev/.nix-profile/bin/cairn"}, "/home/dev/.nix-profile/bin/cairn", false},
		{"NixOS", "linux", "/nix/store/abc-cairn-1/bin/cairn", "/run/current-system/sw/bin", []string{"/run/current-system/sw/bin/cairn"}, "/run/current-system/sw/bin/cairn", false},
		{"nix shell", "linux", "/nix/store/abc-cairn-1/bin/cairn", "/nix/store/abc-cairn-1/bin", nil, "/nix/store/abc-cairn-1/bin/cairn", true},
		{"npx", "linux", "/home/dev/.npm/_npx/0a1b/node_modules/.bin/cairn", "/home/dev/.npm/_npx/0a1b/node_modules/.bin", nil, "/home/dev/.npm/_npx/0a1b/node_modules/.bin/cairn", true},
		{"mise", "linux", "/home/dev/.local/share/mise/installs/cairn/1.2/bin/cairn", "/home/dev/bin", []string{"/home/dev/bin/cairn"}, "/home/dev/bin/cairn", false},
		{"Scoop", "windows", `C:\Users\dev\scoop\apps\cairn\1.2.3\cairn.exe`, `C:\Windows`, []string{`C:\Users\dev\scoop\apps\cairn\current\cairn.exe`}, `C:\Users\dev\scoop\apps\cairn\current\cairn.exe`, false},
		{"Scoop, by its junction", "windows", `C:\Users\dev\scoop\apps\cairn\current\cairn.exe`, `C:\Windows`, nil, `C:\Users\dev\scoop\apps\cairn\current\cairn.exe`, false},
		{"WinGet", "windows", `C:\Users\dev\AppData\Local\Microsoft\WinGet\Packages\cairn_x\cairn.exe`, `C:\Users\dev\AppData\Local\Microsoft\WinGet\Links;C:\Windows`,
			[]string{`C:\Users\dev\AppData\Local\Microsoft\WinGet\Links\cairn.exe`}, `C:\Users\dev\AppData\Local\Microsoft\WinGet\Links\cairn.exe`, false},
		{"a folder in PATH", "windows", `D:\tools\cairn.exe`, `C:\Windows;D:\tools\`, nil, `D:\tools\cairn.exe`, false},
	} {
		p := Program{OS: test.os, File: test.file, Path: test.path, Home: "/home/dev", User: "dev", Same: func(a, b string) bool {
			return a == b || b == test.file && slices.Contains(test.same, a)
		}}
		got, passing, err := p.Lasting()
		if got != test.want || passing != test.passing || err != nil {
			t.Errorf("%s: %s, %v, %v; want %s, %v", test.name, got, passing, err, test.want, test.passing)
		}
	}
}

// TestCached: a program in a cache is told from one of a version.
func TestCached(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		os, file string
		want     bool
	}{
		{"linux", "/home/dev/.npm/_npx/0a1b/node_modules/cairn-cli-linux-x64/bin/cairn", true},
		{"linux", "/home/dev/.cache/pnpm/dlx-123/node_modules/cairn-cli-linux-x64/bin/cairn", true},
		{"darwin", "/Users/dev/.bun/install/cache/cairn-cli-darwin-arm64@1.2.3/bin/cairn", true},
		{"windows", `C:\Users\dev\AppData\Local\npm-cache\_npx\0a1b\node_modules\cairn-cli-win32-x64\bin\cairn.exe`, true},
		{"linux", "/usr/lib/node_modules/cairn-cli-linux-x64/bin/cairn", false},
		{"linux", "/nix/store/abc-cairn-1/bin/cairn", false},
		{"darwin", "/opt/homebrew/Cellar/cairn/1.2.3/bin/cairn", false},
		{"linux", "/usr/local/bin/cairn", false},
	} {
		if p := (&Program{OS: test.os, File: test.file}); p.Cached() != test.want {
			t.Errorf("%s: want %t", test.file, test.want)
		}
	}
}

// TestGoRun: hooks would call a program that is gone a moment later.
func TestGoRun(t *testing.T) {
	t.Parallel()
	for system, file := range map[string]string{
		"linux": "/tmp/go-build1234567/b001/exe/cairn", "windows": `C:\Users\dev\AppData\Local\Temp\go-build42\b001\exe\cairn.exe`,
		"darwin": "/var/folders/x/T/go-build9/b001/exe/cairn",
	} {
		p := Program{OS: system, File: file, Same: func(a, b string) bool { return a == b }}
		if _, _, err := p.Lasting(); !errors.Is(err, ErrTemporary) {
			t.Errorf("%s: %v", file, err)
		}
	}
	p := Program{OS: "linux", File: "/home/dev/go-builder/exe.d/cairn", Same: func(a, b string) bool { return a == b }}
	if _, _, err := p.Lasting(); err != nil {
		t.Errorf("%v", err)
	}
}
