package main

// smallTree is the synthetic tree with all files cut to smallFile bytes: what a curve
// tells does not depend on sizes, and 500,000 files have room in the page cache.
type smallTree struct{ synthetic }

const smallFile = 1000

func newSmallTree(files int) smallTree { return smallTree{newSynthetic(files, 0)} }

func (s smallTree) plan() (dirs []string, files []madeFile) {
	dirs, files = s.synthetic.plan()
	for i := range files {
		files[i].size = min(files[i].size, smallFile)
	}
	return dirs, files
}

func (s smallTree) fill(dir string) error {
	dirs, files := s.plan()
	return fillWith(dir, dirs, files)
}

// texts lists the files that can be edited.
func (s smallTree) texts() (paths []string) {
	_, files := s.plan()
	for _, f := range files {
		if f.kind == madeText {
			paths = append(paths, f.path)
		}
	}
	return paths
}
