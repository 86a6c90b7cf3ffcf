package keep

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// Share is the part of the limit of a store that a vault may take: one of so many.
const Share = 4

// Limits of a Trim.
type Limits struct {
	Now    time.Time
	Oldest time.Time // of the records that live; zero = none lives
	Most   int64     // bytes of files that no source has any more; negative = no limit
}

// Trimmed says what a Trim did.
type Trimmed struct {
	Freed int64
	Early int // files that went before their time because of Limits.Most
}

// kept is a pack with its index, or a loose object.
type kept struct {
	name  string // from the directory of objects, with slashes; of a pack without extension
	size  int64
	ids   []byte // of a pack, sorted
	gone  time.Time
	lives bool // a source has it
}

// Trim removes what no record needs any more.
func (v *Vault) Trim(l Limits) (Trimmed, error) {
	var res Trimmed
	if !v.Exists() {
		return res, nil
	}
	n := v.notes()
	files, err := v.list()
	if err != nil {
		return res, err
	}
	was := n.Gone
	n.Gone = make(map[string]time.Time)
	var gone []*kept
	for _, k := range files {
		if k.lives = n.has(k.name); k.lives {
			continue
		}
		var ok bool
		if k.gone, ok = was[k.name]; !ok || k.gone.After(l.Now) {
			k.gone = l.Now
		}
		gone = append(gone, k)
	}
	if len(gone) > 0 {
		v.readIDs(files, n.idSize())
	}
	slices.SortFunc(gone, func(a, b *kept) int { return cmp.Or(b.gone.Compare(a.gone), cmp.Compare(a.name, b.name)) })
	sum := int64(0)
	for _, k := range gone { // the newest first
		early := l.Most >= 0 && sum+k.size > l.Most
		if old := l.Oldest.IsZero() || k.gone.Before(l.Oldest); early || old || covered(k, files, n.idSize()) {
			if early && !old {
				res.Early++
			}
			if err := v.drop(k.name); err != nil {
				return res, err
			}
			res.Freed += k.size
			continue
		}
		sum += k.size
		n.Gone[k.name] = k.gone
	}
	for i := range n.Sources {
		n.Sources[i].Seen = nil // a dropped object may come back
	}
	return res, v.write(n)
}

func (n *notes) idSize() int {
	if n.SHA256 {
		return 32
	}
	return 20
}

// has reports whether a source has an object file or a pack.
func (n *notes) has(name string) bool {
	if strings.HasPrefix(name, "pack/") {
		name += pack.Ext
	}
	return slices.ContainsFunc(n.Sources, func(s source) bool {
		_, err := os.Lstat(filepath.Join(s.Dir, filepath.FromSlash(name)))
		return err == nil
	})
}

// list lists the packs and loose objects of the vault.
func (v *Vault) list() ([]*kept, error) {
	var files []*kept
	packs := make(map[string]*kept)
	top := v.path("objects")
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		dir, name, _ := strings.Cut(rel, "/")
		switch ext := filepath.Ext(name); {
		case dir == "pack" && (ext == pack.Ext || ext == pack.IndexExt):
			rel = strings.TrimSuffix(rel, ext)
			if packs[rel] == nil {
				packs[rel] = &kept{name: rel}
				files = append(files, packs[rel])
			}
			packs[rel].size += info.Size()
		case len(dir) == 2 && isHex(dir) && isObject(name):
			files = append(files, &kept{name: rel, size: info.Size()})
		}
		return nil
	})
	return files, err
}

// drop removes a pack, whose index goes first, or a loose object.
func (v *Vault) drop(name string) error {
	path := v.path("objects", filepath.FromSlash(name))
	if !strings.HasPrefix(name, "pack/") {
		return os.Remove(path)
	}
	for _, ext := range []string{pack.IndexExt, pack.Ext} {
		if err := os.Remove(path + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// readIDs reads which objects the packs hold.
func (v *Vault) readIDs(files []*kept, size int) {
	for _, k := range files {
		if strings.HasPrefix(k.name, "pack/") {
			k.ids = indexIDs(v.path("objects", filepath.FromSlash(k.name)+pack.IndexExt), size)
		}
	}
}

// indexIDs returns the sorted ids of an index of version 2 (gitformat-pack(5)), nil if it cannot be
// read.
func indexIDs(path string, size int) []byte {
	data, err := os.ReadFile(path)
	const head = 8 + 256*4
	if err != nil || len(data) < head || string(data[:8]) != "\xfftOc\x00\x00\x00\x02" {
		return nil
	}
	n := int(binary.BigEndian.Uint32(data[head-4:]))
	if len(data)-head < n*size {
		return nil
	}
	return data[head : head+n*size]
}

// covered reports whether one pack that a source has holds everything that k holds.
func covered(k *kept, files []*kept, size int) bool {
	ids := k.ids
	if !strings.HasPrefix(k.name, "pack/") {
		var err error
		if ids, err = hex.DecodeString(strings.Replace(k.name, "/", "", 1)); err != nil || len(ids) != size {
			return false
		}
	}
	if len(ids) == 0 {
		return false
	}
	for _, p := range files {
		if p.lives && len(p.ids) > 0 && holds(p.ids, ids, size) {
			return true
		}
	}
	return false
}

// holds reports whether sorted ids contain all others.
func holds(ids, others []byte, size int) bool {
	n := len(ids) / size
	at := func(i int) string { return string(ids[i*size : (i+1)*size]) }
	for len(others) > 0 {
		id := string(others[:size])
		if i := sort.Search(n, func(i int) bool { return at(i) >= id }); i == n || at(i) != id {
			return false
		}
		others = others[size:]
	}
	return true
}
