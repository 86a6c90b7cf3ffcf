package known

import "bytes"

// maxBrackets bounds how many objects and arrays a file of settings has.
const maxBrackets = 10_000

// TooDeep reports whether a JSON file of settings may be too deep to be parsed. The parsers of JSON with comments
// call themselves for each level, and the settings of a project may come with its repository.
func TooDeep(data []byte) bool {
	return bytes.Count(data, []byte{'['})+bytes.Count(data, []byte{'{'}) > maxBrackets
}
