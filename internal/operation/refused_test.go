package operation

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// TestJournalThatIsRefused: a journal that may not be read is no damaged one, and stays.
func TestJournalThatIsRefused(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("every file can be read here")
	}
	r := &Operator{Capturer: capture.New(statetest.NewStore(t), nil)}
	if err := r.DB.WriteJournal(history.JournalName, []byte("{}"), nil); err != nil {
		t.Fatal(err)
	}
	path := r.DB.JournalPath(history.JournalName)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	err := r.Locked(t.Context(), func(l *history.Locked) error { return r.RecoverOperations(t.Context(), l) })
	if !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
}
