//go:build unix

package conversation

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// answering is an app server that answers every request, the third one as it is told.
const answering = `n=0
while read -r line; do
	case $line in
	*initialized*) ;;
	*thread/revert*) echo "$1"; cat >/dev/null; exit ;;
	*) n=$((n+1)); echo "{\"method\":\"noise\"}"; echo "{\"id\":$n,\"result\":{}}" ;;
	esac
done`

// TestMoveBy: the outcome is what the server answers. A server that ends without an answer, or is not
// there, is an error at once.
func TestMoveBy(t *testing.T) {
	t.Parallel()
	p := Place{Agent: "codex", Session: "s", Message: "m"}
	if err := p.moveBy(t.Context(), t.TempDir(), "sh", "-c", answering, "sh", `{"id":3,"result":{}}`); err != nil {
		t.Error(err)
	}
	err := p.moveBy(t.Context(), t.TempDir(), "sh", "-c", answering, "sh", `{"id":3,"error":{"message":"no such turn"}}`)
	if err == nil || err.Error() != "thread/revert: no such turn" {
		t.Errorf("a refusal: %v", err)
	}
	if err := p.moveBy(t.Context(), t.TempDir(), "sh", "-c", "read -r line; exit 2"); !errors.Is(err, io.EOF) {
		t.Errorf("a server that ends: %v", err)
	}
	if err := p.moveBy(t.Context(), t.TempDir(), "no-such-program-of-cairn"); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("a server that is not there: %v", err)
	}
}

// TestMoveInTime: a server that does not answer is killed.
func TestMoveInTime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := Place{Agent: "codex", Session: "s", Message: "m"}.moveBy(ctx, t.TempDir(), "sleep", "600")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a server that is slow: %v", err)
	}
}
