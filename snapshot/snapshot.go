// Package snapshot is cairn in the form of OpenCode's specification: functions that
// take a Config and work on hashes. It is a thin layer over package cairn, which has
// the full API with contexts, typed results and errors for everything.
//
//	cfg := snapshot.Config{Enabled: true, WorkDir: dir, DataDir: data}
//	before, err := snapshot.Track(cfg)
//	... the agent works ...
//	patch, err := snapshot.GetPatch(cfg, before)
//	err = snapshot.Revert(cfg, []snapshot.Patch{patch})
//
// Where the specification loses work, this package does not: a failed capture is an
// error and never an old hash, a file that may have existed without being captured
// is not deleted, and whatever is overwritten or deleted is saved first.
package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Config says what to snapshot. The fields after DataDir may be left out.
type Config struct {
	Enabled bool
	WorkDir string // captured as a whole
	DataDir string // stores lie in DataDir/snapshot

	MaxFileSize int64        // in bytes; 0 = cairn.DefaultMaxFileSize, cairn.NoLimit = none
	Home        string       // where the user's git configuration lies, for core.excludesFile; "" = not read
	Logger      *slog.Logger // nil = silent
}

// Patch lists the files that differ from a hash, as absolute paths.
type Patch struct {
	Hash  string   `json:"hash"`
	Files []string `json:"files"`
}

// MarshalJSON implements json.Marshaler; see cairn.Path for paths that are not
// UTF-8.
func (p Patch) MarshalJSON() ([]byte, error) { return json.Marshal(p.full()) }

// UnmarshalJSON implements json.Unmarshaler.
func (p *Patch) UnmarshalJSON(data []byte) error {
	var full cairn.Patch
	if err := json.Unmarshal(data, &full); err != nil {
		return err
	}
	*p = Patch{full.Hash, full.Files}
	return nil
}

func (p Patch) full() cairn.Patch { return cairn.Patch{Hash: p.Hash, Files: p.Files} }

