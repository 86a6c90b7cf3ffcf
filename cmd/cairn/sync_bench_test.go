package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// BenchmarkTrackSync compares tracks whose setting sync begins a push in the background with tracks without the
// setting, in turns and in an order that changes, so that each kind comes as often while a push of the other one goes
// on. The remote is a bare repository on this disk.
func BenchmarkTrackSync(b *testing.B) {
	program, err := exec.LookPath("cairn")
	if err != nil {
		b.Fatal(err)
	}
	o := gittest.NewOracle(b)
	remote, home := filepath.Join(b.TempDir(), "fleet.git"), b.TempDir()
	o.In(home, "init", "-q", "--bare", "--template=", remote)
	kinds := []string{"", remote}
	dirs, took := map[string]string{"": b.TempDir(), remote: b.TempDir()}, make(map[string][]time.Duration)
	for _, dir := range dirs {
		for i := range 200 {
			gittest.Create(b, dir, gittest.Tree{"f" + strconv.Itoa(i): gittest.File(strconv.Itoa(i))})
		}
	}
	round := 0
	for b.Loop() {
		for _, sync := range kinds {
			gittest.Create(b, dirs[sync], gittest.Tree{"new" + strconv.Itoa(round): gittest.File("new")})
			cmd := exec.Command(program, "-C", dirs[sync], "track")
			cmd.Env = []string{
				"PATH=" + os.Getenv("PATH"), "HOME=" + home, "USERPROFILE=" + home, "CAIRN_DATA_DIR=" + filepath.Join(home, "data"),
				"CAIRN_NO_SERVER=1", "CAIRN_SYNC=" + sync,
			}
			began := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("track: %v: %s", err, out)
			}
			took[sync] = append(took[sync], time.Since(began))
		}
		slices.Reverse(kinds)
		round++
	}
	median := func(list []time.Duration) float64 {
		slices.Sort(list)
		return float64(list[len(list)/2].Microseconds()) / 1e3
	}
	b.ReportMetric(median(took[""]), "off-ms")
	b.ReportMetric(median(took[remote]), "sync-ms")
	b.ReportMetric(median(took[remote])/median(took[""]), "ratio")
}
