package trees

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// Synthetic is a made-up source tree of a given number of files, the same on every
// machine. Sizes, files per directory and depths are modelled on the source of
// Linux 6.1, contents compress about as source text does. It has what a real tree
// has besides: binary files, empty ones, executable ones, symlinks, .gitignore
// files in several directories and files that they match.
type Synthetic struct {
	files, dirs int
	Shrink      int // sizes of files are divided by this
}

// filesPerDir is that of Linux 6.1, where 78,579 files lie in 5,096 directories.
const filesPerDir = 15

// NewSynthetic returns a tree that is not on disk yet. Without a number of directories it has that of Linux.
func NewSynthetic(files, dirs int) Synthetic {
	if dirs <= 0 {
		dirs = max(1, files/filesPerDir)
	}
	return Synthetic{files, dirs, 1}
}

// Name is the name for people.
func (s Synthetic) Name() string {
	if s.Shrink > 1 {
		return fmt.Sprintf("synthetic, %d files of 1/%d of the size", s.files, s.Shrink)
	}
	return fmt.Sprintf("synthetic, %d files", s.files)
}

// meanSize is that of files by sizeQuantiles.
const meanSize = 15_800

// Size is an estimate, with half a block lost at the end of each file.
func (s Synthetic) Size() (TreeSize, error) {
	bytes := int64(s.files) * meanSize / int64(s.Shrink)
	return TreeSize{Files: s.files, Dirs: s.dirs, Bytes: bytes, Allocated: bytes + int64(s.files)*2300 + int64(s.dirs)<<12}, nil
}

// madeFile is one file of the plan; its content follows from size, kind and seed.
type madeFile struct {
	path string // '/'-separated
	kind madeKind
	size int
	seed random
	link string // target of a symlink
}

type madeKind int

const (
	madeText madeKind = iota
	madeExecutable
	madeBinary
	madeSymlink
	madeIgnoreFile
)

// Fill makes the tree in dir, in as many goroutines as there are processors.
func (s Synthetic) Fill(dir string) error {
	dirs, files := s.plan()
	for i := range files {
		files[i].size /= s.Shrink
	}
	return fillWith(dir, dirs, files)
}

func fillWith(dir string, dirs []string, files []madeFile) error {
	for _, d := range dirs {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(d)), 0o755); err != nil {
			return err
		}
	}
	return system.InParallel(len(files), func(i int) error { return files[i].write(dir, i) })
}

// plan decides on names, kinds and sizes. Symlinks are left out on Windows, where
// making one needs a privilege.
func (s Synthetic) plan() (dirs []string, files []madeFile) {
	rnd := random(1)
	dirs = s.planDirs(&rnd)
	for i, d := range dirs {
		if i%16 == 0 {
			files = append(files, madeFile{path: path.Join(d, ".gitignore"), kind: madeIgnoreFile})
		}
	}
	for i := len(files); i < s.files; i++ {
		files = append(files, planFile(&rnd, i, dirs[rnd.early(len(dirs))]))
	}
	if runtime.GOOS != "windows" && len(files) > 1 {
		for i := 500; i < len(files); i += 500 {
			to := path.Base(files[i-1].path)
			files[i] = madeFile{path: path.Join(path.Dir(files[i-1].path), "link-to-"+to), kind: madeSymlink, link: to}
		}
	}
	return dirs, files
}

// planDirs makes a tree of directories up to 9 deep, most of them 3 to 5.
func (s Synthetic) planDirs(rnd *random) []string {
	dirs := []string{""}
	for i := 1; len(dirs) < s.dirs; i++ {
		parent := dirs[rnd.early(len(dirs))]
		if strings.Count(parent, "/") >= 8 {
			continue
		}
		dirs = append(dirs, path.Join(parent, fmt.Sprintf("%s%d", word(rnd), i)))
	}
	return dirs
}

