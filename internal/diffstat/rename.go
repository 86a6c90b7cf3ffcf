package diffstat

import "github.com/seed-fb9cbc17/cairn/internal/pathtext"

// renameText shows a rename on one line, as git diff --stat does: what both paths have in common at
// their ends stands outside of braces.
func renameText(from, to string) string {
	if pathtext.Quote(from) != from || pathtext.Quote(to) != to {
		return pathtext.Quote(from) + " => " + pathtext.Quote(to)
	}
	head := 0
	for i := 0; i < min(len(from), len(to)) && from[i] == to[i]; i++ {
		if from[i] == '/' {
			head = i + 1
		}
	}
	tail, shared := 0, max(0, head-1) // the slash before may end the head and begin the tail
	for n := 1; n <= min(len(from), len(to))-shared && from[len(from)-n] == to[len(to)-n]; n++ {
		if from[len(from)-n] == '/' {
			tail = n
		}
	}
	middle := func(path string) string { return path[head:max(head, len(path)-tail)] }
	text := middle(from) + " => " + middle(to)
	if head+tail == 0 {
		return text
	}
	return from[:head] + "{" + text + "}" + from[len(from)-tail:]
}