// FileDiff is one changed file with its texts: both are empty for a binary file.
type FileDiff struct {
	File      string `json:"file"` // from WorkDir, '/'-separated
	Before    string `json:"before"`
	After     string `json:"after"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Status    string `json:"status"` // added, modified or deleted
	Patch     string `json:"patch"`  // as git prints it
}

// MarshalJSON implements json.Marshaler; see cairn.Path for the file name.
func (d FileDiff) MarshalJSON() ([]byte, error) {
	return json.Marshal(cairn.FileDiff{
		File: cairn.Path(d.File), Before: d.Before, After: d.After, Additions: d.Additions,
		Deletions: d.Deletions, Status: cairn.Status(d.Status), Patch: d.Patch,
	})
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *FileDiff) UnmarshalJSON(data []byte) error {
	var full cairn.FileDiff
	if err := json.Unmarshal(data, &full); err != nil {
		return err
	}
	*d = FileDiff{string(full.File), full.Before, full.After, full.Additions, full.Deletions, string(full.Status), full.Patch}
	return nil
}

// ErrDisabled says that snapshots are switched off in the Config.
var ErrDisabled = errors.New("snapshots are disabled")

func (cfg Config) logger() *slog.Logger {
	if cfg.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return cfg.Logger
}

// with runs f on the opened store.
func (cfg Config) with(f func(ctx context.Context, r *cairn.Repo) error) error {
	r, err := cairn.Open(cairn.Options{
		Root: cfg.WorkDir, DataDir: cfg.DataDir, MaxFileSize: cfg.MaxFileSize, Home: cfg.Home, Logger: cfg.Logger,
	})
	if err != nil {
		return err
	}
	return errors.Join(f(context.Background(), r), r.Close())
}

// Track records the present state and returns its hash: the id of a git tree. A
// disabled Config gives "" and no error.
func Track(cfg Config) (hash string, err error) {
	if !cfg.Enabled {
		return "", nil
	}
	err = cfg.with(func(ctx context.Context, r *cairn.Repo) error {
		t, err := r.Track(ctx, cairn.TrackOptions{})
		if err == nil {
			hash = t.Hash
		}
		return err
	})
	return hash, err
}

// GetPatch lists the files that differ between a hash and the present state. An
// unknown hash gives an empty patch, which is logged.
func GetPatch(cfg Config, hash string) (Patch, error) {
	patch := Patch{Hash: hash, Files: []string{}}
	if !cfg.Enabled {
		return patch, nil
	}
	err := cfg.with(func(ctx context.Context, r *cairn.Repo) error {
		p, err := r.Patch(ctx, hash, "")
		if err == nil {
			patch = Patch{p.Hash, p.Files}
		}
		return err
	})
	if errors.Is(err, cairn.ErrNotFound) {
		cfg.logger().Warn("no patch: unknown hash", "hash", hash)
		return patch, nil
	}
	return patch, err
}

// Restore brings every file of a hash back. It is an overlay: files created since
// stay, unless one stands where the hash has a directory, or the reverse. A path
// that could not be restored makes it an error, after all others are done.
func Restore(cfg Config, hash string) error {
	if !cfg.Enabled {
		return ErrDisabled
	}
	return cfg.with(func(ctx context.Context, r *cairn.Repo) error {
		res, err := r.Restore(ctx, hash, cairn.RestoreOptions{KeepNew: true})
		return incomplete(res, err)
	})
}

// Revert brings the files of patches back, each to the first hash that names it.
// Files that the hash does not have were created since and are deleted.
func Revert(cfg Config, patches []Patch) error {
	if !cfg.Enabled {
		return ErrDisabled
	}
	list := make([]cairn.Patch, len(patches))
	for i, p := range patches {
		list[i] = p.full()
	}
	return cfg.with(func(ctx context.Context, r *cairn.Repo) error {
		res, err := r.RevertPatches(ctx, list, cairn.RevertPatchesOptions{})
		return incomplete(res, err)
	})
}

func incomplete(res *cairn.Result, err error) error {
	if err != nil || len(res.Conflicts) == 0 {
		return err
	}
	first := res.Conflicts[0]
	return fmt.Errorf("%w: not as wanted: %s, the first is %s: %s", cairn.ErrConflict, wording.Count(len(res.Conflicts), "path"), first.Path, first.Reason)
}

// Diff returns the difference between a hash and the present state as git prints
// it, without the final newline. An unknown hash, "" among them, is a cairn.ErrNotFound.
func Diff(cfg Config, hash string) (string, error) {
	if !cfg.Enabled {
		return "", nil
	}
	var text strings.Builder
	err := cfg.with(func(ctx context.Context, r *cairn.Repo) error {
		if _, err := r.Lookup(ctx, hash); err != nil {
			return err
		}
		return r.Diff(ctx, &text, hash, "", cairn.DiffOptions{})
	})
	return strings.TrimSuffix(text.String(), "\n"), err
}

// DiffFull lists the files that differ between two hashes, with their texts. An unknown hash, ""
// among them, is a cairn.ErrNotFound.
func DiffFull(cfg Config, from, to string) ([]FileDiff, error) {
	diffs := []FileDiff{}
	if !cfg.Enabled {
		return diffs, nil
	}
	err := cfg.with(func(ctx context.Context, r *cairn.Repo) error {
		for _, hash := range []string{from, to} {
			if _, err := r.Lookup(ctx, hash); err != nil {
				return err
			}
		}
		for d, err := range r.DiffFull(ctx, from, to, cairn.DiffOptions{}) {
			if err != nil {
				return err
			}
			diffs = append(diffs, FileDiff{
				File: string(d.File), Before: d.Before, After: d.After, Additions: d.Additions,
				Deletions: d.Deletions, Status: string(d.Status), Patch: d.Patch,
			})
		}
		return nil
	})
	return diffs, err
}
