package ignore

import (
	"fmt"
	"strings"
	"testing"
)

// treePaths are what a scan of a project asks about.
var treePaths = []string{
	"README.md", "main.go", "go.mod", "Makefile", "src/main/java/com/example/app/Application.java",
	"src/components/button/Button.tsx", "src/components/button/Button.test.tsx", "drivers/net/ethernet/intel/e1000/e1000_main.c",
	"include/linux/netdevice.h", "internal/worktree/scan_dir.go", "docs/guide/getting-started.md", "test/fixtures/basic/input.txt",
	"packages/core/src/index.ts", "assets/images/logo.png", "scripts/release.sh", "arch/x86/kernel/cpu/common.c",
	"lib/python/site.py", "public/index.html", "config/settings.json", "third_party/zlib/inflate.c",
}

func hundredLines() string {
	var text []string
	for line := range lines(realistic) {
		text = append(text, line)
	}
	return strings.Join(text[:100], "\n")
}

func BenchmarkIgnored(b *testing.B) {
	for _, fold := range []bool{false, true} {
		top := NewChain(Parse([]byte("*~\n.DS_Store\n"), fold)).Enter("", Parse([]byte(hundredLines()), fold))
		nested := top.Enter("src", Parse([]byte("*.gen.go\n/out/\n"), fold))
		b.Run(fmt.Sprintf("top/fold=%v", fold), func(b *testing.B) { benchmarkPaths(b, top, treePaths) })
		b.Run(fmt.Sprintf("nested/fold=%v", fold), func(b *testing.B) { benchmarkPaths(b, nested, treePaths) })
	}
}

func benchmarkPaths(b *testing.B, c *Chain, paths []string) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Ignored(paths[i%len(paths)], false)
	}
}

// BenchmarkIgnoredAll is the whole realistic file, BenchmarkLiterals one of the kind
// that tools write.
func BenchmarkIgnoredAll(b *testing.B) {
	benchmarkPaths(b, NewChain(Parse([]byte(realistic), false)), treePaths)
}

func BenchmarkLiterals(b *testing.B) {
	var text strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&text, "/gen/file%d.go\nfile%d.txt\n", i, i)
	}
	benchmarkPaths(b, NewChain(Parse([]byte(text.String()), false)), treePaths)
}

func BenchmarkCovers(b *testing.B) {
	c := NewChain(Parse([]byte("*~\n"), false)).Enter("", Parse([]byte(hundredLines()), false))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Covers(treePaths[i%len(treePaths)], false)
	}
}

func BenchmarkParse(b *testing.B) {
	text := []byte(hundredLines())
	b.ReportAllocs()
	for b.Loop() {
		Parse(text, false)
	}
}

// BenchmarkLongName is the pattern that makes a careless matcher exponential.
func BenchmarkLongName(b *testing.B) {
	c := NewChain(Parse([]byte(strings.Repeat("a*", 20)+"b"), false))
	benchmarkPaths(b, c, []string{strings.Repeat("a", 255)})
}

func TestNoAllocations(t *testing.T) {
	for _, fold := range []bool{false, true} {
		p := Parse([]byte(realistic), fold)
		c := NewChain(p).Enter("src", p)
		n := testing.AllocsPerRun(10, func() {
			for _, path := range treePaths {
				p.Match(path, false)
				c.Ignored(path, true)
				c.Covers(path, false)
			}
		})
		if n != 0 {
			t.Errorf("fold %v: %v allocations", fold, n)
		}
	}
}
