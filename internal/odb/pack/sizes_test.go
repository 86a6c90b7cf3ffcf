package pack

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Looking for many ids at once finds what looking for each does, in indexes of any size
// whose ids lie close together or not, also for ids that are asked for twice or are not
// there.
func TestLocate(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 300, 5000, 60_000} {
		for _, spread := range []int{idSize, 3, 2} {
			rows := unevenRows(rng, n, spread)
			data, err := encodeIndex(slices.Clone(rows), [sha1.Size]byte{}, offsetBit)
			must(t, err)
			x, err := openIndex(bytes.NewReader(data), int64(len(data)))
			must(t, err)
			for _, asked := range []int{1, 40, 4000} {
				var ids []object.ID
				for range asked {
					var id object.ID
					if n > 0 {
						id = rows[rng.IntN(len(rows))].ID
					}
					if rng.IntN(4) == 0 {
						id[rng.IntN(idSize)]++
					}
					ids = append(ids, id)
				}
				checkLocate(t, x, ids)
			}
		}
	}
}

// unevenRows is an index whose ids differ in the last bytes only, as many as spread
// says, and in the first.
func unevenRows(rng *rand.Rand, n, spread int) []Row {
	rows := make([]Row, 0, n)
	for i := range n {
		var id object.ID
		for at := idSize - spread; at < idSize; at++ {
			id[at] = byte(rng.Uint32())
		}
		id[0] = byte(i % 3)
		off := int64(12 + 50*i)
		if i%500 == 0 {
			off += 1 << 33
		}
		rows = append(rows, Row{ID: id, Off: off})
	}
	slices.SortFunc(rows, func(a, b Row) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	return slices.CompactFunc(rows, func(a, b Row) bool { return a.ID == b.ID })
}

func checkLocate(t *testing.T, x *Index, ids []object.ID) {
	t.Helper()
	ordered := make([]int32, len(ids))
	for i := range ids {
		ordered[i] = int32(i)
	}
	slices.SortFunc(ordered, func(a, b int32) int { return bytes.Compare(ids[a][:], ids[b][:]) })
	var want []located
	for i, id := range ids {
		if off, ok, err := x.Find(id); ok && err == nil {
			want = append(want, located{off, int32(i)})
		}
	}
	got := x.locate(ids, ordered)
	slices.SortFunc(got, func(a, b located) int { return cmp.Compare(a.at, b.at) })
	if !slices.Equal(got, want) {
		t.Errorf("%d objects, %d asked for: %d found, want %d", x.N, len(ids), len(got), len(want))
	}
}

// An index that is not in order, or leads beyond its tables, makes objects missing, and
// nothing worse.
func TestLocateInNonsense(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	rows := unevenRows(rng, 60_000, idSize)
	data, err := encodeIndex(slices.Clone(rows), [sha1.Size]byte{}, offsetBit)
	must(t, err)
	var ids []object.ID
	for _, r := range rows[:5000] {
		ids = append(ids, r.ID)
	}
	for range 200_000 {
		data[IndexHeadSize+rng.IntN(len(data)-IndexHeadSize-IndexTailSize)] ^= byte(rng.Uint32())
	}
	binary.BigEndian.PutUint32(data[IndexHeadSize+len(rows)*(idSize+4):], offsetBit|1<<30)
	x, err := openIndex(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	checkLocate(t, x, ids[:1])
	ordered := make([]int32, len(ids))
	for i := range ids {
		ordered[i] = int32(i)
	}
	for _, l := range x.locate(ids, ordered) {
		if id, err := x.id(int(l.at)); err != nil || id == (object.ID{}) {
			t.Fatal(id, err)
		}
	}
}

// The sizes of objects that lie close together or far apart, some of them of several windows.
func TestSizesOfGaps(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	var blobs []string
	for range 400 {
		text := make([]byte, []int{0, 10, 3000, smallGap, 3 * smallGap, 90 << 10}[rng.IntN(6)]+rng.IntN(50))
		for i := range text {
			text[i] = byte(rng.Uint32()) // compresses to nothing less
		}
		blobs = append(blobs, string(text))
	}
	p := writePack(t, t.TempDir(), blobs...)
	defer p.Close()
	for _, every := range []int{1, 2, 7, 100} {
		var ids []object.ID
		var ordered []int32
		for i := 0; i < len(blobs); i += every {
			ordered = append(ordered, int32(len(ids)))
			ids = append(ids, blobID(blobs[i]))
		}
		slices.SortFunc(ordered, func(a, b int32) int { return bytes.Compare(ids[a][:], ids[b][:]) })
		sizes := make([]int64, len(ids))
		p.Sizes(ids, ordered, sizes)
		for i, size := range sizes {
			if want := int64(len(blobs[i*every])); size != want {
				t.Errorf("every %d: a blob of %d bytes has %d", every, want, size)
			}
		}
	}
}

// SortSpread sorts any keys.
func TestSortSpread(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 2, 3000} {
		for _, most := range []uint64{1, 2, 1000, 1 << 63, 1<<64 - 1} {
			items := make([]Keyed, n)
			for i := range items {
				items[i] = Keyed{Key: rng.Uint64N(most), At: int32(n - i)}
			}
			if n > 2 {
				items[1].Key = 1<<64 - 1
			}
			want := slices.Clone(items)
			slices.SortFunc(want, func(a, b Keyed) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.At, b.At)) })
			if got := SortSpread(items, func(a, b int32) int { return cmp.Compare(a, b) }); !slices.Equal(got, want) {
				t.Errorf("%d keys below %d are not sorted", n, most)
			}
		}
	}
}
