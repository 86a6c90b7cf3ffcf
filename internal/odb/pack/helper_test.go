package pack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// writePack makes a pack of blobs in dir.
func writePack(t testing.TB, dir string, blobs ...string) *Pack {
	t.Helper()
	w := NewWriter(dir)
	defer w.Discard()
	for _, content := range blobs {
		must(t, w.AddContent(blobID(content), object.Blob, []byte(content)))
	}
	s, err := w.Seal()
	must(t, err)
	defer s.Discard()
	p, err := s.Place(dir)
	must(t, err)
	return p
}

// blobPack makes a pack of n numbered blobs, and returns their ids.
func blobPack(t testing.TB, dir, name string, from, n int) (*Pack, []object.ID) {
	t.Helper()
	var blobs []string
	var ids []object.ID
	for i := from; i < from+n; i++ {
		blobs = append(blobs, fmt.Sprint(name, " ", i))
		ids = append(ids, blobID(blobs[len(blobs)-1]))
	}
	return writePack(t, dir, blobs...), ids
}

func blobID(text string) object.ID { return object.Sum(object.Blob, []byte(text)) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// noise returns n bytes that do not compress and depend on seed only.
func noise(seed uint64, n int) []byte {
	data := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16)})
	r.Read(data)
	return data
}

// prose returns n bytes that do compress.
func prose(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	words := strings.Fields("a cairn is a stack of stones left along a trail so that you can find the way back")
	var out bytes.Buffer
	for out.Len() < n {
		out.WriteString(words[r.IntN(len(words))])
		out.WriteByte(" \n"[r.IntN(8)/7])
	}
	return out.Bytes()[:n]
}
