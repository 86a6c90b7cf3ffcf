package cli

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/program"
)

const versionManual = `cairn version says which cairn this is.

Usage:
    cairn version

With --json: {"version", "revision", "modified", "go", "os", "arch"}, revision
being the commit that it was built from, where that is known.
`

// release is the version of a release, as in 1.2.3, which its build gives the linker.
var release string

// Build is what the linker recorded.
type Build struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func (c *Program) versionCommand() *cobra.Command {
	return c.Command(Command{
		Use: "version", Short: "which cairn this is", Manual: versionManual,
		Args: ArgCount(0, 0, "no arguments"), Complete: cobra.NoFileCompletions,
		Run: func(context.Context, *cobra.Command, []string) error { return c.printVersion() },
	})
}

// ThisBuild describes the program that runs.
func ThisBuild() Build {
	b := Build{Version: "(devel)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	if release != "" {
		b.Version = "v" + release
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// buildTime is the time of the commit that the program was built from, zero if that is not known.
func buildTime() time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return time.Time{}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			at, err := time.Parse(time.RFC3339, s.Value)
			if err == nil {
				return at
			}
		}
	}
	return time.Time{}
}

func (c *Program) printVersion() error {
	b := ThisBuild()
	if c.Global.JSON {
		return c.WriteJSON(b)
	}
	_, err := fmt.Fprintln(c.Out, b)
	return err
}

func (b Build) String() string {
	text := "cairn " + b.Version + " ("
	if b.Revision != "" {
		text += fmt.Sprintf("commit %.12s", b.Revision)
		if b.Modified {
			text += " and changes"
		}
		text += ", "
	}
	return text + b.Go + ", " + b.OS + "/" + b.Arch + ")"
}

// BuildName is different for each build. A build from changed or unknown sources has
// the size and time of its file in the name.
func BuildName() string {
	b := ThisBuild()
	name := fmt.Sprintf("%s %s %s/%s", b.Version, b.Revision, b.OS, b.Arch)
	if b.Revision != "" && !b.Modified {
		return name
	}
	if path, err := program.Path(); err == nil {
		if info, err := os.Stat(path); err == nil {
			name += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
		}
	}
	return name
}
