package gitstate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
)

// IsIndex reports whether a file of a record is the index, or a shared index that it builds on.
func IsIndex(name string) bool { return name == "index" || strings.HasPrefix(name, "sharedindex.") }

// SameIndex reports whether two recorded indexes have the same entries, whatever their stat data.
func SameIndex(a, b *Record) bool {
	return bytes.Equal(a.Files["index"], b.Files["index"]) || a.IndexID() == b.IndexID()
}

// IndexID identifies the entries of the index without their stat data. An index that cannot be read is
// identified by its bytes.
func (r *Record) IndexID() string {
	data := r.Files["index"]
	x, err := git.ParseIndex(data, r.SHA256, func(name string) []byte { return r.Files[name] })
	if err != nil {
		return fmt.Sprintf("%x of %d bytes", sha256.Sum256(data), len(data))
	}
	return EntriesSum(x)
}

// EntriesSum identifies the entries of an index without their stat data.
func EntriesSum(x *git.Index) string {
	h := sha256.New()
	var line []byte
	for e, id := range x.WithIDs() {
		line = append(append(line[:0], id...), ' ')
		line = append(strconv.AppendUint(line, uint64(e.Mode), 8), ' ')
		line = append(strconv.AppendInt(line, int64(e.Stage), 10), ' ')
		for _, mark := range []bool{e.AssumeValid, e.SkipWorktree, e.IntentToAdd} {
			line = append(strconv.AppendBool(line, mark), ' ')
		}
		line = append(append(line, e.Name...), 0)
		h.Write(line)
	}
	return hex.EncodeToString(h.Sum(nil))
}
