package trees

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// The small real tree is the source of a program in Go, of about 5,000 files, from the
// module proxy: one zip file of 29 MB whose contents the checksum vouches for.
const (
	smallModule  = "github.com/hashicorp/nomad"
	smallVersion = "v1.6.0"
	smallSum     = "h1:HFR2+jfBN2LASqV+qP+p0Uzsxq3WobsO6y886cmZeSo="
)

// SmallName is the name of the small real tree.
func SmallName() string { return filepath.Base(smallModule) + "-" + smallVersion[1:] }

// ModuleTree returns the directory of the module and fetches it first where the
// module cache lacks it.
func ModuleTree(cache string, progress *system.Progress) (string, error) {
	progress.Say("source of %s", SmallName())
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	cmd := exec.Command("go", "mod", "download", "-json", smallModule+"@"+smallVersion)
	cmd.Dir = work // not in a module of its own, which would be changed
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GO111MODULE=on")
	out, err := cmd.Output()
	var module struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &module); jsonErr != nil || module.Error != "" || err != nil {
		return "", fmt.Errorf("go mod download %s: %w (%s)", smallModule, errors.Join(err, jsonErr), module.Error)
	}
	if module.Sum != smallSum {
		return "", fmt.Errorf("%s %s has the sum %s, not %s", smallModule, smallVersion, module.Sum, smallSum)
	}
	return module.Dir, nil
}