func planFile(rnd *random, i int, dir string) madeFile {
	f := madeFile{seed: random(rnd.next()), size: likelySize(rnd)}
	suffix := suffixes[rnd.early(len(suffixes))]
	switch {
	case rnd.oneIn(64):
		f.kind, suffix = madeBinary, ".png"
	case rnd.oneIn(64):
		f.kind, suffix = madeExecutable, ".sh"
	case rnd.oneIn(40):
		f.kind, suffix = madeBinary, ".o" // ignored
	case rnd.oneIn(200):
		suffix = " ü.txt"
	}
	f.path = path.Join(dir, fmt.Sprintf("%s_%s%d%s", word(rnd), word(rnd), i, suffix))
	return f
}

// suffixes come with falling frequency.
var suffixes = []string{".c", ".h", ".go", ".ts", ".py", ".md", ".json", ".rst", ".yaml", "", ".txt", ".css"}

// sizeQuantiles are the sizes of Linux 6.1: a file is smaller than the n-th with a
// probability of n in 16.
var sizeQuantiles = [17]int{0, 330, 640, 1050, 1500, 2050, 2750, 3500, 4400, 5600, 7100, 9200, 12400, 17500, 27500, 52000, 300000}

func likelySize(rnd *random) int {
	i := rnd.below(len(sizeQuantiles) - 1)
	low, high := sizeQuantiles[i], sizeQuantiles[i+1]
	return low + min(rnd.below(high-low), rnd.below(high-low))
}

// write makes the file with a date long past, as in a tree that was checked out
// some time ago.
func (f *madeFile) write(dir string, i int) error {
	name := filepath.Join(dir, filepath.FromSlash(f.path))
	mode := os.FileMode(0o644)
	switch f.kind {
	case madeSymlink:
		return os.Symlink(f.link, name)
	case madeExecutable:
		mode = 0o755
	}
	if err := os.WriteFile(name, f.content(), mode); err != nil {
		return err
	}
	date := time.Unix(1_700_000_000+int64(i), 0)
	return os.Chtimes(name, date, date)
}

func (f *madeFile) content() []byte {
	rnd := f.seed
	switch f.kind {
	case madeIgnoreFile:
		return []byte("# made by the build\n*.o\n*.log\n/build/\nnode_modules/\n*.tmp\n!important.tmp\n")
	case madeBinary:
		data := make([]byte, 0, f.size+8)
		for len(data) < f.size {
			x := rnd.next()
			data = append(data, 0, byte(x), byte(x>>8), byte(x>>16), byte(x>>24), byte(x>>32), byte(x>>40), byte(x>>48))
		}
		return data[:f.size]
	}
	var text bytes.Buffer
	for text.Len() < f.size {
		if at := rnd.below(text.Len() + 1); rnd.oneIn(3) && at > 0 {
			text.Write(text.Bytes()[at:min(at+rnd.below(120), text.Len())]) // code repeats itself
		} else {
			writeLine(&text, &rnd)
		}
	}
	text.Truncate(f.size)
	return text.Bytes()
}

// writeLine writes a line that looks like code: indentation, words from a small
// stock, punctuation, now and then a number.
func writeLine(text *bytes.Buffer, rnd *random) {
	for range rnd.early(4) {
		text.WriteByte('\t')
	}
	for range 1 + rnd.below(9) {
		text.WriteString(word(rnd))
		if rnd.oneIn(8) {
			fmt.Fprintf(text, "%d", rnd.below(1000))
		}
		text.WriteString(joints[rnd.early(len(joints))])
	}
	text.WriteString(";\n")
}

var joints = []string{" ", ", ", "(", ") ", " = ", "->", "_", ".", " == ", " { ", "[i] ", " // "}

// word picks from some 700 words, the first ones most often.
func word(rnd *random) string {
	i := rnd.early(rnd.early(len(words)*len(words)) + 1)
	if i < len(words) {
		return words[i]
	}
	return words[i/len(words)] + "_" + words[i%len(words)]
}

var words = []string{
	"get", "if", "return", "int", "struct", "dev", "data", "size", "err", "list", "node", "file", "init", "reg",
	"lock", "page", "name", "set", "buf", "state", "mode", "index", "clock", "queue", "flags", "map",
}
