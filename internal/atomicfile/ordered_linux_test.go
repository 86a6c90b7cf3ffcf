package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

// put writes a file below dir, with all directories above it.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestExt4Journal(t *testing.T) {
	t.Parallel()
	for name, journal := range map[string]string{
		"":            "none",
		"vda-8":       "inside",
		"sdb1":        "on another device",
		"vda1-8":      "another file system's",
		"dm-0-8/info": "another device's",
	} {
		t.Run(journal, func(t *testing.T) {
			t.Parallel()
			proc, sys := t.TempDir(), t.TempDir()
			put(t, sys, "devices/virtio1/block/vda/dev", "254:0\n")
			put(t, sys, "dev/block/nothing", "")
			if err := os.Symlink("../../devices/virtio1/block/vda", filepath.Join(sys, "dev/block/254:0")); err != nil {
				t.Fatal(err)
			}
			if name != "" {
				put(t, proc, filepath.Join("fs/jbd2", name), "")
			}
			if got, want := ext4Journal(proc, sys, "254:0"), journal == "inside"; got != want {
				t.Errorf("journal %s: %t, want %t", journal, got, want)
			}
			if ext4Journal(proc, sys, "254:1") || ext4Journal(sys, proc, "254:0") {
				t.Error("a journal of an unknown device")
			}
		})
	}
}

func TestXFSAlone(t *testing.T) {
	t.Parallel()
	const head = "22 27 0:21 / /proc rw shared:1 - proc proc rw\n"
	for mounts, want := range map[string]bool{
		head: false,
		head + "27 1 8:1 / / rw,noatime shared:1 - xfs /dev/sda1 rw,attr2,noquota\n":                    true,
		head + "27 1 8:1 / / rw - xfs /dev/sda1 rw,attr2\n30 1 8:1 /a /b rw - xfs /dev/sda1 rw,attr2\n": true,
		head + "27 1 8:1 / / rw - xfs /dev/sda1 rw,rtdev=/dev/sdb\n":                                    false,
		head + "27 1 8:1 / / rw - xfs /dev/sda1 rw,logdev=/dev/sdb\n":                                   false,
		head + "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n":                                                  false,
		head + "27 1 8:10 / / rw - xfs /dev/sda10 rw\n":                                                 false,
		head + "27 1 8:1 / / rw\n":                                                                      false,
		"torn\n27 1 8:1 / /mnt/odd\\040-\\040name rw - xfs /dev/sda1 rw\n":                              true,
	} {
		proc := t.TempDir()
		put(t, proc, "self/mountinfo", mounts)
		if got := xfsAlone(proc, "8:1"); got != want {
			t.Errorf("%t, want %t, of\n%s", got, want, mounts)
		}
	}
	if xfsAlone(t.TempDir(), "8:1") {
		t.Error("known without a table of mounts")
	}
}

// TestOrderedNeedsADevice: a file system without a device has no journal.
func TestOrderedNeedsADevice(t *testing.T) {
	t.Parallel()
	f, err := os.Open("/proc/self")
	if err != nil {
		t.Skipf("no /proc here: %v", err)
	}
	defer f.Close()
	if device, ok := Ordered(f); ok || device == 0 {
		t.Errorf("/proc: device %d, ordered %t", device, ok)
	}
	f.Close()
	if _, ok := Ordered(f); ok {
		t.Error("a closed file is said to be ordered")
	}
}
