package cairn_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// besideGit times what a Repo that records git does beside one that does not. They take turns, and the
// best of each counts.
func besideGit(b *testing.B, once func(noGit bool) time.Duration) {
	b.Helper()
	best := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		for i, noGit := range []bool{true, false} {
			best[i] = min(best[i], once(noGit))
		}
	}
	b.ReportMetric(best[0].Seconds()*1e3, "off-ms")
	b.ReportMetric(best[1].Seconds()*1e3, "on-ms")
	b.ReportMetric((best[1]-best[0]).Seconds()*1e3, "more-ms")
	b.ReportMetric(float64(best[1])/float64(best[0]), "ratio")
}

// unchangedBesideGit times unchanged tracks of a repository.
func unchangedBesideGit(b *testing.B, files int, watch bool) {
	b.Helper()
	gittest.NeedGit(b)
	root, o := b.TempDir(), gittest.NewOracle(b)
	growTree(b, root, files)
	o.Init(root)
	o.In(root, "config", "gc.auto", "0") // it would go on in the background
	o.Commit(root, "all")
	repos := make(map[bool]*cairn.Repo)
	for _, noGit := range []bool{true, false} {
		r, err := cairn.Open(cairn.Options{Root: root, DataDir: b.TempDir(), Watch: watch, NoSync: true, NoGit: noGit})
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		repos[noGit] = r
	}
	track := func(noGit bool) time.Duration {
		begun := time.Now()
		if _, err := repos[noGit].Track(context.Background(), cairn.TrackOptions{}); err != nil {
			b.Fatal(err)
		}
		return time.Since(begun)
	}
	for range 3 { // stamps of a moment ago do not count yet
		track(true)
		track(false)
		time.Sleep(200 * time.Millisecond)
	}
	besideGit(b, track)
}

// BenchmarkGitWatched: unchanged tracks of a Repo that watches. -benchtime 2000x.
func BenchmarkGitWatched(b *testing.B) { unchangedBesideGit(b, 1000, true) }

// BenchmarkGitScanned: unchanged tracks of a repository of 80,000 files. -benchtime 30x.
func BenchmarkGitScanned(b *testing.B) {
	files := 80_000
	if testing.Short() {
		files = 5_000
	}
	unchangedBesideGit(b, files, false)
}

// BenchmarkGitFirstRecord: the first track of a repository with 1,000,000 objects in three packs.
// -benchtime 5x.
func BenchmarkGitFirstRecord(b *testing.B) {
	gittest.NeedGit(b)
	objects := 1_000_000
	if testing.Short() {
		objects = 30_000
	}
	root, o := b.TempDir(), gittest.NewOracle(b)
	o.Init(root)
	for i := range 3 {
		importBlobs(b, o, root, i, objects/3)
	}
	if packs := strings.Fields(o.In(root, "count-objects", "-v")); !slices.Contains(packs, "3") {
		b.Fatalf("not three packs: %v", packs)
	}
	besideGit(b, func(noGit bool) time.Duration {
		r, err := cairn.Open(cairn.Options{Root: root, DataDir: filepath.Join(b.TempDir(), "data"), NoSync: true, NoGit: noGit})
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		begun := time.Now()
		if _, err := r.Track(context.Background(), cairn.TrackOptions{}); err != nil {
			b.Fatal(err)
		}
		took := time.Since(begun)
		if p := r.GitProtection(); p.On == noGit || p.On && p.Reason != "" {
			b.Fatalf("protection %+v", p)
		}
		return took
	})
}

// importBlobs makes a pack of so many blobs, which a commit leads to.
func importBlobs(b *testing.B, o *gittest.Oracle, root string, n, blobs int) {
	b.Helper()
	cmd := exec.Command("git", "-C", root, "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--depth=0")
	cmd.Env = append(os.Environ(), o.Env()...)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	for i := range blobs {
		text := fmt.Sprintf("%d %d", n, i)
		fmt.Fprintf(in, "blob\nmark :%d\ndata %d\n%s\n", i+1, len(text), text)
	}
	fmt.Fprintf(in, "commit refs/heads/pack%d\ncommitter a <a@b> 1 +0000\ndata 1\nx\n", n)
	for i := range blobs {
		fmt.Fprintf(in, "M 100644 :%d %d/%d\n", i+1, i/1000, i)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
}
