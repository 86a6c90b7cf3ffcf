package atomicfile

import "os"

// Read is os.ReadFile.
func Read(path string) ([]byte, error) { return os.ReadFile(path) }
