package pack

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func TestMidxNames(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := filepath.Join(t.TempDir(), "r.git")
	o.In(filepath.Dir(dir), "init", "-q", "--bare", dir)
	packs := filepath.Join(dir, "objects", "pack")
	var stems []string
	for i := range 5 {
		p := writePack(t, packs, fmt.Sprint("blob ", i))
		p.Close()
		stems = append(stems, p.Name())
	}
	o.In(dir, "multi-pack-index", "write")
	data, err := os.ReadFile(filepath.Join(packs, "multi-pack-index"))
	must(t, err)
	names, err := parseMidxNames(data)
	must(t, err)
	for _, name := range stems {
		if !names[name] {
			t.Errorf("%s is missing from %v", name, names)
		}
	}
	for i := range min(len(data), 200) {
		parseMidxNames(data[:i])
		bad := bytes.Clone(data)
		bad[i] ^= 0xff
		parseMidxNames(bad)
	}
	for _, bad := range []string{"", "MIDX", strings.Repeat("x", 100), "MIDX\x01\x01\x00\x00\x00\x00\x00\x00"} {
		if names, err := parseMidxNames([]byte(bad)); err == nil {
			t.Errorf("%q: %v", bad, names)
		}
	}
}
