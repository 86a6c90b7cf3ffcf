package copies

import "strings"

// branchPrefix begins the name of the branch of a fork that names none.
const branchPrefix = "cairn/"

// branchName is the branch of a fork that names none, after its directory. What git allows in no branch becomes a
// hyphen, by the rules of git help check-ref-format.
func branchName(dir string) string {
	name := strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) {
			return '-'
		}
		return r
	}, dir)
	name = strings.NewReplacer("..", "-", "@{", "-").Replace(name)
	if rest, found := strings.CutPrefix(name, "."); found {
		name = "-" + rest
	}
	if rest, found := strings.CutSuffix(name, "."); found {
		name = rest + "-"
	}
	if rest, found := strings.CutSuffix(name, ".lock"); found {
		name = rest + "-lock"
	}
	return branchPrefix + name
}
