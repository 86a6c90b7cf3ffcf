package gittest

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// NeedGit skips a test where no git is installed.
func NeedGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
}

// Bare runs git on a bare repository and returns its output. It inherits nothing but the path.
func Bare(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	out, err := TryBare(t, dir, stdin, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// TryBare is Bare for a git that may fail. The output of a failure includes its messages.
func TryBare(t testing.TB, dir, stdin string, args ...string) (string, error) {
	t.Helper()
	NeedGit(t)
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LC_ALL=C",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_DIR=" + dir,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c@example.org",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String() + stderr.String(), err
	}
	return stdout.String(), nil
}

// FsckBare has git check a bare repository and its packs, if a git is installed.
func FsckBare(t testing.TB, dir string, packs ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		return
	}
	if out := Bare(t, dir, "", "fsck", "--strict", "--full", "--no-dangling"); out != "" {
		t.Fatalf("git fsck says:\n%s", out)
	}
	for _, name := range packs {
		Bare(t, dir, "", "verify-pack", "-v", "objects/pack/"+name+".idx")
	}
}
