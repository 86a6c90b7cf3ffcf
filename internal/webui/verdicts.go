package webui

import (
	"errors"

	"github.com/seed-fb9cbc17/cairn"
)

// judgedStates is the number of checkpoints with results whose trees are looked up. An equal tree has
// the same results; of older results only the checkpoint itself is marked.
const judgedStates = 200

// verdicts tells by the ids of checkpoints and of trees whether their tests passed. A timeline is there
// without results that cannot be read.
func (v *visit) verdicts() map[string]bool {
	if v.tested == nil {
		all, err := v.project.Repo.TestResults(v.ctx())
		if err != nil {
			v.h.log.Debug("results of tests", "error", err)
		}
		v.tested = cairn.TestVerdicts(all)
		v.judgeTrees(all)
	}
	return v.tested
}

// judgeTrees adds the trees, of which the newest result counts.
func (v *visit) judgeTrees(all []cairn.TestResult) {
	seen := make(map[string]bool)
	for i := len(all) - 1; i >= 0 && len(seen) < judgedStates; i-- {
		id := all[i].Checkpoint
		passed, judged := v.tested[id]
		if !judged || seen[id] {
			continue
		}
		seen[id] = true
		c, err := v.project.Repo.Lookup(v.ctx(), id)
		if err != nil {
			if !errors.Is(err, cairn.ErrNotFound) {
				v.h.log.Debug("results of tests", "error", err)
			}
			continue
		}
		if _, newer := v.tested[c.Hash]; !newer {
			v.tested[c.Hash] = passed
		}
	}
}

// verdict is "passed", "failed" or "" for a state without results.
func (v *visit) verdict(checkpoint, hash string) string {
	passed, judged := v.verdicts()[checkpoint]
	if !judged {
		passed, judged = v.verdicts()[hash]
	}
	switch {
	case !judged:
		return ""
	case passed:
		return "passed"
	}
	return "failed"
}
