package odb

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// The redo log makes what is small durable with one wait for the disk. The files of a
// publish are written and renamed as always, but not flushed; what they hold is
// appended to a file whose blocks are on the disk already, and that is flushed. While
// the machine runs nobody reads it: the files are there. After a loss of power the
// next to open the store makes of the log what is missing, before anybody looks.
//
// A fold, or a log that is full, flushes what the log vouches for and empties it.
// Packs that are folded before that never have to be flushed at all.
//
// Whether power was lost shows by the token: it names the boot and the mount under
// which a record was written. As long as both are the same, the kernel has in memory
// what is not on the disk yet.
//
// The file: a header (magic, random salt), then records (length, CRC-32 of the body
// that goes on from that of the record before, body). A new salt empties the log.
var redoFile = filepath.Join(privateDir, "redo")

const (
	redoMagic  = "CAIRNRD1"
	redoSalt   = 8
	redoHead   = len(redoMagic) + redoSalt
	redoFrame  = 8
	redoSize   = 256 << 10
	redoLarge  = 1 << 20   // of one that was full once
	redoMax    = 128 << 10 // of a record; what is larger is flushed by itself
	redoTokens = 16
)

// redoToken names a boot of a machine and a mount.
type redoToken [redoTokens]byte

// redoTail is where a log ended when it was last looked at.
type redoTail struct {
	salt [redoSalt]byte
	end  int64
	sum  uint32
}

// redoLog is what a DB knows of the log.
type redoLog struct {
	mu    sync.Mutex
	tail  redoTail
	token func() (redoToken, bool) // false: no log is kept here
}

// redoHold is the log while it is ours: no other goroutine or process writes to it.
type redoHold struct {
	db   *DB
	file *os.File // locked
	size int64    // how long the log may become
	tail redoTail
}

// holdRedo takes hold of the log, and is nil where there is none. A log that needs it
// is brought into order first: afterwards all that it holds is this boot's and done.
func (db *DB) holdRedo() (h *redoHold, err error) {
	db.redo.mu.Lock()
	defer func() {
		if h == nil {
			db.redo.mu.Unlock()
		}
	}()
	h, err = db.lockRedo()
	if err != nil || h == nil {
		return nil, err
	}
	if h.isTail(db.redo.tail) {
		h.tail = db.redo.tail
		return h, nil
	}
	if err := h.order(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", db.path(redoFile), err), h.close())
	}
	return h, nil
}

// lockRedo opens and locks the log. One that was removed meanwhile does not count.
func (db *DB) lockRedo() (*redoHold, error) {
	for {
		f, err := atomicfile.OpenForUpdate(db.path(redoFile))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("open redo log: %w", damage(err))
		}
		h := &redoHold{db: db, file: f}
		there, err := h.lock()
		if there && err == nil {
			return h, nil
		}
		if err = errors.Join(err, h.close()); err != nil {
			return nil, fmt.Errorf("open redo log: %w", damage(err))
		}
	}
}

// lock waits for the lock of the open file and reports whether that still is the log. On
// systems without such a lock nobody appends, and a log that was brought along may be
// redone by two at a time.
func (h *redoHold) lock() (there bool, err error) {
	if err := atomicfile.Lock(h.file); err != nil {
		return false, err
	}
	opened, err := h.file.Stat()
	if err != nil {
		return false, err
	}
	h.size = min(max(opened.Size(), redoSize), redoLarge)
	return stillAt(h.file.Name(), opened)
}

// close gives the lock up, too.
func (h *redoHold) close() error { return h.file.Close() }

// release ends a hold. What is known of the end of the log spares the next one the
// reading.
func (h *redoHold) release() {
	if h == nil {
		return
	}
	h.db.redo.tail = h.tail
	h.close()
	h.db.redo.mu.Unlock()
}

// isTail reports whether the log still ends at a tail that was known before.
func (h *redoHold) isTail(t redoTail) bool {
	head, err := h.head()
	if t.end == 0 || err != nil || head != t.salt {
		return false
	}
	body, _, _ := h.record(t.end, t.sum)
	return body == nil
}

// head reads the header. A torn or foreign one is an error.
func (h *redoHold) head() (salt [redoSalt]byte, err error) {
	var head [redoHead]byte
	if _, err := h.file.ReadAt(head[:], 0); err != nil || string(head[:len(redoMagic)]) != redoMagic {
		return salt, pack.Corrupt("no redo log")
	}
	copy(salt[:], head[len(redoMagic):])
	return salt, nil
}

func saltSum(salt [redoSalt]byte) uint32 { return crc32.ChecksumIEEE(salt[:]) }

// record reads the body of the record at an offset; nil where there is none, or one
// that is torn.
func (h *redoHold) record(at int64, sum uint32) (body []byte, end int64, next uint32) {
	var frame [redoFrame]byte
	if at+redoFrame > h.size {
		return nil, at, sum
	}
	if _, err := h.file.ReadAt(frame[:], at); err != nil {
		return nil, at, sum
	}
	size := int64(binary.LittleEndian.Uint32(frame[:]))
	if size == 0 || size > redoMax || at+redoFrame+size > h.size {
		return nil, at, sum
	}
	body = make([]byte, size)
	if _, err := h.file.ReadAt(body, at+redoFrame); err != nil {
		return nil, at, sum
	}
	next = crc32.Update(sum, crc32.IEEETable, body)
	if next != binary.LittleEndian.Uint32(frame[4:]) {
		return nil, at, sum
	}
	return body, at + redoFrame + size, next
}

