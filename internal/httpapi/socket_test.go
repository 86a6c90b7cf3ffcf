package httpapi

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// TestASocketOfAnotherServer: a server whose data directory was removed under it leaves the socket of the next one.
func TestASocketOfAnotherServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	listen := func() net.Listener {
		claim, err := NewClaim(data)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { claim.Close() })
		l, err := claim.Listen()
		if err != nil {
			t.Skip(err) // the path may be too long for a socket
		}
		return l
	}
	first := listen()
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	second := listen()
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	path, err := protocol.Socket(data)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Close(), second.Close()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket stays: %v", err)
	}
}
