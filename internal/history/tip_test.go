package history_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// TestTipThatIsRefused: a line whose ref may not be read is an error. A directory in the place of the ref is damage.
func TestTipThatIsRefused(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("every file can be read here")
	}
	store := statetest.NewStore(t)
	line := store.Today()
	want := statetest.Append(t, store, line, statetest.NewStateOf(t, store, nil), history.StateLabel{Message: "m"})
	ref := filepath.Join(store.DB.Dir(), filepath.FromSlash(line))
	if err := os.Chmod(ref, 0); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Tip(line); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.Chmod(ref, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Tip(line); err != nil || history.IDOf(got) != history.IDOf(want) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := errors.Join(os.Remove(ref), os.Mkdir(ref, 0o700)); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Tip(line); got != nil || err != nil {
		t.Errorf("a directory in its place: %+v, %v", got, err)
	}
}
