package main

import (
	"archive/zip"
	"bufio"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxFile keeps a few generated files from outweighing all others.
const maxFile = 2 << 20

// candidate is a file that two versions have with different content.
type candidate struct {
	from, to archive
	name     string
	size     uint64
	rank     [sha256.Size]byte // of the name, for a sample that is fair and repeats
}

// appendCandidates compares the directories of two archives; the sums in them
// tell equal files apart without unpacking.
func appendCandidates(dst []candidate, from, to archive) ([]candidate, error) {
	before, err := zip.OpenReader(from.Zip)
	if err != nil {
		return nil, err
	}
	defer before.Close()
	after, err := zip.OpenReader(to.Zip)
	if err != nil {
		return nil, err
	}
	defer after.Close()
	old := map[string]*zip.File{}
	for _, f := range before.File {
		old[strings.TrimPrefix(f.Name, from.prefix())] = f
	}
	for _, f := range after.File {
		name := strings.TrimPrefix(f.Name, to.prefix())
		o := old[name]
		if o == nil || o.CRC32 == f.CRC32 && o.UncompressedSize64 == f.UncompressedSize64 ||
			max(o.UncompressedSize64, f.UncompressedSize64) > maxFile {
			continue
		}
		dst = append(dst, candidate{
			from: from, to: to, name: name, size: o.UncompressedSize64 + f.UncompressedSize64,
			rank: sha256.Sum256([]byte(from.prefix() + name)),
		})
	}
	return dst, nil
}

// prefix is what all names in the archive begin with.
func (a archive) prefix() string { return a.Path + "@" + a.Version + "/" }

// sample picks n candidates, grouped by archive.
func sample(found []candidate, n int) []candidate {
	slices.SortFunc(found, func(a, b candidate) int { return slices.Compare(a.rank[:], b.rank[:]) })
	found = found[:min(n, len(found))]
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.from.prefix(), b.from.prefix()), cmp.Compare(a.name, b.name))
	})
	return found
}

// writeSample lays the pairs out below out and returns their size in bytes.
func writeSample(out string, pairs []candidate) (size uint64, err error) {
	index, err := os.Create(filepath.Join(out, "index.tsv"))
	if err != nil {
		return 0, err
	}
	defer index.Close()
	listing := bufio.NewWriter(index)
	var before, after *zip.ReadCloser
	defer func() { closeBoth(before, after) }()
	for i, c := range pairs {
		if i == 0 || c.from != pairs[i-1].from {
			closeBoth(before, after)
			if before, err = zip.OpenReader(c.from.Zip); err != nil {
				return 0, err
			}
			if after, err = zip.OpenReader(c.to.Zip); err != nil {
				return 0, err
			}
		}
		number := fmt.Sprintf("%03d/%06d", i/500, i)
		fmt.Fprintf(listing, "%s\t%s\t%s\t%s\n", number, c.from.prefix(), c.to.Version, c.name)
		if err := unpack(before, c.from.prefix()+c.name, filepath.Join(out, "old", number)); err != nil {
			return 0, err
		}
		if err := unpack(after, c.to.prefix()+c.name, filepath.Join(out, "new", number)); err != nil {
			return 0, err
		}
		size += c.size
	}
	return size, listing.Flush()
}

func closeBoth(before, after *zip.ReadCloser) {
	if before != nil {
		before.Close()
	}
	if after != nil {
		after.Close()
	}
}

func unpack(z *zip.ReadCloser, name, target string) error {
	r, err := z.Open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return err
	}
	return os.WriteFile(target, content, 0o666)
}