// scan reads all records and finds the tail. A record that passes its checksum and
// makes no sense ends the log, as a torn one does.
func (h *redoHold) scan() []redoRecord {
	salt, err := h.head()
	if err != nil {
		h.tail = redoTail{}
		return nil
	}
	h.tail = beginOf(salt)
	var records []redoRecord
	for {
		body, end, sum := h.record(h.tail.end, h.tail.sum)
		if body == nil {
			return records
		}
		rec, err := decodeRedo(body)
		if err != nil {
			return records
		}
		records = append(records, rec)
		h.tail.end, h.tail.sum = end, sum
	}
}

// beginOf is the tail of an empty log.
func beginOf(salt [redoSalt]byte) redoTail {
	return redoTail{salt: salt, end: int64(redoHead), sum: saltSum(salt)}
}

// empty reports whether the log vouches for nothing.
func (h *redoHold) empty() bool { return h == nil || h.tail.end <= int64(redoHead) }

// promise appends a record and waits until it is on the disk. If there is no room for
// it, what the log holds is flushed first, and the log gets more room: the store is one
// that is written to often.
func (h *redoHold) promise(rec *redoRecord) error {
	rec.token, _ = h.db.redo.token()
	frame := rec.appendTo(make([]byte, redoFrame))
	body := frame[redoFrame:]
	full := h.tail.end+redoFrame+int64(len(body)) > h.size
	if h.tail.end == 0 || full {
		if err := h.settle(); err != nil {
			return err
		}
	}
	if full && h.size < redoLarge {
		_ = h.enlarge() // where there is no room on the disk it stays as it is
	}
	sum := crc32.Update(h.tail.sum, crc32.IEEETable, body)
	binary.LittleEndian.PutUint32(frame, uint32(len(body)))
	binary.LittleEndian.PutUint32(frame[4:], sum)
	if _, err := h.file.WriteAt(frame, h.tail.end); err != nil {
		return h.cancel(err)
	}
	if err := atomicfile.SyncData(h.file); err != nil {
		return h.cancel(err)
	}
	h.tail.end, h.tail.sum = h.tail.end+redoFrame+int64(len(body)), sum
	return nil
}

// cancel takes back the last record, whose work failed: it must not be done by a
// recovery after others have gone on without it. What was promised before is flushed.
// If not even that works, the error says so.
func (h *redoHold) cancel(cause error) error {
	if err := h.settle(); err != nil {
		h.tail = redoTail{}
		return errors.Join(cause, fmt.Errorf("empty the redo log: %w", err))
	}
	return cause
}

// reset empties the log, for good when it returns. The first time it also makes its
// name durable.
func (h *redoHold) reset() error {
	if _, err := h.head(); err != nil {
		if err := atomicfile.SyncDir(h.db.path(privateDir)); err != nil {
			return err
		}
	}
	var head [redoHead]byte
	copy(head[:], redoMagic)
	rand.Read(head[len(redoMagic):]) // never fails, see crypto/rand
	h.tail = redoTail{}
	if _, err := h.file.WriteAt(head[:], 0); err != nil {
		return err
	}
	if err := atomicfile.SyncData(h.file); err != nil {
		return err
	}
	h.tail = beginOf([redoSalt]byte(head[len(redoMagic):]))
	return nil
}

// enlarge gives the log more room, which lies written out on the disk, too.
func (h *redoHold) enlarge() error {
	old := h.size
	_, err := h.file.WriteAt(make([]byte, redoLarge-old), old)
	if err == nil {
		err = h.file.Sync()
	}
	if err != nil {
		return errors.Join(err, h.file.Truncate(old))
	}
	h.size = redoLarge
	return nil
}

// makeRedo makes a log where one can be kept. Not to have one is no failure.
func (db *DB) makeRedo(allow func(int64) error) {
	if !db.redoable() || !fileMissing(db.path(redoFile)) {
		return
	}
	if allow != nil && allow(redoSize) != nil {
		_ = allow(-redoSize) // the batch does without
		return
	}
	if temp, err := atomicfile.Create(db.path(privateDir), atomicfile.Prefix); err == nil {
		_ = db.writeRedo(temp)
		atomicfile.Discard(temp)
	}
}

// writeRedo writes a log out, so that later appends find their blocks on the disk, and
// gives it its name unless there is one: that may hold promises by now.
func (db *DB) writeRedo(temp *os.File) error {
	_, err := temp.Write(make([]byte, redoSize))
	if err == nil {
		err = temp.Sync()
	}
	if err == nil {
		err = os.Link(temp.Name(), db.path(redoFile))
	}
	return err
}

// wipeRedo flushes what the log vouches for and removes it, with the copies of objects
// that it holds.
func (db *DB) DropLog() error {
	h, err := db.holdRedo()
	if h == nil {
		return err
	}
	defer h.release()
	if err := h.settle(); err != nil {
		return err
	}
	h.tail = redoTail{}
	return os.Remove(db.path(redoFile))
}
