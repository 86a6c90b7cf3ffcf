package peers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// Restic is the backup program of that name, with its repository on the same disk.
// Its snapshots are not trees: a new one comes of every backup, and none says what
// changed inside of a file. It knows no rules of git, so it gets the list of what they
// ignore; a restore writes every file and deletes none.
type Restic struct {
	system.Processes
	git, program string
	store        string
}

// NewRestic returns restic in a setting.
func NewRestic(s Setting) *Restic {
	r := &Restic{
		Processes: system.Processes{Dir: s.Root, Env: system.CleanEnv(s.Home)},
		git:       s.Git, program: s.Restic, store: filepath.Join(s.Store, "restic"),
	}
	r.Env = append(r.Env, "RESTIC_PASSWORD=bench", "RESTIC_REPOSITORY="+r.store, "RESTIC_CACHE_DIR="+filepath.Join(s.Store, "cache"))
	return r
}

// Reset makes an empty repository, which is no part of the first track.
func (r *Restic) Reset() error {
	for _, dir := range []string{r.store, filepath.Join(filepath.Dir(r.store), "cache")} {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(r.store), 0o755); err != nil {
		return err
	}
	if _, err := r.Run("", r.program, "init"); err != nil {
		return err
	}
	return r.Exclude()
}

// Excludes is the file that lists what git ignores.
func (r *Restic) Excludes() string { return r.store + ".exclude" }

// Exclude writes the list of what git ignores, in restic's patterns.
func (r *Restic) Exclude() error {
	list := r.store + ".git"
	if _, err := r.Run("", r.git, "init", "--quiet", "--bare", list); err != nil {
		return err
	}
	out, err := r.Run("", r.git, "--git-dir", list, "--work-tree", r.Dir,
		"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	if err != nil {
		return err
	}
	escape := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "$", "$$")
	patterns := []string{escape.Replace(filepath.Join(r.Dir, ".git"))}
	for _, path := range NulSeparated(out) {
		patterns = append(patterns, escape.Replace(filepath.Join(r.Dir, filepath.FromSlash(path))))
	}
	return errors.Join(os.RemoveAll(list), os.WriteFile(r.Excludes(), []byte(strings.Join(patterns, "\n")+"\n"), 0o644))
}

// Track returns the id of the snapshot.
func (r *Restic) Track() (string, error) {
	out, err := r.Run("", r.program, "backup", "--quiet", "--json", "--exclude-file", r.Excludes(), ".")
	if err != nil {
		return "", err
	}
	var id string
	err = jsonLines(out, func(line []byte) error {
		var summary struct {
			Type string `json:"message_type"`
			ID   string `json:"snapshot_id"`
		}
		err := json.Unmarshal(line, &summary)
		if summary.Type == "summary" {
			id = summary.ID
		}
		return err
	})
	if err == nil && id == "" {
		err = fmt.Errorf("restic backup printed no snapshot id: %q", out)
	}
	return id, err
}

// DiffFull gets the names only.
func (r *Restic) DiffFull(from, to string) (func() (int, error), error) {
	out, err := r.Run("", r.program, "diff", "--json", from, to)
	return func() (int, error) {
		changed := 0
		err := jsonLines(out, func(line []byte) error {
			var message struct {
				Type string `json:"message_type"`
				Path string `json:"path"`
			}
			err := json.Unmarshal(line, &message)
			if message.Type == "change" && !strings.HasSuffix(message.Path, "/") {
				changed++
			}
			return err
		})
		return changed, err
	}, err
}

// jsonLines calls f for every line that is an object; restic says other things, too.
func jsonLines(text string, f func(line []byte) error) error {
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if line := lines.Bytes(); len(line) > 0 && line[0] == '{' {
			if err := f(line); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// Restore works in place, as the others do. Older versions of restic say that symlinks
// that are there cannot be made, and fail after everything else was done.
func (r *Restic) Restore(snapshot string) error {
	_, err := r.Run("", r.program, "restore", "--quiet", snapshot, "--target", r.Dir)
	if system.ExitedWith(err) && OnlySymlinks(err.Error()) {
		return nil
	}
	return err
}

// OnlySymlinks reports whether all that restic complains of are symlinks that are
// there already.
func OnlySymlinks(diagnostics string) bool {
	complaints := 0
	for line := range strings.Lines(diagnostics) {
		if !strings.Contains(line, "ignoring error for ") {
			continue
		}
		if complaints++; !strings.Contains(line, ": Symlink: ") || !strings.HasSuffix(strings.TrimSpace(line), "file exists") {
			return false
		}
	}
	return complaints > 0
}
