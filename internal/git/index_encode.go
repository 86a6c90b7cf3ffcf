package git

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Encode returns an index file of version 3 with these entries and without their stat data: git reads each
// file once and then knows its stat. A shared index is merged in. Optional extensions are left out.
// withSHA256 is as for ReadIndex.
func (x *Index) Encode(withSHA256 bool) []byte {
	return EncodeIndex(func(yield func(IndexEntry, []byte) bool) {
		for e, id := range x.WithIDs() {
			e.Stat = IndexStat{}
			if !yield(e, id) {
				return
			}
		}
	}, withSHA256)
}

// EncodeIndex returns an index file of version 3 with entries, in git's order, and their ids in binary form.
// withSHA256 is as for ReadIndex.
func EncodeIndex(entries iter.Seq2[IndexEntry, []byte], withSHA256 bool) []byte {
	const version, alignment = 3, 8
	data := binary.BigEndian.AppendUint32(append([]byte{}, "DIRC"...), version)
	data = binary.BigEndian.AppendUint32(data, 0)
	count, folded := uint32(0), false
	for e, id := range entries {
		begin := len(data)
		data = append(e.Stat.append(data, e.Mode), id...)
		data = append(e.appendFlags(data), e.Name...)
		data = append(data, make([]byte, alignment-(len(data)-begin)%alignment)...) // one NUL at least
		count, folded = count+1, folded || e.Mode == object.Dir
	}
	binary.BigEndian.PutUint32(data[8:], count)
	if folded {
		data = append(data, "sdir\x00\x00\x00\x00"...)
	}
	if withSHA256 {
		sum := sha256.Sum256(data)
		return append(data, sum[:]...)
	}
	sum := sha1.Sum(data)
	return append(data, sum[:]...)
}

// append appends the stat data as an index file has them, the mode in their midst.
func (s *IndexStat) append(data []byte, mode object.Mode) []byte {
	for _, word := range []uint32{
		s.CTimeSec, s.CTimeNsec, s.MTimeSec, s.MTimeNsec, s.Dev, s.Ino, uint32(mode), s.UID, s.GID, s.Size,
	} {
		data = binary.BigEndian.AppendUint32(data, word)
	}
	return data
}

func (e *IndexEntry) appendFlags(data []byte) []byte {
	flags := uint16(min(len(e.Name), flagNameLen)) | uint16(e.Stage)<<stageShift
	if e.AssumeValid {
		flags |= flagAssumeValid
	}
	var more uint16
	if e.SkipWorktree {
		more |= flagSkipWorktree
	}
	if e.IntentToAdd {
		more |= flagIntentToAdd
	}
	if more == 0 {
		return binary.BigEndian.AppendUint16(data, flags)
	}
	data = binary.BigEndian.AppendUint16(data, flags|flagExtended)
	return binary.BigEndian.AppendUint16(data, more)
}
