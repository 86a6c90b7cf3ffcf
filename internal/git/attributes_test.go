package git

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// Whatever git gives a filter or an encoding is converted here, too; the other way
// round there may be some more.
func TestAttributesCoverGits(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	var paths []string
	tree := gittest.Tree{}
	for _, dir := range []string{"", "a/", "a/b/", "c d/"} {
		for _, name := range []string{"x", "x.bin", "Y.BIN", "#z", "sp ace", "[ab]"} {
			paths = append(paths, dir+name)
			tree[dir+name] = gittest.File("")
		}
	}
	patterns := []string{"*", "x", "*.bin", "/x", "a/*", "a/**", "**/x", "b/x", `\#z`, "[xY]*", `"sp ace"`, "lfs", "# x", "!x", `\[ab\]`, "a/b", "*.BIN", "c*"}
	values := []string{"filter=lfs", "-filter", "!filter", "text", "working-tree-encoding=UTF-16", "lfs", "-text filter=x diff", "diff=filter"}
	converted := 0
	for seed := range uint64(gittest.Rounds(40)) {
		rng := rand.New(rand.NewPCG(seed, 5))
		root := filepath.Join(tempDir(t), "r")
		gittest.Create(t, root, tree)
		o.Init(root)
		for _, file := range []string{".gitattributes", "a/.gitattributes", ".git/info/attributes"} {
			var b strings.Builder
			for range rng.IntN(4) {
				pattern := patterns[rng.IntN(len(patterns))]
				if pattern == "lfs" {
					pattern = "[attr]lfs"
				}
				fmt.Fprintf(&b, "%s %s\n", pattern, values[rng.IntN(len(values))])
			}
			write(t, filepath.Join(root, filepath.FromSlash(file)), b.String())
		}
		converted += attributesCover(t, o, root, paths)
	}
	if converted == 0 {
		t.Error("git converts nothing: the test proves nothing")
	}
}

func attributesCover(t *testing.T, o *gittest.Oracle, root string, paths []string) (converted int) {
	t.Helper()
	r, err := Find(root)
	if err != nil || r == nil {
		t.Fatal(r, err)
	}
	a := r.Attributes(UserConfig{}, new(Index))
	out := o.Feed(root, strings.Join(paths, "\x00")+"\x00", "check-attr", "-z", "--stdin", "filter", "working-tree-encoding")
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		path, value := fields[i], fields[i+2]
		if value == "unspecified" || value == "unset" {
			continue
		}
		converted++
		if !a.convert(path) {
			t.Errorf("%q: git says %s=%s", path, fields[i+1], value)
		}
	}
	return converted
}

func (a *Attributes) convert(path string) bool {
	dir := dirOf(path)
	return a.Dir(dir, nil).Convert(dir, []byte(strings.TrimPrefix(path[len(dir):], "/")))
}

// Files that say nothing of the kind cost nothing.
func TestAttributesWithoutConversion(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := tempDir(t)
	o.Init(dir)
	write(t, filepath.Join(dir, ".gitattributes"), "* text=auto\n*.c diff=cpp\n# filter\n*.png binary\n")
	r, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Attributes(UserConfig{}, new(Index)); a.convert("a.c") || a.convert("d/e.png") {
		t.Error("converted, though no line says so")
	}
}

// A file that cannot be read may hold any rule.
func TestAttributesUnreadable(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := tempDir(t)
	o.Init(dir)
	if err := os.MkdirAll(filepath.Join(dir, "d", ".gitattributes"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "e", ".gitattributes"), strings.Repeat("# long\n", maxAttributes/7+1))
	r, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	a := r.Attributes(UserConfig{}, new(Index))
	for path, want := range map[string]bool{"d/x": true, "d/f/x": true, "e/x": true, "x": false} {
		if a.convert(path) != want {
			t.Errorf("%s: converted is %v", path, !want)
		}
	}
}

// The names in a directory save the look for its attribute file, unless a file system may take one of them
// for it.
func TestAttributesOfListedNames(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := tempDir(t)
	o.Init(dir)
	write(t, filepath.Join(dir, "d", ".gitattributes"), "* filter=f\n")
	r, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	for names, looked := range map[string]bool{
		"x": false, ".gitattribute": false, "gitattributes x": false, "": false,
		".gitattributes x": true, "x .GitAttributes": true, "x .gitattr\u200cibutes": true, "\xff": true,
	} {
		list := make([][]byte, 0, 2)
		for name := range strings.FieldsSeq(names) {
			list = append(list, []byte(name))
		}
		if got := r.Attributes(UserConfig{}, new(Index)).Dir("d", list).Convert("d", []byte("x")); got != looked {
			t.Errorf("%q: converted is %v", names, got)
		}
	}
}
