package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Where stamps are said to be fine, no two changes with a look in between share one.
func TestStampsFinely(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Chmod(0o751 | os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	if !StampsFinely(f) {
		t.Skip("this file system stamps by the ticks of the clock, or is not known for anything else")
	}
	if info, err := f.Stat(); err != nil || info.Mode() != 0o751|os.ModeSetuid {
		t.Errorf("the bits have become %v, %v", info.Mode(), err)
	}
	var st unix.Stat_t
	last := time.Time{}
	for n := range 2000 {
		if _, err := f.WriteAt([]byte{byte(n)}, 0); err != nil {
			t.Fatal(err)
		}
		if err := unix.Fstat(int(f.Fd()), &st); err != nil {
			t.Fatal(err)
		}
		now := time.Unix(st.Ctim.Unix())
		if modified := time.Unix(st.Mtim.Unix()); !now.After(last) || !modified.Equal(now) {
			t.Fatalf("change %d at %v, contents at %v, the change before at %v", n, now, modified, last)
		}
		last = now
	}
}

// Other file systems are not asked for more than their kind.
func TestStampsFinelyElsewhere(t *testing.T) {
	t.Parallel()
	f, err := os.Open("/proc/self/status")
	if err != nil {
		t.Skip("no file of another kind here:", err)
	}
	defer f.Close()
	if StampsFinely(f) {
		t.Error("/proc stamps finely")
	}
}
