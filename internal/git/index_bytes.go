package git

import "fmt"

// ParseIndex is ReadIndex for the contents of an index file of a SHA-1 repository. shared returns the
// contents of a shared index by its name. Checksums are not verified. The contents must not change
// afterwards.
func ParseIndex(data []byte, shared func(name string) []byte) (*Index, error) {
	const idSize = 20
	parse := func(data []byte) (*indexFile, error) {
		if len(data) < indexHeader+idSize {
			return nil, fmt.Errorf("%w: too short", errIndex)
		}
		return parseIndexFile(data, idSize)
	}
	f, err := parse(data)
	if err != nil {
		return nil, err
	}
	return f.index(func(name string) (*indexFile, error) { return parse(shared(name)) })
}
