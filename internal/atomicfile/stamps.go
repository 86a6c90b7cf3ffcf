package atomicfile

// Fine tells what of a file system gets a time of its own with the next change after it was
// looked at.
type Fine struct{ Files, Dirs bool }
