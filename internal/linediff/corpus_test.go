package linediff

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// maxDisagreement is the share of pairs, in per cent, that may come out
// otherwise than git prints them.
const maxDisagreement = 0.05

// TestCorpus compares the package with git on pairs of files from a directory,
// such as the one that the program in corpus writes: counts and patches, with the
// usual context and with none.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("CAIRN_DIFF_CORPUS")
	if dir == "" {
		t.Skip("CAIRN_DIFF_CORPUS names no directory with the trees old and new")
	}
	for _, context := range []int{defaultContext, 0} {
		t.Run(fmt.Sprint(context), func(t *testing.T) {
			t.Parallel()
			compareCorpus(t, dir, context)
		})
	}
}

func compareCorpus(t *testing.T, dir string, context int) {
	var sum tally
	askGit(t, dir, context, func(path string, v verdict) {
		a, errA := os.ReadFile(filepath.Join(dir, "old", path))
		b, errB := os.ReadFile(filepath.Join(dir, "new", path))
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if what := sum.check(t, a, b, context, v); what != "" {
			t.Logf("%s: %s", path, what)
		}
	})
	t.Logf("linediff: context %d: %v", context, sum)
	if sum.pairs == 0 || sum.own > 0 {
		t.Errorf("%d pairs, %d of which have other counts than lines", sum.pairs, sum.own)
	}
	if percent(sum.counts, sum.pairs) > maxDisagreement || percent(sum.texts, sum.pairs) > maxDisagreement {
		t.Errorf("more than %g %% of the pairs differ", maxDisagreement)
	}
}
