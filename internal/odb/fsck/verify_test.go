package fsck

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/collect"
	"github.com/seed-fb9cbc17/cairn/internal/odb/odbtest"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

func must(t testing.TB, err error) {
	t.Helper()
	odbtest.Must(t, err)
}

func must1[T any](v T, err error) T { return odbtest.Must1(v, err) }

// foreignHolder is the record of a holder of the lock on another machine.
func foreignHolder() []byte {
	const record = `{"pid":1,"host":"elsewhere","boot":"x"}`
	return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE([]byte(record)), record)
}

// faults returns the faults of a store as another process would see it.
func faults(t testing.TB, db *odb.DB, v Options) []Fault {
	t.Helper()
	var all []Fault
	for f, err := range Verify(t.Context(), odbtest.Reopen(t, db), v) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Err == nil {
			t.Errorf("fault without an error: %+v", f)
		}
		all = append(all, f)
	}
	return all
}

// soundStore has files of every kind and no fault.
func soundStore(t testing.TB) *odbtest.Lines {
	l := odbtest.NewLines(t)
	for i := range 3 {
		l.Fill(fmt.Sprint("refs/cairn/tracks/", i), 4)
	}
	must1(l.Fold(t.Context()))
	must(t, l.WriteJournal("operation", []byte("x"), nil))
	must(t, os.WriteFile(l.PrivatePath("index"), []byte("not ours"), 0o600))
	unlock, err := l.Lock(t.Context())
	must(t, err)
	must(t, unlock())
	must1(collect.Run(t.Context(), l.DB, collect.Options{}))
	l.Fill("refs/cairn/tracks/new", 2)
	must(t, os.WriteFile(l.Path("packed-refs"), []byte("# pack-refs with: peeled\n"+must1(l.Ref("refs/cairn/tracks/0")).String()+" refs/cairn/tracks/0\n"), 0o600))
	loose := l.Loose(object.Sum(object.Blob, []byte("loose\n"))).Path
	gittest.Bare(t, l.Dir(), "loose\n", "hash-object", "-w", "--stdin")
	must(t, os.Chmod(loose, 0o600))
	must(t, os.Chmod(filepath.Dir(loose), 0o700))
	return l
}

func TestVerifySound(t *testing.T) {
	t.Parallel()
	l := soundStore(t)
	writing := l.NewBatch()
	defer writing.Discard()
	must1(writing.Add(object.Blob, gittest.Noise(1, 2*pack.SpillAt))) // a living writer's file is no fault
	for _, quick := range []bool{false, true} {
		if got := faults(t, l.DB, Options{Quick: quick}); len(got) > 0 {
			t.Errorf("quick %v: %+v", quick, got)
		}
	}
	if got := faults(t, l.DB, Options{Roots: []object.ID{{1}}}); len(got) != 1 || got[0].Kind != FaultMissing || got[0].ID != (object.ID{1}) {
		t.Errorf("a root that is missing: %+v", got)
	}
}

