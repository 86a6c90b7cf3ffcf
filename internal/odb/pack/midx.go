package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// MidxNames returns the packs that git's multi-pack-index in dir names. Removing one of
// them would break that index. Reading objects does not need it, because git keeps the
// index of each pack, too. An unknown format is an error.
func MidxNames(dir string) (map[string]bool, error) {
	if _, err := os.Lstat(filepath.Join(dir, "multi-pack-index.d")); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, Corrupt("chain of multi-pack-indexes"))
	}
	data, err := atomicfile.Read(filepath.Join(dir, "multi-pack-index"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseMidxNames(data)
}

// parseMidxNames reads the chunk PNAM: the names of the indexes of packs, each with a NUL.
func parseMidxNames(data []byte) (map[string]bool, error) {
	const head, line = 12, 12 // a line of the table is a chunk's name and offset
	if len(data) < head || string(data[:4]) != "MIDX" || data[4] != 1 {
		return nil, Corrupt("not a multi-pack-index of version 1")
	}
	table := data[head:]
	for range int(data[6]) {
		if len(table) < 2*line {
			break
		}
		if string(table[:4]) == "PNAM" {
			begin, end := binary.BigEndian.Uint64(table[4:]), binary.BigEndian.Uint64(table[4+line:])
			if begin > end || end > uint64(len(data)) {
				break
			}
			names := make(map[string]bool)
			for name := range bytes.SplitSeq(data[begin:end], []byte{0}) {
				names[strings.TrimSuffix(string(name), IndexExt)] = true
			}
			return names, nil
		}
		table = table[line:]
	}
	return nil, Corrupt("multi-pack-index without pack names")
}
