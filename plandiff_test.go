package cairn_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

// A plan has the change of each file, so that a caller shows what will happen on disk, a merge with
// later changes included.
func TestPlanHasChangesOnDisk(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	repo, err := cairn.Open(cairn.Options{Root: root, DataDir: t.TempDir(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	track := func(text string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, "a"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		res, err := repo.Track(t.Context(), cairn.TrackOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return res.Checkpoint
	}
	from, to := track("1\n2\n3\n4\n5\n"), track("one\n2\n3\n4\n5\n")
	now := "one\n2\n3\n4\nfive\n"
	track(now)
	res, err := repo.Revert(t.Context(), cairn.Range{From: from, To: to}, cairn.RevertOptions{DryRun: true})
	if err != nil || len(res.Plan) != 1 || res.Plan[0].OnDisk() == nil {
		t.Fatalf("plan %+v, %v", res, err)
	}
	for d, err := range repo.FileDiffs(t.Context(), []cairn.Change{*res.Plan[0].OnDisk()}, cairn.DiffOptions{}) {
		if err != nil || d.Before != now || d.After != "1\n2\n3\n4\nfive\n" {
			t.Errorf("%q becomes %q, %v", d.Before, d.After, err)
		}
	}
}
