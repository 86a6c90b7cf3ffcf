package transfer

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"io"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// packed is an object for a pack that a test makes up.
type packed struct {
	kind    object.Kind
	content string
	size    int64  // said to be; 0 = true
	base    string // of a delta, as it follows the head
}

func (p packed) id() object.ID { return object.Sum(p.kind, []byte(p.content)) }

// bundleOf makes a bundle of objects, the checkpoint first.
func bundleOf(objects ...packed) []byte {
	return bundleWith(int64(len(objects)), objects[0].id().String(), objects...)
}

func bundleWith(count int64, id string, objects ...packed) []byte {
	return append([]byte("# v2 git bundle\n"+id+" refs/cairn/exported/"+id+"\n\n"), packOf(count, objects...)...)
}

func packOf(count int64, objects ...packed) []byte {
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(count))
	w := zlib.NewWriter(nil) // one for all: a new one takes most of a megabyte
	for _, p := range objects {
		size := uint64(len(p.content))
		if p.size != 0 {
			size = uint64(p.size)
		}
		b := byte(p.kind)<<4 | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			pack = append(pack, b|0x80)
			b = byte(size & 0x7f)
		}
		pack = append(append(pack, b), p.base...)
		var z bytes.Buffer
		w.Reset(&z)
		io.WriteString(w, p.content)
		w.Close()
		pack = append(pack, z.Bytes()...)
	}
	sum := sha1.Sum(pack)
	return append(pack, sum[:]...)
}

const plainMeta = `{"v":1,"perm":{"file":"644","exec":"755","dir":"755"}}`

func commitOf(tree packed, extra ...string) packed {
	text := "tree " + tree.id().String() + "\n"
	meta := "cairn " + plainMeta + "\n"
	for _, e := range extra {
		if strings.HasPrefix(e, "parent ") {
			text += e + "\n"
		} else {
			meta = e
		}
	}
	return packed{kind: object.Commit, content: text + "author a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n" + meta + "\nm\n"}
}

func treeOf(entries ...object.Entry) packed {
	return packed{kind: object.Tree, content: string(object.AppendTree(nil, entries))}
}

func blobOf(content string) packed { return packed{kind: object.Blob, content: content} }

func idBytes(p packed) []byte { id := p.id(); return id[:] }

func blobTree(content string) packed { return packed{kind: object.Tree, content: content} }
