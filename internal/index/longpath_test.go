package index_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// chain returns an index of directories in each other, with a sibling beside every tenth.
func chain(depth int) (*index.Index, []string) {
	x, path := index.New(), ""
	paths := []string{""}
	for i := range depth {
		if i%10 == 9 {
			paths = append(paths, index.Join(path, "beside"+strings.Repeat("s", i%40)))
		}
		path = index.Join(path, fmt.Sprintf("dir%d", i))
		paths = append(paths, path)
	}
	for _, path := range paths {
		x.Put(&index.Dir{Path: path, Raw: index.Append(nil, &index.Entry{Name: "f" + path[max(0, len(path)-3):]})})
	}
	return x, paths
}

// TestLongPaths: a base gives every path back, and twice the depth takes twice the room and no more.
func TestLongPaths(t *testing.T) {
	t.Parallel()
	var size [2]int64
	for i, depth := range []int{1500, 3000} {
		f := files(t)
		x, paths := chain(depth)
		save(t, x, f)
		info, err := os.Stat(f.Base)
		if err != nil {
			t.Fatal(err)
		}
		size[i] = info.Size()
		got, places := load(t, f), map[*byte]bool{}
		if len(got.Dirs) != len(paths) {
			t.Fatalf("%d directories, not %d", len(got.Dirs), len(paths))
		}
		for _, path := range paths {
			d := got.Dirs[path]
			if d == nil || d.Path != path || string(d.Raw) != string(x.Dirs[path].Raw) {
				t.Fatalf("the block of a path of %d bytes is lost", len(path))
			}
			places[unsafe.StringData(d.Path)] = true
		}
		if most := 512/8 + depth/10*2 + 100; len(places) > most {
			t.Errorf("the paths of %d directories lie in %d places, not in %d", depth, len(places), most)
		}
	}
	if size[1] > size[0]*5/2 {
		t.Errorf("%d bytes, and %d of twice the depth", size[0], size[1])
	}
}

// TestExtend: two paths that extend the same one do not overwrite each other.
func TestExtend(t *testing.T) {
	t.Parallel()
	dir := strings.Repeat("d", 600)
	one, room := index.Extend(nil, dir, "/one")
	two, _ := index.Extend(room, one, "/two")
	three, _ := index.Extend(nil, one, "/three")
	if short, room := index.Extend(nil, "a", "/b"); short != "a/b" || room != nil {
		t.Errorf("%q, %d bytes of room", short, len(room))
	}
	if one != dir+"/one" || two != dir+"/one/two" || three != dir+"/one/three" {
		t.Errorf("%q, %q, %q", one[600:], two[600:], three[600:])
	}
}
