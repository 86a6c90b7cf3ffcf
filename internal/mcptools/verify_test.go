package mcptools

import (
	"os"
	"path/filepath"
	"testing"
)

// TestVerifyTool: a whole history has no finding, and a torn ref is one.
func TestVerifyTool(t *testing.T) {
	t.Parallel()
	w := newPast(t)
	var out verified
	wantText(t, "verify", w.call("verify", map[string]any{}, &out), "checkpoints in ", "0 findings")
	if !out.Sound || out.Omitted != 0 {
		t.Errorf("%+v", out)
	}
	w.call("verify", map[string]any{"since": "2001-01-31T15:04:05Z"}, &out)
	w.call("verify", map[string]any{"after": "@"}, &out)
	w.fails("is no time as", "verify", map[string]any{"since": "never"})
	w.fails("not found", "verify", map[string]any{"after": "none"})
	if err := os.WriteFile(filepath.Join(w.repo.StoreDir(), "refs", "cairn", "sessions", "torn"), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantText(t, "verify", w.call("verify", map[string]any{}, &out), "1 finding", "finding: the session torn: ")
	if out.Sound || len(out.Findings) != 1 {
		t.Errorf("%+v", out)
	}
}
