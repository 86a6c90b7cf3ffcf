package odb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/process"
)

// Holder is the process that has a lock.
type Holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	BootID  string    `json:"boot"`    // names the time since the machine was started; "" where that has no name
	Command string    `json:"command"` // what the holder is doing
	Since   time.Time `json:"since"`   // when it got the lock
}

// String describes a holder for an error message.
func (h Holder) String() string {
	if h.PID == 0 {
		return "an unknown process"
	}
	text := fmt.Sprintf("process %d on %s", h.PID, h.Host)
	if h.Command != "" {
		text += fmt.Sprintf(" (%s)", h.Command)
	}
	return text + " since " + h.Since.Format(time.RFC3339)
}

// machine identifies this process and machine. Neither host name nor boot id is certain by
// itself: host names change and repeat, and not every system has a boot id.
var machine = sync.OnceValue(func() Holder {
	return Holder{PID: os.Getpid(), Host: process.Host(), BootID: process.BootID()}
})

// foreign reports whether the holder lived on another machine, as far as its record shows. A
// container on this machine has another host name and the same boot id.
func (h Holder) foreign() bool {
	here := machine()
	return h.Host != here.Host && (h.BootID == "" || h.BootID != here.BootID)
}

// holderRecord is the open file cairn/lock.holder. The file begins with one line. While the lock
// is held, the line is a checksum and the holder as JSON; the checksum tells a whole record from
// one that was being written or was lost with the power. Otherwise the line holds the nonce of
// the last holder. A process that finds its own nonce knows that no other process has held the
// lock since. The file is overwritten in place and stays, because making and removing a file
// costs many times the rest of locking.
type holderRecord struct {
	file  *os.File
	size  int    // of the line
	nonce string // of the last holder, "" = none
}

// freeMark begins the line without a holder. No checksum begins like it.
const freeMark = "free "

// newNonce returns a random number that a holder leaves in the record.
func newNonce() string { return fmt.Sprintf("%016x", rand.Uint64()) }

// decodeNonce returns the nonce in a record, "" if there is none.
func decodeNonce(file []byte) string {
	line, _, whole := bytes.Cut(file, []byte("\n"))
	nonce, ok := strings.CutPrefix(string(line), freeMark)
	if !ok || !whole {
		return ""
	}
	return strings.TrimRight(nonce, " ")
}

func encodeHolder(h Holder) ([]byte, error) {
	data, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(data), data), nil
}

func decodeHolder(file []byte) (h Holder, ok bool) {
	line, _, _ := bytes.Cut(file, []byte("\n"))
	digits, data, _ := bytes.Cut(line, []byte(" "))
	sum, err := strconv.ParseUint(string(digits), 16, 32)
	if err != nil || uint32(sum) != crc32.ChecksumIEEE(data) {
		return Holder{}, false
	}
	if json.Unmarshal(data, &h) != nil || h.PID <= 0 {
		return Holder{}, false
	}
	return h, true
}

// maxHolder bounds how much of the file is read.
const maxHolder = 64 << 10

// openHolder opens the file and returns the holder in it.
func openHolder(path string) (r *holderRecord, h Holder, ok bool, err error) {
	f, err := atomicfile.OpenOrCreate(path)
	if err != nil {
		return nil, h, false, err
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxHolder))
	if err != nil {
		f.Close()
		return nil, h, false, err
	}
	h, ok = decodeHolder(data)
	return &holderRecord{file: f, nonce: decodeNonce(data)}, h, ok, nil
}

// readHolder returns the holder in the file, for a message.
func readHolder(path string) Holder {
	f, err := atomicfile.Open(path)
	if err != nil {
		return Holder{}
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxHolder))
	if err != nil {
		return Holder{}
	}
	h, _ := decodeHolder(data)
	return h
}

// write records this process. It does not flush: after a loss of power the holder is dead.
func (r *holderRecord) write(command string) error {
	h := machine()
	h.Command, h.Since = strings.ToValidUTF8(command, "?"), time.Now().UTC().Truncate(time.Millisecond)
	line, err := encodeHolder(h)
	if err != nil {
		return err
	}
	r.size = len(line)
	_, err = r.file.WriteAt(line, 0)
	return err
}

// clear writes a nonce in place of the holder and closes the file.
func (r *holderRecord) clear(nonce string) error {
	line := freeMark + nonce
	line += strings.Repeat(" ", max(0, r.size-1-len(line))) + "\n"
	_, err := r.file.WriteAt([]byte(line), 0)
	return errors.Join(err, r.file.Close())
}

// ForeignHolder returns the path of the record of the lock's holder, and the holder if it lived
// on another machine.
func (db *DB) ForeignHolder() (path string, h Holder, foreign bool) {
	path = db.path(holderFile)
	h = readHolder(path)
	return path, h, h.PID != 0 && h.foreign()
}

// RemoveForeignHolder removes the record of a holder on another machine, unless a process of this
// one has the lock.
func (db *DB) RemoveForeignHolder() error {
	fl := flock.New(db.path(lockFile))
	ok, err := fl.TryLock()
	if err != nil {
		return err
	}
	defer fl.Close()
	if !ok {
		return ErrLocked
	}
	if path, _, foreign := db.ForeignHolder(); foreign {
		return os.Remove(path)
	}
	return nil
}
