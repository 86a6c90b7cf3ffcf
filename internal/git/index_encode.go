package git

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Encode returns an index file of version 3 with these entries and without their stat data: git reads each
// file once and then knows its stat. A shared index is merged in. Optional extensions are left out.
// withSHA256 is as for ReadIndex.
func (x *Index) Encode(withSHA256 bool) []byte {
	const version, alignment = 3, 8
	data := binary.BigEndian.AppendUint32(append([]byte{}, "DIRC"...), version)
	data = binary.BigEndian.AppendUint32(data, uint32(x.Len()))
	folded := false
	for e, id := range x.WithIDs() {
		begin := len(data)
		var stat [statSize]byte
		binary.BigEndian.PutUint32(stat[24:], uint32(e.Mode))
		data = append(append(data, stat[:]...), id...)
		data = append(e.appendFlags(data), e.Name...)
		data = append(data, make([]byte, alignment-(len(data)-begin)%alignment)...) // one NUL at least
		folded = folded || e.Mode == object.Dir
	}
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
