package trees

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// Shape is a tree that is large in one way.
type Shape struct {
	Name     string
	Units    int64    // how large it is: files, directories or bytes
	Smallest int64    // units that -files 1 stands for
	Options  []string // of the program
	Fill     func(dir string, units int64) error
	Edit     func(dir string) error // changes one file, after Fill
}

// Shapes are those of issue and documents, the quick ones first.
func Shapes() []Shape {
	return []Shape{
		{Name: "10,000 directories deep", Units: 10_000, Smallest: 1, Fill: fillDeep, Edit: editTop},
		{Name: "10,000 directories wide", Units: 10_000, Smallest: 1, Fill: fillWide, Edit: editTop},
		{Name: "100,000 files in one directory", Units: 100_000, Smallest: 1, Fill: fillFlat, Edit: editTop},
		{Name: "1 GB of ignored files", Units: IgnoredBytes, Smallest: PackageFiles * PackageFileSize, Fill: fillIgnored, Edit: editTop},
		{Name: "a file of 2 GB", Units: 2 << 30, Smallest: 1 << 20, Options: []string{"--max-file-size", "3G"}, Fill: fillOne, Edit: editOne},
		{Name: "1,000,000 small files", Units: 1_000_000 - 1, Smallest: 1, Fill: fillSmall, Edit: editTop},
	}
}

// topFile is edited where the shape is not about the contents of a file.
const topFile = "edited.txt"

func editTop(dir string) error {
	return os.WriteFile(filepath.Join(dir, topFile), []byte("an edit\n"), 0o644)
}

func makeTop(dir string) error {
	return os.WriteFile(filepath.Join(dir, topFile), []byte("to be edited\n"), 0o644)
}

// fillDeep makes one directory in the other, beyond what a path can name.
func fillDeep(dir string, units int64) error {
	at, err := os.OpenRoot(dir)
	for range units {
		if err != nil {
			return err
		}
		var next *os.Root
		if err = at.Mkdir("d", 0o755); err == nil {
			next, err = at.OpenRoot("d")
		}
		err = errors.Join(err, at.Close())
		at = next
	}
	if err == nil {
		err = errors.Join(at.WriteFile("deepest.txt", []byte("deepest\n"), 0o644), at.Close())
	}
	return errors.Join(err, makeTop(dir))
}

func fillWide(dir string, units int64) error {
	err := system.InParallel(int(units), func(i int) error {
		sub := filepath.Join(dir, fmt.Sprintf("dir%d", i))
		return errors.Join(os.Mkdir(sub, 0o755), os.WriteFile(filepath.Join(sub, "file.txt"), fmt.Appendf(nil, "file %d\n", i), 0o644))
	})
	return errors.Join(err, makeTop(dir))
}

func fillFlat(dir string, units int64) error {
	err := system.InParallel(int(units), func(i int) error {
		return os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.txt", i)), fmt.Appendf(nil, "file %d\n", i), 0o644)
	})
	return errors.Join(err, makeTop(dir))
}

func fillSmall(dir string, units int64) error {
	return errors.Join(NewSmallTree(int(units)).Fill(dir), makeTop(dir))
}

// fillIgnored keeps a thousand files beside the ignored ones.
func fillIgnored(dir string, units int64) error {
	d := NewDependencies(1000, 0)
	d.Packages = int(units / (PackageFiles * PackageFileSize))
	return errors.Join(d.Fill(dir), makeTop(dir))
}

const oneFile = "large.txt"

// fillOne makes a file of lines that compress by a quarter.
func fillOne(dir string, units int64) (err error) {
	f, err := os.Create(filepath.Join(dir, oneFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out, rnd := bufio.NewWriterSize(f, 1<<20), rand.NewPCG(1, 2)
	const line = 64
	var text [line]byte
	for ; units > 0; units -= line {
		for i := 0; i < line; i += 8 {
			for j, n := 0, rnd.Uint64(); j < 8; j, n = j+1, n>>8 {
				text[i+j] = 'A' + byte(n&63)
			}
		}
		text[line-1] = '\n'
		if _, err := out.Write(text[:min(line, units)]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// editOne changes a line in the middle.
func editOne(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, oneFile), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.WriteAt([]byte("an edit\n"), info.Size()/2)
	}
	return errors.Join(err, f.Close())
}