func TestVerifyFaults(t *testing.T) {
	t.Parallel()
	flip := func(path string, at int) func(l *odbtest.Lines) {
		return func(l *odbtest.Lines) {
			data, err := os.ReadFile(path)
			must(l.T, err)
			data[(at+len(data))%len(data)] ^= 0x10
			must(l.T, os.WriteFile(path, data, 0o600))
		}
	}
	cut := func(path string, n int64) func(l *odbtest.Lines) {
		return func(l *odbtest.Lines) { must(l.T, os.Truncate(path, n)) }
	}
	onPack := func(ext string, damage func(string, int) func(*odbtest.Lines), at int) func(l *odbtest.Lines) {
		return func(l *odbtest.Lines) { damage(l.Path("objects/pack/"+l.PackNames()[0]+ext), at)(l) }
	}
	cutAt := func(path string, n int) func(*odbtest.Lines) { return cut(path, int64(n)) }
	write := func(name, content string) func(l *odbtest.Lines) {
		return func(l *odbtest.Lines) { must(l.T, os.WriteFile(l.Path(name), []byte(content), 0o600)) }
	}
	remove := func(path string, _ int) func(*odbtest.Lines) {
		return func(l *odbtest.Lines) { must(l.T, os.Remove(path)) }
	}
	tests := []struct {
		name   string
		damage func(l *odbtest.Lines)
		kind   FaultKind
		quick  bool // it shows without reading contents
		left   bool // what was lost stays lost after the repair
	}{
		{"entry altered", onPack(pack.Ext, flip, 100), FaultPack, false, true},
		{"pack cut off", onPack(pack.Ext, cutAt, 300), FaultPack, true, true},
		{"pack empty", onPack(pack.Ext, cutAt, 0), FaultPack, true, true},
		{"pack head altered", onPack(pack.Ext, flip, 2), FaultPack, true, false},
		{"pack checksum altered", onPack(pack.Ext, flip, -3), FaultPack, true, false},
		{"pack missing", onPack(pack.Ext, remove, 0), FaultPack, true, true},
		{"index altered", onPack(pack.IndexExt, flip, pack.IndexHeadSize+5), FaultIndex, true, false},
		{"index cut off", onPack(pack.IndexExt, cutAt, 1500), FaultIndex, true, false},
		{"index empty", onPack(pack.IndexExt, cutAt, 0), FaultIndex, true, false},
		{"index missing", onPack(pack.IndexExt, remove, 0), FaultIndex, true, false},
		{"ref torn", write("refs/cairn/tracks/0", "123"), FaultRef, true, false},
		{"ref empty", write("refs/cairn/x", ""), FaultRef, true, false},
		{"packed ref torn", write("packed-refs", "# x\n1234 refs/cairn/y\n"), FaultRef, true, false},
		{"packed-refs noise", write("packed-refs", "\x00\x00\x00"), FaultRef, true, false},
		{"packed ref that is a directory", write("packed-refs", strings.Repeat("12", 20)+" refs/cairn"), FaultRef, true, false},
		{"ref to nothing", func(l *odbtest.Lines) { must(l.T, l.SetRef("refs/cairn/x", object.ID{4})) }, FaultMissing, true, true},
		{"journal torn", write("cairn/journal/operation", "cairn journal 1 abc"), FaultJournal, true, false},
		{"temporary file", write("objects/pack/"+pack.TempPrefix+"1", ""), FaultTemporary, true, false},
		{"interrupted removal", write("objects/pack/"+odb.GonePrefix+"1", ""), FaultTemporary, true, false},
		{"temporary ref", write("cairn/.tmp_cairn_1", ""), FaultTemporary, true, false},
		{"git's temporary file", func(l *odbtest.Lines) {
			write("objects/pack/tmp_pack_x", "")(l)
			old := time.Now().Add(-48 * time.Hour)
			must(l.T, os.Chtimes(l.Path("objects/pack/tmp_pack_x"), old, old))
		}, FaultTemporary, true, false},
		{"foreign file", write("objects/pack/notes.txt", ""), FaultUnknown, true, true},
		{"foreign directory", func(l *odbtest.Lines) {
			must(l.T, os.Mkdir(l.Path("stuff"), 0o700))
			write("stuff/file", "")(l)
		}, FaultUnknown, true, true},
		{"foreign lock", func(l *odbtest.Lines) {
			must(l.T, os.WriteFile(l.Path("cairn/lock.holder"), foreignHolder(), 0o600))
		}, FaultLock, true, false},
		{"permissions", func(l *odbtest.Lines) { must(l.T, os.Chmod(l.Path("HEAD"), 0o644)) }, FaultMode, true, false},
		{"directory permissions", func(l *odbtest.Lines) { must(l.T, os.Chmod(l.Path("refs"), 0o755)) }, FaultMode, true, false},
		{"HEAD torn", write("HEAD", "re"), FaultLayout, true, false},
		{"config empty", write("config", ""), FaultLayout, true, false},
		{"no journal directory", func(l *odbtest.Lines) { must(l.T, os.RemoveAll(l.Path("cairn/journal"))) }, FaultLayout, true, false},
		{"shallow torn", write("shallow", "12345\n"), FaultLayout, true, false},
		{"loose object altered", func(l *odbtest.Lines) { flip(l.Loose(object.Sum(object.Blob, []byte("loose\n"))).Path, -1)(l) }, FaultObject, false, false},
		{"loose object empty", func(l *odbtest.Lines) { cut(l.Loose(object.Sum(object.Blob, []byte("loose\n"))).Path, 0)(l) }, FaultObject, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && tt.kind == FaultMode || runtime.GOOS == "windows" && tt.kind == FaultTemporary {
				t.Skip("does not show on this system")
			}
			l := soundStore(t)
			tt.damage(l)
			is := func(f Fault) bool { return f.Kind == tt.kind }
			if quick := faults(t, l.DB, Options{Quick: true}); slices.ContainsFunc(quick, is) != tt.quick {
				t.Errorf("quick: %+v", quick)
			}
			found := faults(t, l.DB, Options{})
			if !slices.ContainsFunc(found, is) {
				t.Fatalf("found %+v", found)
			}
			repairAll(t, l.DB, found)
			left := faults(t, l.DB, Options{})
			left = slices.DeleteFunc(left, func(f Fault) bool { return f.Kind == FaultMissing })
			if tt.kind == FaultUnknown {
				left = nil
			}
			if len(left) > 0 {
				t.Errorf("after the repair: %+v", left)
			}
			l.CheckBytes(tt.left)
		})
	}
}

