package atomicfile

import "os"

// CreateWith is Create for a file that holds data.
func CreateWith(dir, prefix string, data []byte) (*os.File, error) {
	f, err := Create(dir, prefix)
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(data); err != nil {
		Discard(f)
		return nil, err
	}
	return f, nil
}

// Discard closes a temporary file, if there is one, and removes it if it still has its
// name.
func Discard(f *os.File) {
	if f != nil {
		f.Close()
		os.Remove(f.Name())
	}
}
