package ignore

import (
	_ "embed"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

//go:embed testdata/realistic.gitignore
var realistic string

// generator makes up rule files and paths that they may match.
type generator struct {
	*rand.Rand
	line  func() string   // one line of a rule file
	words []string        // parts of names
	known map[string]bool // paths made so far, and whether they are directories

	needed map[string]bool // parents of the directories among them
}

func newHard(seed uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), words: hardWords}
	g.line = g.hardLine
	return g
}

func newRealistic(seed uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 2)), words: realWords}
	lines := strings.Split(strings.TrimSpace(realistic), "\n")
	g.line = func() string { return g.vary(g.pick(lines)) }
	return g
}

func (g *generator) pick(list []string) string { return list[g.IntN(len(list))] }
func (g *generator) percent(n int) bool        { return g.IntN(100) < n }

var hardTokens = []string{
	"a", "a", "b", "b", "c", "A", "B", ".", "-", "]", "_", " ", "!", "#", "^", ":", "\t", "\r", "\x00", "\x01", "\u00e4", "\xff", "\xc3",
	"*", "*", "*", "**", "**", "***", "?", "?", "/", "/", "/", "/", "**/", "**/", "/**", "/**/", "/**/", "/*/", "/***/", "//",
	`\`, `\\`, `\/`, `\*`, `\?`, `\[`, `\]`, `\a`, `\A`, `\!`, `\#`, `\ `, `**\/`, `\/**`, `/**\/`,
	"[ab]", "[!a]", "[^b]", "[a-c]", "[A-C]", "[!a-b]", "[]a]", "[!]a]", "[^]]", "[]-a]", "[a-]", "[-a]", "[--0]", "[b-a]", "[a-b-c]", "[/]", "[a/b]", "[.-0]",
	`[\]]`, `[a\-c]`, `[\a-\c]`, `[\\]`, "[[]", "[*?]", "[ ]", "[!!]", "[\x80-\xff]", "[\u00e4]", "[Z-a]", "[B]", "[!B]",
	"[[:alpha:]]", "[[:upper:]]", "[[:lower:]a]", "[![:digit:]]", "[[:space:]]", "[[:punct:]]", "[[:alnum:]-z]", "[a-[:alpha:]]", "[[:foo:]]", "[[:alpha]", "[[:]", "[[::]]", "[:alpha:]",
	"[", "[a", "[!", "[a-", "[[:alpha:", "[[:alpha:]", `[\`,
}

var starTokens = []string{"a", "a", "a", "b", "b", "*", "*", "?", "[ab]", "/", "/**/"}

var hardWords = []string{
	"a", "a", "a", "b", "b", "c", "A", "B", "C", ".", "-", "]", "[", "_", " ", "!", "#", "^", ":", "*", "?", `\`, "\t", "\r", "\n", "\x01", "\u00e4", "\xff", "\xc3", "z", "0",
}

var realWords = []string{
	"src", "lib", "main", "test", "docs", "build", "dist", "Build", "target", "vendor", "node_modules", "data", "tmp", "temp", "keep", "cache",
	".env", ".log", ".js", ".min.js", ".o", ".so", ".py", ".pyc", ".txt", ".csv", ".pdf", ".json", ".md", ".key", ".bak", ".swp", "~", ".1", ".map",
	"README", "config", "secret", "report", "debug", "Debug", "bin", "obj", "core", "app", "packages", "assets", "generated", "fixtures", "figures", "-", "_", ".",
}

func (g *generator) hardLine() string {
	var b strings.Builder
	if g.percent(25) {
		b.WriteByte('!')
	}
	tokens, most := hardTokens, 6
	if g.percent(25) { // few letters and many stars, where parts overlap
		tokens, most = starTokens, 10
	}
	for range 1 + g.IntN(most) {
		b.WriteString(g.pick(tokens))
	}
	if g.percent(15) {
		b.WriteByte('/')
	}
	if g.percent(15) {
		b.WriteString(g.pick([]string{" ", "  ", `\ `, `\  `, "\r", " \r", "\t", "\r "}))
	}
	return b.String()
}

// vary changes a realistic line a little now and then.
func (g *generator) vary(line string) string {
	switch g.IntN(16) {
	case 0:
		return "!" + strings.TrimPrefix(line, "!")
	case 1:
		return strings.TrimPrefix(line, "/")
	case 2:
		return strings.TrimSuffix(line, "/")
	case 3:
		return line + "/"
	case 4:
		return "/" + line
	case 5:
		return "**/" + strings.TrimPrefix(line, "/")
	case 6:
		return line + "\r"
	case 7:
		return strings.ToUpper(line)
	case 8:
		return g.pick(realWords) + g.pick([]string{"", "*", "/", "/*", "/**", "*/*", "/**/*"}) + g.pick(realWords)
	}
	return line
}

// file returns a rule file without lines that the installed git misreads, and adds
// its lines to those that names are derived from.
func (g *generator) file(lines int, all *[]string) string {
	var b strings.Builder
	if g.percent(4) {
		b.WriteString(byteOrderMark)
	}
	for range lines {
		line := g.line()
		if gitMisreads(line) || strings.Contains(line, "\n") {
			continue
		}
		*all = append(*all, line)
		b.WriteString(line)
		b.WriteByte('\n')
	}
	text := b.String()
	if g.percent(20) {
		text = strings.TrimSuffix(text, "\n")
	}
	return text
}

// world makes a world of many directories with rules of their own below the top, and
// paths in them.
func (g *generator) world(cases, perCase int, fold bool) (*world, []string) {
	w := &world{fold: fold, rules: map[string]string{}}
	g.known, g.needed = map[string]bool{}, map[string]bool{}
	var shared []string
	w.exclude = g.file(g.IntN(6), &shared)
	w.excludesFile = g.file(g.IntN(6), &shared)
	// The cases themselves must not be ignored, or there was nothing to see in them.
	w.rules[""] = g.file(g.IntN(4), &shared) + "\n!/case*/\n"
	for i := range cases {
		g.one(w, "case"+strconv.Itoa(i), perCase, shared)
	}
	var paths []string
	for path, dir := range g.known {
		if dir || g.needed[path] {
			path += "/"
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return w, paths
}

// one makes up one case: rules in a directory, in some directories below, and paths.
func (g *generator) one(w *world, top string, paths int, lines []string) {
	w.rules[top] = g.file(1+g.IntN(12), &lines)
	dirs := []string{top, top}
	for range g.IntN(4) {
		dir, ok := clean(g.pick(dirs) + "/" + g.path(lines))
		if !ok || strings.Count(dir, "/") > 6 {
			continue
		}
		dirs = append(dirs, dir)
		w.rules[dir] = g.file(1+g.IntN(4), &lines)
		g.learn(dir, true)
	}
	for range paths {
		if path, ok := clean(g.pick(dirs) + "/" + g.path(lines)); ok {
			g.learn(path, g.percent(20))
		}
	}
}

// learn notes a path. One that was a file becomes a directory when it has to exist as
// the parent of one; the parents of files need not exist.
func (g *generator) learn(path string, dir bool) {
	g.known[path] = g.known[path] || dir
	if !dir {
		return
	}
	for i := range len(path) {
		if path[i] == '/' {
			g.needed[path[:i]] = true
		}
	}
}

// path makes up a path: one that a line may match, or some words.
func (g *generator) path(lines []string) string {
	var path string
	if len(lines) > 0 && g.percent(70) {
		path = g.instance(g.pick(lines))
	} else {
		path = g.name()
		for range g.IntN(3) {
			path += "/" + g.name()
		}
	}
	switch g.IntN(20) {
	case 0:
		path = g.name() + "/" + path
	case 1:
		path += "/" + g.name()
	case 2:
		path += g.pick(g.words)
	case 3:
		path = path[:len(path)-min(1, len(path))]
	case 4:
		path = strings.ToUpper(path)
	case 5:
		path = strings.ToLower(path)
	}
	return path
}

func (g *generator) name() string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(g.pick(g.words))
	}
	return b.String()
}

// instance makes up a path that a line, roughly understood, may match.
func (g *generator) instance(line string) string {
	var b strings.Builder
	line = strings.Trim(line, "!/")
	for i := 0; i < len(line); i++ {
		switch ch := line[i]; ch {
		case '*':
			for range g.IntN(3) {
				b.WriteString(g.pick(g.words))
				if i > 0 && line[i-1] == '*' && g.percent(70) {
					b.WriteByte('/')
				}
			}
		case '?':
			b.WriteString(g.pick(g.words)[:1])
		case '[':
			end := strings.IndexByte(line[min(i+2, len(line)):], ']')
			if end < 0 || g.percent(10) {
				b.WriteByte('[')
				continue
			}
			if g.percent(50) {
				b.WriteByte(line[i+1+g.IntN(end+1)])
			} else {
				b.WriteString(g.pick(g.words)[:1])
			}
			i += end + 2
		case '\\':
			if i++; i < len(line) {
				b.WriteByte(line[i])
			}
		default:
			b.WriteByte(ch)
		}
	}
	return b.String()
}

// clean makes a valid path of one that was made up, if that is possible.
func clean(path string) (string, bool) {
	var parts []string
	for part := range strings.SplitSeq(strings.ReplaceAll(path, "\x00", ""), "/") {
		if part == "" || part == "." || part == ".." {
			continue
		}
		if lower := strings.ToLower(part); lower == ".git" || lower == ".gitignore" || len(part) > 200 {
			return "", false
		}
		parts = append(parts, part)
	}
	path = strings.Join(parts, "/")
	return path, len(parts) > 1 && len(path) < 1000
}
