package secretrules

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkFind looks at the files of this module, or of CAIRN_SECRETS_CORPUS.
func BenchmarkFind(b *testing.B) {
	root := os.Getenv("CAIRN_SECRETS_CORPUS")
	if root == "" {
		root = filepath.Join("..", "..")
	}
	var files [][]byte
	var names []string
	size := int64(0)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if err != nil || !d.Type().IsRegular() || size > 200<<20 {
			return err
		}
		data, err := os.ReadFile(path)
		files, names, size = append(files, data), append(names, path), size+int64(len(data))
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	rules, err := Own()
	if err != nil {
		b.Fatal(err)
	}
	for _, part := range []string{"words", "all"} {
		b.Run(part, func(b *testing.B) {
			b.SetBytes(size)
			found := 0
			for b.Loop() {
				found = 0
				for i, data := range files {
					if part == "words" {
						if !isBinary(data) {
							rules.words.each(data, func(int, int) { found++ })
						}
					} else {
						found += len(rules.Find(names[i], data))
					}
				}
			}
			b.ReportMetric(float64(found), "found")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/byte")
		})
	}
}

// BenchmarkOwn is what the first new content of a process costs beside the search.
func BenchmarkOwn(b *testing.B) {
	for b.Loop() {
		f := &ruleFile{Rules: ownRules, Allowlists: ownAllowlists, trusted: true}
		if _, err := f.compile(); err != nil {
			b.Fatal(err)
		}
	}
}
