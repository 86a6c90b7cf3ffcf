package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// A step removes the last file of a directory, or the directory's last but one, beside
// other changes. Reverting brings files and directories back, from a preview as well as
// for good.
func TestRevertOfARemovedDirectory(t *testing.T) {
	t.Parallel()
	for name, others := range map[string][]string{"last file": nil, "another stays": {"web/other"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			repo, err := cairn.Open(cairn.Options{Root: root, DataDir: t.TempDir(), NoSync: true})
			if err != nil {
				t.Fatal(err)
			}
			defer repo.Close()
			s := session.New(repo)
			write := func(path, content string) {
				t.Helper()
				path = filepath.Join(root, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			write("a", "1\n")
			write("web/old", "body\n")
			for _, path := range others {
				write(path, "x\n")
			}
			if _, err := s.BeginStep(t.Context(), session.StepBegin{Session: "s", Message: "m", Role: session.RoleUser, Step: "a"}); err != nil {
				t.Fatal(err)
			}
			write("a", "2\n")
			if err := os.Remove(filepath.Join(root, "web", "old")); err != nil {
				t.Fatal(err)
			}
			if others == nil {
				if err := os.Remove(filepath.Join(root, "web")); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.EndStep(t.Context(), session.StepEnd{Session: "s", Step: "a"}); err != nil {
				t.Fatal(err)
			}
			to := session.Target{Message: "m"}
			if _, _, err := s.Revert(t.Context(), "s", to, session.MoveOptions{DryRun: true}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := s.Revert(t.Context(), "s", to, session.MoveOptions{}); err != nil {
				t.Fatal(err)
			}
			for path, want := range map[string]string{"a": "1\n", "web/old": "body\n"} {
				if got, err := os.ReadFile(filepath.Join(root, path)); string(got) != want {
					t.Errorf("%s is %q (%v), want %q", path, got, err, want)
				}
			}
		})
	}
}
