package answers

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// gaps are the reasons for which a path of the newest checkpoint is not protected although the rules
// admit it.
var gaps = []string{"unreadable", "unstable", "unread"}

// Gaps says what the newest checkpoint of a root does not hold and could not bring back, and what it had
// better not hold, one fact a line.
// An agent's session begins with it. Paths that rules or limits leave out are no gaps.
func Gaps(ctx context.Context, r *cairn.Repo) (lines []string) {
	if line := gitGap(r); line != "" {
		lines = append(lines, line)
	}
	c, err := r.Lookup(ctx, "@")
	if err != nil {
		return lines // a store without a checkpoint is reported by the session itself
	}
	skipped, err := c.Skipped()
	if err != nil {
		return lines
	}
	byReason := make(map[string][]string)
	for _, s := range skipped {
		byReason[s.Reason] = append(byReason[s.Reason], string(s.Path))
	}
	for _, reason := range gaps {
		if paths := byReason[reason]; len(paths) > 0 {
			slices.Sort(paths)
			lines = append(lines, wording.Listed("not protected, "+reason, paths, pathtext.Quote))
		}
	}
	return append(lines, secretLines(c)...)
}

// secretLines names the files of a checkpoint that hold secrets, or were left out because of one.
func secretLines(c *cairn.Checkpoint) (lines []string) {
	list, err := c.Secrets()
	if err != nil || len(list) == 0 {
		return nil
	}
	skipped, err := c.Skipped()
	if err != nil {
		return nil
	}
	var in, out []string
	for i := range list {
		if slices.ContainsFunc(skipped, func(s cairn.SkippedPath) bool { return s.Path == list[i].Path }) {
			out = append(out, list[i].String())
		} else {
			in = append(in, list[i].String())
		}
	}
	plain := func(text string) string { return text }
	if len(in) > 0 {
		lines = append(lines, wording.Listed("secrets in checkpoints", in, plain))
	}
	if len(out) > 0 {
		lines = append(lines, wording.Listed("not protected, hold secrets", out, plain))
	}
	return lines
}

// gitGap says what of the git repository is not recorded. A repository that its owner has switched off
// is no gap.
func gitGap(r *cairn.Repo) string {
	p := r.GitProtection()
	if p.On && p.Reason != "" {
		return "git is protected only in part: " + p.Reason
	}
	if _, err := os.Lstat(filepath.Join(r.Root(), ".git")); err == nil && !p.On && p.Reason == cairn.NoGitHere {
		return "git is not protected: .git is no repository that can be read"
	}
	return ""
}
