package trees

// SmallTree is the synthetic tree with all files cut to SmallFile bytes: what a curve
// tells does not depend on sizes, and 500,000 files have room in the page cache.
type SmallTree struct{ Synthetic }

// SmallFile is the size of a file in bytes.
const SmallFile = 1000

// NewSmallTree returns a tree that is not on disk yet.
func NewSmallTree(files int) SmallTree { return SmallTree{NewSynthetic(files, 0)} }

func (s SmallTree) plan() (dirs []string, files []madeFile) {
	dirs, files = s.Synthetic.plan()
	for i := range files {
		files[i].size = min(files[i].size, SmallFile)
	}
	return dirs, files
}

// Fill makes the tree in dir.
func (s SmallTree) Fill(dir string) error {
	dirs, files := s.plan()
	return fillWith(dir, dirs, files)
}

// Texts lists the files that can be edited.
func (s SmallTree) Texts() (paths []string) {
	_, files := s.plan()
	for _, f := range files {
		if f.kind == madeText {
			paths = append(paths, f.path)
		}
	}
	return paths
}