// TestEarlierConfig: a store of an earlier release, whose configuration lacks a line, is sound, and
// the first lock of a process adds the line.
func TestEarlierConfig(t *testing.T) {
	t.Parallel()
	l := soundStore(t)
	path := l.Path("config")
	now, err := os.ReadFile(path)
	must(t, err)
	was := strings.ReplaceAll(string(now), newLine, "")
	if was == string(now) {
		t.Fatalf("the configuration is %q", now)
	}
	must(t, os.WriteFile(path, []byte(was), 0o600))
	if found := faults(t, l.DB, Options{Quick: true}); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
	user := was + "[gc]\n\tpruneexpire = 2.weeks.ago\n"
	for before, after := range map[string]string{was: was + "[gc]\n" + newLine, user: user} {
		must(t, os.WriteFile(path, []byte(before), 0o600))
		unlock, err := odbtest.Reopen(t, l.DB).Lock(t.Context())
		must(t, err)
		must(t, unlock())
		text, err := os.ReadFile(path)
		must(t, err)
		if string(text) != after {
			t.Errorf("after a lock the configuration is %q, want %q", text, after)
		}
	}
}

// repairAll repairs every fault that has a repair.
func repairAll(t testing.TB, db *odb.DB, found []Fault) {
	t.Helper()
	other := odbtest.Reopen(t, db)
	for _, f := range found {
		switch err := Repair(t.Context(), other, f); {
		case f.Repair == "" && !errors.Is(err, ErrNoRepair), f.Repair != "" && err != nil:
			t.Errorf("repair %+v: %v", f, err)
		}
	}
}

// TestR96_RandomDamage damages files of the store at random. No call panics, no object reads as
// wrong bytes, objects outside of the damaged files stay, and after the repair only losses are
// left.
func TestR96_RandomDamage(t *testing.T) {
	t.Parallel()
	rounds := 120 * gittest.SoakFactor()
	if testing.Short() || gittest.Race {
		rounds = 20
	}
	pristine := soundStore(t)
	text := string(gittest.Prose(1, 3000))
	for i := range 5 {
		pristine.Track("refs/cairn/tracks/deltas", map[string]string{"f": text[i*20:]})
	}
	for i, name := range pristine.PackNames() {
		if i%2 == 0 { // stays as it is
			must(t, os.WriteFile(pristine.Path("objects/pack/"+name+".keep"), nil, 0o600))
		}
	}
	gittest.Bare(t, pristine.Dir(), "", "-c", "repack.writeBitmaps=false", "repack", "-adf")
	must(t, pristine.Close())
	var files []string
	must(t, filepath.WalkDir(pristine.Dir(), func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(pristine.Dir(), path)
		if err == nil && !e.IsDir() && rel != filepath.FromSlash("cairn/version") && rel != filepath.FromSlash("cairn/root") { // those are for Open to judge
			files = append(files, rel)
		}
		return err
	}))
	for n := range rounds {
		t.Run(fmt.Sprint(n), func(t *testing.T) { damageRound(t, pristine, files, uint64(n)) })
	}
}

func damageRound(t *testing.T, pristine *odbtest.Lines, files []string, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 96))
	dir := filepath.Join(t.TempDir(), "store")
	must(t, os.CopyFS(dir, os.DirFS(pristine.Dir())))
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error { return errors.Join(err, restrict(path)) }))
	rel := files[r.IntN(len(files))]
	what := damageFile(t, r, filepath.Join(dir, rel))
	db, err := odb.Open(dir, odbtest.Root, odb.Options{NoSync: true})
	if err != nil {
		t.Fatalf("%s %s: %v", rel, what, err)
	}
	defer db.Close()
	l := &odbtest.Lines{DB: db, T: t, Objs: pristine.Objs}
	l.CheckBytes(true)
	found := faults(t, db, Options{})
	repairAll(t, db, found)
	for _, f := range faults(t, db, Options{}) {
		if f.Kind != FaultMissing {
			t.Errorf("left: %+v", f)
		}
	}
	l.CheckBytes(strings.HasSuffix(rel, pack.Ext))
	if t.Failed() {
		t.Fatalf("%s %s: %+v", rel, what, found)
	}
}

