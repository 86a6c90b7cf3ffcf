package odb

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

// midxNames returns the packs that a multi-pack-index of git's names: to take one
// away would break it. Reading does not need that index, because git keeps those of
// the packs beside it. One that is not understood is an error.
func midxNames(dir string) (map[string]bool, error) {
	if _, err := os.Lstat(filepath.Join(dir, "multi-pack-index.d")); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, corrupt("chain of multi-pack-indexes"))
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

// parseMidxNames reads the chunk of the pack names, called PNAM: the names of
// indexes, each with a NUL.
func parseMidxNames(data []byte) (map[string]bool, error) {
	const head, line = 12, 12 // a line of the table is a chunk's name and offset
	if len(data) < head || string(data[:4]) != "MIDX" || data[4] != 1 {
		return nil, corrupt("not a multi-pack-index of version 1")
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
				names[strings.TrimSuffix(string(name), idxExt)] = true
			}
			return names, nil
		}
		table = table[line:]
	}
	return nil, corrupt("multi-pack-index without pack names")
}
