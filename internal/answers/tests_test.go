package answers_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
)

// Results of tests that cannot be read are not silently those of a store without any.
func TestVerdictsTellOfWhatIsLost(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	repo, err := cairn.Open(cairn.Options{
		Root: t.TempDir(), DataDir: t.TempDir(), Force: true, NoSync: true,
		Logger: slog.New(slog.NewTextHandler(&said, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	res, err := repo.Track(t.Context(), cairn.TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.NoteTest(t.Context(), cairn.TestResult{Checkpoint: res.Checkpoint, Command: []string{"true"}}); err != nil {
		t.Fatal(err)
	}
	if passed := answers.Verdicts(t.Context(), repo)(res.Checkpoint); passed == nil || !*passed || said.Len() > 0 {
		t.Fatalf("passed %v, said %q", passed, said.String())
	}
	ref := filepath.Join(repo.StoreDir(), "refs", "cairn", "tests")
	if err := os.WriteFile(ref, []byte("no id\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if passed := answers.Verdicts(t.Context(), repo)(res.Checkpoint); passed != nil || !strings.Contains(said.String(), "results of tests") {
		t.Errorf("passed %v, said %q", passed, said.String())
	}
}
