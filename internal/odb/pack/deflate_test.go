package pack

import (
	"bytes"
	"math"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// What the bytes alone tell about contents.
func TestEntropy(t *testing.T) {
	t.Parallel()
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, tt := range []struct {
		sample []byte
		want   float64 // bits a byte
	}{
		{nil, 0}, {[]byte("x"), 0}, {bytes.Repeat([]byte("x"), 1001), 0},
		{bytes.Repeat([]byte("xy"), 500), 1}, {bytes.Repeat([]byte("wxyz"), 1001), 2}, {all, 8}, {bytes.Repeat(all, 9), 8},
	} {
		if got := entropy(tt.sample); math.Abs(got-tt.want*float64(len(tt.sample))) > 1e-6 {
			t.Errorf("%d bytes like %.4q: %g bits, want %g a byte", len(tt.sample), tt.sample, got, tt.want)
		}
	}
}

// Contents shrink although all bytes are as frequent, where they repeat.
func TestRepeatedNoiseShrinks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		sample []byte
		want   bool
	}{
		{"noise", noise(1, sampleSize), false},
		{"noise that comes twice", bytes.Repeat(noise(1, 1000), sampleSize/1000), true},
		{"noise of a hundred letters", letters(noise(1, sampleSize), 100), true},
		{"noise of 250 letters", letters(noise(1, sampleSize), 250), false},
	} {
		if got := new(Deflater).shrinks(tt.sample); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

func letters(data []byte, n int) []byte {
	for i := range data {
		data[i] = byte(int(data[i]) % n)
	}
	return data
}

// Contents that a sample shows not to shrink are not compressed as a whole.
func TestNoiseIsStored(t *testing.T) {
	t.Parallel()
	const n = 4 * sampleSize
	for _, tt := range []struct {
		content []byte
		plain   bool
	}{{noise(3, n), true}, {prose(3, n), false}, {noise(3, sampleSize), false}} {
		d := new(Deflater)
		_, err := d.Entry(object.Blob, tt.content)
		must(t, err)
		if plain := d.plain != nil; plain != tt.plain {
			t.Errorf("%d bytes are stored plainly: %v", len(tt.content), plain)
		}
	}
}
