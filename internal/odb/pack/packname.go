package pack

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// OwnName returns the name of a pack that cairn writes. It is derived from the checksum of
// the pack, so equal packs have equal names. Git names a pack by the checksum itself, so
// the names of cairn's packs differ from git's.
func OwnName(packSum [sha1.Size]byte) string {
	sum := sha1.Sum(append([]byte("cairn pack\x00"), packSum[:]...))
	return Prefix + hex.EncodeToString(sum[:])
}

// Own reports whether cairn wrote the pack.
func (p *Pack) Own() bool {
	x, err := p.Index()
	if err != nil {
		return false
	}
	p.named.Do(func() { p.isOwn = p.Name() == OwnName(x.packSum) })
	return p.isOwn
}

// stemOf returns the name of a pack without extension from that of its index.
func stemOf(name string) (string, bool) {
	stem, ok := strings.CutSuffix(name, IndexExt)
	return stem, ok && strings.HasPrefix(stem, Prefix)
}

// List returns the sorted names of the packs in dir that have both their files.
func List(dir string) ([]string, error) {
	d, err := atomicfile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var stems []string
	for _, name := range names {
		if stem, ok := stemOf(name); ok {
			if _, found := slices.BinarySearch(names, stem+Ext); found {
				stems = append(stems, stem)
			}
		}
	}
	return stems, nil
}
