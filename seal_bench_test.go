package cairn_test

import (
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// BenchmarkAtRest measures sealing and opening a store of 2,000 files, and an unchanged track on an open and on a sealed
// store, in turn.
func BenchmarkAtRest(b *testing.B) {
	root := b.TempDir()
	gittest.Create(b, root, sourceTree(1))
	opt := cairn.Options{Root: root, DataDir: b.TempDir()}
	sealing(b)(&opt)
	opt.Unseal = true
	spent := make(map[string]time.Duration)
	timed := func(what string, f func() error) {
		begin := time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		spent[what] += time.Since(begin)
	}
	track := func() error {
		r, err := cairn.Open(opt)
		if err != nil {
			return err
		}
		defer r.Close()
		_, err = r.Track(b.Context(), cairn.TrackOptions{})
		return err
	}
	if err := track(); err != nil {
		b.Fatal(err)
	}
	var res *cairn.SealResult
	seal := func() (err error) {
		res, err = cairn.Seal(b.Context(), opt, cairn.SealOptions{})
		return err
	}
	for range b.N {
		timed("track-open", track)
		timed("seal", seal)
		timed("track-sealed", track)
		if err := seal(); err != nil {
			b.Fatal(err)
		}
		timed("unseal", func() error {
			_, err := cairn.Unseal(b.Context(), opt, cairn.SealOptions{})
			return err
		})
	}
	b.ReportMetric(0, "ns/op")
	for what, d := range spent {
		b.ReportMetric(float64(d.Microseconds())/1000/float64(b.N), what+"-ms")
	}
	b.ReportMetric(float64(res.Bytes)/1024, "open-KiB")
	b.ReportMetric(float64(res.Sealed)/1024, "sealed-KiB")
}
