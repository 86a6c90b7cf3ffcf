package odb

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/zlib"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Contents that hardly shrink (pictures, archives) are stored as they are: zip and
// png files compress at 220 MB/s, to gain 1 to 4 in a hundred, and are stored at
// 1 GB/s, samples included (as klauspost/compress v1.20.3 does it). They are recognised by one
// sample at the beginning and one in the middle; both must fail to shrink by a
// thirty-second. Contents of less than two samples are compressed in any case.
const sampleSize = 64 << 10

// plainTree is up to which size a tree is stored as it is: half of it are ids, which do
// not shrink, and to find that out takes 12 to 37 us, as much as all else that a track
// does for a tree. It costs 200 bytes a tree until a cleaning makes deltas of them.
const plainTree = 2 << 10

// keepDeflated is the largest buffer that goes back to the pool.
const keepDeflated = 16 << 20

// deflater makes pack entries. Its writers are large, so it is reused.
type deflater struct {
	fast, plain *zlib.Writer // nil until one is used
	out         bytes.Buffer
}

var deflaters = sync.Pool{New: func() any { return new(deflater) }}

// lastDeflater stays where the pool is emptied: to make one costs as much as to compress
// 50 KB, and a process that writes a file now and then would make one each time.
var lastDeflater = make(chan *deflater, 1)

func newDeflater() *deflater {
	select {
	case d := <-lastDeflater:
		return d
	default:
		return deflaters.Get().(*deflater)
	}
}

func (d *deflater) release() {
	if d.out.Cap() > keepDeflated {
		return
	}
	select {
	case lastDeflater <- d:
	default:
		deflaters.Put(d)
	}
}

// entry returns the pack entry of an object, valid until the deflater is used again.
func (d *deflater) entry(k object.Kind, content []byte) ([]byte, error) {
	return d.encode(k, content, d.worthwhile(k, content))
}

func (d *deflater) encode(k object.Kind, content []byte, compress bool) ([]byte, error) {
	d.out.Reset()
	d.out.Write(appendEntryHead(make([]byte, 0, maxEntryHead), k, int64(len(content))))
	zw := d.writer(&d.out, compress)
	if _, err := zw.Write(content); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := zw.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return d.out.Bytes(), nil
}

// worthwhile reports whether to compress an object.
func (d *deflater) worthwhile(k object.Kind, content []byte) bool {
	if n := len(content); n < 2*sampleSize {
		return k != object.Tree || n > plainTree
	}
	return d.shrinks(content[:sampleSize]) || d.shrinks(content[len(content)/2:][:sampleSize])
}

// shrinks reports whether compressing a sample is worth the while. To compress it tells,
// but it is done again with all of the contents; so first its bytes are counted. Where
// their frequencies alone save an eighth, as in all text, there is nothing to try.
func (d *deflater) shrinks(sample []byte) bool {
	if entropy(sample) < 7*float64(len(sample)) {
		return true
	}
	d.out.Reset()
	zw := d.writer(&d.out, true)
	zw.Write(sample)
	zw.Close()
	return d.out.Len() < len(sample)-len(sample)/32
}

// entropy is how many bits the bytes of a sample take at least if each is encoded for
// itself.
func entropy(sample []byte) (bits float64) {
	var counts [4][256]int32 // several, because equal bytes come in a row
	for ; len(sample) >= 4; sample = sample[4:] {
		counts[0][sample[0]]++
		counts[1][sample[1]]++
		counts[2][sample[2]]++
		counts[3][sample[3]]++
	}
	for _, c := range sample {
		counts[0][c]++
	}
	var all int32
	for c := range counts[0] {
		if n := counts[0][c] + counts[1][c] + counts[2][c] + counts[3][c]; n > 0 {
			all += n
			bits -= float64(n) * math.Log2(float64(n))
		}
	}
	if all > 0 {
		bits += float64(all) * math.Log2(float64(all))
	}
	return bits
}

func (d *deflater) writer(w io.Writer, compress bool) *zlib.Writer {
	if compress {
		return restart(&d.fast, w, zlib.BestSpeed)
	}
	return restart(&d.plain, w, zlib.NoCompression)
}

// restart begins a stream, with the writer of the stream before if there is one.
func restart(zw **zlib.Writer, w io.Writer, level int) *zlib.Writer {
	if *zw == nil {
		*zw, _ = zlib.NewWriterLevel(w, level) // fails for unknown levels only
	} else {
		(*zw).Reset(w)
	}
	return *zw
}
