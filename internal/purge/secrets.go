package purge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/scan"
)

// PurgeSecretsOptions narrows PurgeSecrets.
type PurgeSecretsOptions struct {
	Paths  []string // absolute, or from the root; only these and what lies below them; none = everything
	DryRun bool     // only list what would go
}

// PurgeSecretsResult is the answer of PurgeSecrets. With DryRun it has nothing but findings. Where nothing is
// found, Freed is the size of contents that nothing led to.
type PurgeSecretsResult struct {
	Findings []HistorySecret `json:"findings"` // by path and rule
	PurgeResult

	// Uncaptured lists paths that are not captured until Unpurge, because their files still have the
	// purged contents.
	Uncaptured state.Paths `json:"uncaptured"`
}

// PurgeSecrets looks for credentials in everything that the history holds, and removes the contents that
// have one. cairn.Repo.PurgeSecrets states the contract.
func (r *Rewriter) PurgeSecrets(ctx context.Context, opt PurgeSecretsOptions) (*PurgeSecretsResult, error) {
	var scope *state.PathScope
	var paths []string
	if len(opt.Paths) > 0 {
		var err error
		if paths, err = r.purgePaths(opt.Paths); err != nil {
			return nil, err
		}
		scope = state.NewPathScope(paths)
	}
	f, err := r.findSecrets(ctx, scope)
	if err != nil {
		return nil, fmt.Errorf("look for secrets: %w", err)
	}
	missing, err := f.missing(paths)
	if err != nil {
		return nil, err
	}
	if len(paths) > 0 && len(missing) == len(paths) {
		return nil, state.NotFound("no checkpoint holds %s", strings.Join(paths, " or "))
	}
	done := &PurgeSecretsResult{PurgeResult: PurgeResult{
		Paths: state.Paths{}, Checkpoints: []string{}, Elsewhere: []string{}, NotFound: missing,
	}, Uncaptured: state.Paths{}}
	if done.Findings, err = f.listed(); err != nil || opt.DryRun {
		return done, err
	}
	if len(f.found) == 0 && !r.isUnfinished() {
		done.Freed, err = r.collectAll(ctx)
		return done, err
	}
	p, away := f.purger()
	if err = p.purgeOutside(ctx, away, &done.PurgeResult); err == nil {
		err = r.purgeBy(ctx, p, &done.PurgeResult)
	}
	done.NotFound = missing
	done.Uncaptured = slices.Concat(done.Uncaptured, p.denied, p.deniedAway)
	return done, err
}

// missing lists the paths that no state in the history holds. An interrupted purge may have taken them out already, so
// nothing is said while one is to be completed.
func (f *finder) missing(paths []string) (missing []string, err error) {
	if f.repo.isUnfinished() {
		return nil, nil
	}
	for _, path := range paths {
		held := false
		for i := 0; i < len(f.roots) && !held; i++ {
			e, err := f.repo.EntryOrNil(f.roots[i], path)
			if err != nil {
				return nil, err
			}
			held = e != nil
		}
		if !held {
			missing = append(missing, path)
		}
	}
	return missing, nil
}

// purger returns what removes the contents that were found, and their paths outside the root.
func (f *finder) purger() (p *purger, away []string) {
	p = newPurger(f.repo, nil)
	p.only = make(map[object.ID]bool)
	paths, outside := make(map[string]bool), make(map[string]bool)
	for at := range f.found {
		p.only[at.id] = true
		if f.away[at] > 0 {
			outside[at.path] = true
		} else {
			paths[at.path] = true
		}
	}
	p.paths = slices.Sorted(maps.Keys(paths))
	p.deny = p.stillThere
	return p, slices.Sorted(maps.Keys(outside))
}

// stillThere lists the paths whose files have purged contents now. Where the settings leave files with
// secrets out, the next capture does so by itself.
func (p *purger) stillThere() (paths []string) {
	if policy := p.repo.Opt.Secrets; policy == settings.SecretsSkip || policy == settings.SecretsRefuse {
		return nil
	}
	for _, path := range p.foundPaths() {
		if at, err := scan.Identify(p.repo.Root, path); err == nil && p.only[at.ID] {
			paths = append(paths, path)
		}
	}
	return paths
}
