package pack

import (
	"bytes"
	"errors"
	"hash/crc32"
	"os"
	"slices"
	"testing"
)

func TestCheckEntries(t *testing.T) {
	t.Parallel()
	p := writePack(t, t.TempDir(), "one", "two", "three")
	defer p.Close()
	data, err := os.ReadFile(p.Stem + Ext)
	must(t, err)
	data = data[:len(data)-20]
	good := must1(must1(p.Index()).Rows())
	must(t, checkEntries(data, good))
	for name, rows := range map[string][]Row{
		"first entry missing": good[1:],
		"entry in the middle": {good[0], good[2]},
		"last entry missing":  good[:2],
		"offset twice":        {good[0], good[0], good[1], good[2]},
		"offset beyond":       append(slices.Clone(good), Row{Off: 1 << 40}),
		"no entries":          nil,
	} {
		if err := checkEntries(data, rows); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := checkEntries(append(bytes.Clone(data), 'x'), good); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a byte more: %v", err)
	}
}

// A pack with a delta is refused: a copied delta would lose its base.
func TestMergerRefusesDeltas(t *testing.T) {
	t.Parallel()
	entry := append([]byte{0x60 | 3, 0x01}, "xyz"...)
	data := append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01"), entry...)
	rows := []Row{{CRC: 0, Off: HeadSize}}
	rows[0].CRC = crc32.ChecksumIEEE(entry)
	if err := checkEntries(data, rows); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}
