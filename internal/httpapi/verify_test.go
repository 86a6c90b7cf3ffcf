package httpapi

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// TestVerify: a whole history has no finding, and a torn ref is one.
func TestVerify(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	var tr protocol.Track
	f.call("POST", "/track", struct{}{}).want(t, 200, &tr)
	var report cairn.VerifyReport
	if f.call("GET", "/verify", nil).want(t, 200, &report); !report.Sound || report.Checkpoints != 1 || len(report.Lines) != 1 {
		t.Errorf("%+v", report)
	}
	if f.call("GET", "/verify?after="+tr.Checkpoint, nil).want(t, 200, &report); !report.Sound || report.Checkpoints != 0 {
		t.Errorf("%+v", report)
	}
	f.call("GET", "/verify?after=none", nil).problem(t, 404, "not-found")
	f.call("GET", "/verify?since=never", nil).problem(t, 400, "bad-request")
	torn := filepath.Join(cairn.StorePath(f.dataDir, f.root), "refs", "cairn", "sessions", "torn")
	if err := os.MkdirAll(filepath.Dir(torn), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(torn, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f.call("GET", "/verify", nil).want(t, 200, &report); report.Sound || report.Findings[0].Kind != "ref" {
		t.Errorf("%+v", report)
	}
}
