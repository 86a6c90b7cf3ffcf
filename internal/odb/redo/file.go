package redo

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

const (
	magic     = "CAIRNRD1"
	saltSize  = 8
	headSize  = int64(len(magic) + saltSize)
	frameSize = 8 // length and checksum of a record

	// FileSize is the size of a new log, and maxFileSize of a log that was full once.
	FileSize    = 256 << 10
	maxFileSize = 1 << 20

	// MaxRecord is the size of the largest record. A larger publish is flushed by itself.
	MaxRecord = 128 << 10
)

// errTorn says that a header or a record is not one that was written.
var errTorn = errors.New("torn")

// end is the end of the records of a log.
type end struct {
	salt [saltSize]byte
	off  int64  // 0: the file has no valid header
	sum  uint32 // checksum of the last record
}

// start is the end of a log without records.
func start(salt [saltSize]byte) end {
	return end{salt: salt, off: headSize, sum: crc32.ChecksumIEEE(salt[:])}
}

// endsAt reports whether the log still ends at e.
func (w *Writer) endsAt(e end) bool {
	salt, err := w.head()
	if e.off == 0 || err != nil || salt != e.salt {
		return false
	}
	body, _ := w.record(e)
	return body == nil
}

// head reads the header. A torn header and one of another file are errors.
func (w *Writer) head() (salt [saltSize]byte, err error) {
	var head [headSize]byte
	if _, err := w.file.ReadAt(head[:], 0); err != nil || string(head[:len(magic)]) != magic {
		return salt, errTorn
	}
	copy(salt[:], head[len(magic):])
	return salt, nil
}

// record reads the body of the record that begins at e, and returns the end behind it. The body
// is nil where there is no record or a torn one.
func (w *Writer) record(e end) (body []byte, next end) {
	var frame [frameSize]byte
	if e.off+frameSize > w.size {
		return nil, e
	}
	if _, err := w.file.ReadAt(frame[:], e.off); err != nil {
		return nil, e
	}
	size := int64(binary.LittleEndian.Uint32(frame[:]))
	if size == 0 || size > MaxRecord || e.off+frameSize+size > w.size {
		return nil, e
	}
	body = make([]byte, size)
	if _, err := w.file.ReadAt(body, e.off+frameSize); err != nil {
		return nil, e
	}
	sum := crc32.Update(e.sum, crc32.IEEETable, body)
	if sum != binary.LittleEndian.Uint32(frame[4:]) {
		return nil, e
	}
	return body, end{salt: e.salt, off: e.off + frameSize + size, sum: sum}
}

// Records reads all records and finds the end of the log. A record with the right checksum and
// invalid contents ends the log, as a torn one does.
func (w *Writer) Records() []Record {
	salt, err := w.head()
	if err != nil {
		w.end = end{}
		return nil
	}
	w.end = start(salt)
	var records []Record
	for {
		body, next := w.record(w.end)
		if body == nil {
			return records
		}
		rec, err := decode(body)
		if err != nil || w.log.store.CheckRecord(&rec) != nil {
			return records
		}
		records = append(records, rec)
		w.end = next
	}
}

// IsEmpty reports whether the log has no records. A nil Writer has none.
func (w *Writer) IsEmpty() bool { return w == nil || w.end.off <= headSize }

// Append appends a record and waits until it is on the disk. If it does not fit, the log is
// flushed first and gets more room once: the store is one with many publishes.
func (w *Writer) Append(rec *Record) error {
	rec.token, _ = w.log.token()
	frame := rec.appendTo(make([]byte, frameSize))
	body := frame[frameSize:]
	full := w.end.off+frameSize+int64(len(body)) > w.size
	if w.end.off == 0 || full {
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if full && w.size < maxFileSize {
		_ = w.enlarge() // on a full disk the log keeps its size
	}
	sum := crc32.Update(w.end.sum, crc32.IEEETable, body)
	binary.LittleEndian.PutUint32(frame, uint32(len(body)))
	binary.LittleEndian.PutUint32(frame[4:], sum)
	if _, err := w.file.WriteAt(frame, w.end.off); err != nil {
		return w.Abort(err)
	}
	if err := atomicfile.SyncData(w.file); err != nil {
		return w.Abort(err)
	}
	w.end.off, w.end.sum = w.end.off+int64(len(frame)), sum
	return nil
}

// Abort takes back the last record, whose publish has failed with cause: a replay must not carry
// it out after other processes have gone on without it. The publishes before it are flushed. If
// that fails, too, the error says so.
func (w *Writer) Abort(cause error) error {
	if err := w.Flush(); err != nil {
		w.end = end{}
		return errors.Join(cause, fmt.Errorf("empty the redo log: %w", err))
	}
	return cause
}

// reset empties the log and waits until that is on the disk. The first reset of a log also makes
// its name durable.
func (w *Writer) reset() error {
	if _, err := w.head(); err != nil {
		if err := atomicfile.SyncDir(filepath.Dir(w.log.path)); err != nil {
			return err
		}
	}
	var head [headSize]byte
	copy(head[:], magic)
	rand.Read(head[len(magic):]) // never fails, see crypto/rand
	w.end = end{}
	if _, err := w.file.WriteAt(head[:], 0); err != nil {
		return err
	}
	if err := atomicfile.SyncData(w.file); err != nil {
		return err
	}
	w.end = start([saltSize]byte(head[len(magic):]))
	return nil
}

// enlarge gives the log more room, and writes its blocks.
func (w *Writer) enlarge() error {
	old := w.size
	_, err := w.file.WriteAt(make([]byte, maxFileSize-old), old)
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		return errors.Join(err, w.file.Truncate(old))
	}
	w.size = maxFileSize
	return nil
}
