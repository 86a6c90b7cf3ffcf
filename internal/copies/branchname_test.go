package copies

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestBranchName: real git allows a branch of each name, and a directory with a name that is one keeps it.
func TestBranchName(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := t.TempDir()
	for name, want := range map[string]string{
		"try-1": "cairn/try-1", "t33 x": "cairn/t33-x", "a.lock": "cairn/a-lock", ".lock": "cairn/-lock", "a..b": "cairn/a-b",
		"a...b": "cairn/a-.b", ".hidden": "cairn/-hidden", "end.": "cairn/end-", "a.lock.": "cairn/a.lock-", "...": "cairn/--",
		"~^:?*[\\": "cairn/-------", "@{-1}": "cairn/--1}", "@": "cairn/@", "-d": "cairn/-d", "tab\t\x7f": "cairn/tab--", "grün": "cairn/grün",
		"@..{": "cairn/@-{", "..lock": "cairn/-lock", "a.lock.lock": "cairn/a.lock-lock",
	} {
		got := branchName(name)
		if out, err := o.Try(dir, "check-ref-format", "--branch", got); got != want || err != nil || out != got+"\n" {
			t.Errorf("%q: %q, want %q; git says %q, %v", name, got, want, out, err)
		}
	}
}
