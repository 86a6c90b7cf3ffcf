//go:build unix

package cairn_test

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// BenchmarkFirstTrackSecrets compares first tracks that look for secrets with first tracks that do not, in
// turns. The ratio is that of the smallest processor times, which other processes disturb least. The directory
// is this module, or CAIRN_SECRETS_CORPUS.
func BenchmarkFirstTrackSecrets(b *testing.B) {
	root := os.Getenv("CAIRN_SECRETS_CORPUS")
	if root == "" {
		root = "."
	}
	used := make(map[cairn.SecretsPolicy]time.Duration)
	policies := []cairn.SecretsPolicy{cairn.SecretsOff, cairn.SecretsWarn}
	for b.Loop() {
		for _, policy := range policies {
			runtime.GC()
			began := cpuTime()
			data := b.TempDir()
			repo, err := cairn.Open(cairn.Options{Root: root, DataDir: data, Secrets: policy, NoBorrow: true, NoSync: true})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := repo.Track(context.Background(), cairn.TrackOptions{}); err != nil {
				b.Fatal(err)
			}
			if err := repo.Close(); err != nil {
				b.Fatal(err)
			}
			if now := cpuTime() - began; used[policy] == 0 || now < used[policy] {
				used[policy] = now
			}
			os.RemoveAll(data)
		}
		policies[0], policies[1] = policies[1], policies[0]
	}
	b.ReportMetric(float64(used[cairn.SecretsWarn])/float64(used[cairn.SecretsOff]), "cpu-ratio")
	b.ReportMetric(used[cairn.SecretsOff].Seconds(), "cpu-s-off")
}
