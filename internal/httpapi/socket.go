package httpapi

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// ErrServed: the data directory has another server.
var ErrServed = errors.New("another server is running")

// Claim makes this process the server of a data directory until Close. It holds the
// directory of socket and token, which no other user may enter.
type Claim struct {
	dataDir string
	lock    *flock.Flock
}

// NewClaim claims a data directory. The kernel releases the lock of a process that dies,
// so a killed server stops no other. Errors wrap ErrServed.
func NewClaim(dataDir string) (*Claim, error) {
	dir := protocol.Dir(dataDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	if !ok {
		return nil, fmt.Errorf("%w for %s", ErrServed, dataDir)
	}
	return &Claim{dataDir, lock}, nil
}

// Close releases the data directory. The lock file stays: without it two servers could
// lock two files of one name.
func (c *Claim) Close() error { return c.lock.Close() }

// Listen opens the Unix socket, in the place of one that a dead server left behind.
func (c *Claim) Listen() (net.Listener, error) {
	path, err := protocol.Socket(c.dataDir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	// Until here the directory alone keeps others out.
	err = os.Chmod(path, 0o600)
	made, lerr := os.Lstat(path)
	if err := errors.Join(err, lerr); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.SetUnlinkOnClose(false)
	return &socket{UnixListener: l, path: path, made: made}, nil
}

// socket removes its file when it is closed. A file of another server stays: one starts where the data directory
// was removed under this server.
type socket struct {
	*net.UnixListener
	path string
	made fs.FileInfo
	once sync.Once
}

// Close implements net.Listener.
func (s *socket) Close() error {
	s.once.Do(func() {
		// The open socket keeps its inode, so that no other file has its number.
		if now, err := os.Lstat(s.path); err == nil && os.SameFile(now, s.made) {
			os.Remove(s.path)
		}
	})
	return s.UnixListener.Close()
}

// TokenFile is where the token of a data directory's server is kept.
func TokenFile(dataDir string) string { return filepath.Join(protocol.Dir(dataDir), "token") }

// Token returns the stored token, and makes one if there is none. Clients keep working
// after a restart of the server.
func (c *Claim) Token() (string, error) {
	file := TokenFile(c.dataDir)
	data, err := os.ReadFile(file)
	if token := strings.TrimSpace(string(data)); err == nil && len(token) >= minToken {
		return token, os.Chmod(file, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	token := rand.Text() + rand.Text()
	err = atomicfile.Write(file, 0o600, false, func(w io.Writer) error {
		_, err := io.WriteString(w, token+"\n")
		return err
	})
	return token, err
}

// minToken is the length of the shortest token that is safe from guessing, in bytes.
const minToken = 16

// CheckToken refuses a token that is too easy to guess or cannot be sent.
func CheckToken(token string) error {
	if len(token) < minToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("a token has at least %d characters, all of them visible ASCII", minToken)
	}
	return nil
}