func damageFile(t *testing.T, r *rand.Rand, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	if len(data) == 0 {
		return "is empty"
	}
	what := ""
	switch at := r.IntN(len(data)); r.IntN(4) {
	case 0:
		data[at] ^= 1 << r.IntN(8)
		what = fmt.Sprint("flipped at ", at)
	case 1:
		data = data[:at]
		what = fmt.Sprint("cut at ", at)
	case 2:
		clear(data[at:])
		what = fmt.Sprint("zeroes from ", at)
	case 3:
		data = append(data, data[:at]...)
		what = fmt.Sprint("has grown by ", at)
	}
	must(t, os.WriteFile(path, data, 0o600))
	return what
}

func TestVerifyStops(t *testing.T) {
	t.Parallel()
	l := soundStore(t)
	for range 3 {
		must(t, os.WriteFile(l.Path("objects/pack/"+fmt.Sprint("x", time.Now().UnixNano())), nil, 0o600))
	}
	n := 0
	for range Verify(t.Context(), l.DB, Options{}) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d faults", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for f, err := range Verify(ctx, l.DB, Options{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%+v, %v", f, err)
		}
	}
}

// Repair touches nothing outside of the store, and does nothing that the fault does not say.
func TestRepairRefuses(t *testing.T) {
	t.Parallel()
	l := soundStore(t)
	outside := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(outside, nil, 0o644))
	for _, f := range []Fault{
		{Kind: FaultTemporary, Path: outside, Repair: "x"},
		{Kind: FaultTemporary, Path: l.Path("../x"), Repair: "x"},
		{Kind: FaultTemporary, Path: l.Path("HEAD"), Repair: "x"},
		{Kind: FaultUnknown, Path: l.Path("HEAD"), Repair: "x"},
		{Kind: FaultLayout, Path: l.Path("HEAD2"), Repair: "x"},
		{Kind: FaultPack, Path: l.Path("HEAD")},
	} {
		if err := Repair(t.Context(), l.DB, f); !errors.Is(err, ErrNoRepair) {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if got := faults(t, l.DB, Options{}); len(got) > 0 {
		t.Errorf("afterwards: %+v", got)
	}
}

// The permissions of a borrowed pack belong to its lender: they are no fault, and Repair leaves
// them alone.
func TestVerifyBorrowed(t *testing.T) {
	t.Parallel()
	lender, l := odbtest.NewLines(t), soundStore(t)
	lender.Fill("refs/heads/x", 3)
	packFile := lender.Path("objects/pack/" + lender.PackNames()[0] + pack.Ext)
	must(t, os.Chmod(packFile, 0o644))
	if n, err := l.Borrow([]string{lender.Path("objects")}); n == 0 || err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	if got := faults(t, l.DB, Options{}); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	mine := l.Path("objects/pack/" + filepath.Base(packFile))
	if err := Repair(t.Context(), l.DB, Fault{Kind: FaultMode, Path: mine, Repair: "x"}); !errors.Is(err, ErrNoRepair) && runtime.GOOS != "windows" {
		t.Error(err)
	}
	if info, err := os.Stat(packFile); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o644 {
		t.Errorf("the lender's pack: %v, %v", info.Mode(), err)
	}
}

// A repack takes the lender's name of a borrowed pack away. The permissions of the pack
// are still no fault.
func TestV15_VerifyBorrowedAfterARepack(t *testing.T) {
	t.Parallel()
	lender, l := odbtest.NewLines(t), soundStore(t)
	lender.Fill("refs/heads/x", 3)
	stem := lender.Path("objects/pack/" + strings.TrimSuffix(lender.PackNames()[0], pack.Ext))
	must(t, errors.Join(os.Chmod(stem+pack.Ext, 0o444), os.Chmod(stem+pack.IndexExt, 0o444)))
	if n, err := l.Borrow([]string{lender.Path("objects")}); n == 0 || err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	must(t, errors.Join(os.Remove(stem+pack.Ext), os.Remove(stem+pack.IndexExt)))
	if got := faults(t, l.DB, Options{}); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}
