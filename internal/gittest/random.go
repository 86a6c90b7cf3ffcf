package gittest

import (
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
)

// RandomOptions shapes a RandomTree. The zero value makes about forty files with
// everything that git can record and any directory may hold.
type RandomOptions struct {
	Files         int  // about how many; 0 means 40
	Depth         int  // of directories; 0 means 4
	NoIgnoreFiles bool // no .gitignore
	NoLinks       bool // no symbolic links
	FIFOs         bool // some named pipes, which git passes over
	ModeBits      bool // permission bits other than 644 and 755
	DotGit        bool // names that git refuses: the ways to spell .git
	// GluedStars allows ignore patterns in which "**" touches something other than
	// a slash, such as foo**/bar. git before 2.52 reads those wrongly.
	GluedStars bool
}

// RandomTree makes up a tree: names that break careless programs, contents that
// attributes and line end conversion would change, links that lead nowhere, in
// circles or outside, empty directories, and ignore files that match some of it.
// The same numbers from rng give the same tree. Links never lead to anything that
// exists outside of the temporary directory of the test.
func RandomTree(rng *rand.Rand, opts RandomOptions) Tree {
	if opts.Files == 0 {
		opts.Files = 40
	}
	if opts.Depth == 0 {
		opts.Depth = 4
	}
	r := randomTree{rng: rng, opts: opts, tree: Tree{}, taken: map[string]bool{}, dirs: []string{""}}
	for range opts.Files {
		r.add()
	}
	if !opts.NoIgnoreFiles {
		r.addIgnoreFiles()
	}
	return r.tree
}

type randomTree struct {
	rng   *rand.Rand
	opts  RandomOptions
	tree  Tree
	taken map[string]bool // paths in use, folded where the file system may fold
	dirs  []string        // in which something may be put
}

// add puts one node, or a few that belong together, somewhere.
func (r *randomTree) add() {
	dir := pick(r.rng, r.dirs)
	switch n := r.rng.IntN(100); {
	case n < 20 && strings.Count(dir, "/") < r.opts.Depth-1:
		if path, ok := r.free(dir, r.name()); ok {
			r.dirs = append(r.dirs, path)
			if r.rng.IntN(4) == 0 {
				r.tree[path] = Dir() // may stay empty
			}
			r.put(path, r.name(), r.file())
		}
	case n < 28 && !r.opts.NoLinks:
		name := r.name()
		r.put(dir, name, Link(r.target(name)))
	case n < 31:
		r.put(dir, r.name(), Dir())
	case n < 34 && r.opts.FIFOs:
		r.put(dir, r.name(), FIFO())
	case n < 40:
		r.addNeighbours(dir)
	case n < 43:
		r.put(dir, ".gitattributes", File(randomAttributes(r.rng)))
	default:
		r.put(dir, r.name(), r.file())
	}
}

// addNeighbours adds names that sort differently as files and as directories.
func (r *randomTree) addNeighbours(dir string) {
	base := pick(r.rng, []string{"a", "foo", "z"})
	for _, suffix := range []string{"", ".b", "-b", "0", "!", " "} {
		if r.rng.IntN(2) == 0 {
			r.put(dir, base+suffix, r.file())
		} else if path, ok := r.free(dir, base+suffix); ok && strings.Count(path, "/") < r.opts.Depth {
			r.put(path, "b", r.file())
			r.dirs = append(r.dirs, path)
		}
	}
}

// free reserves a path that is not in use.
func (r *randomTree) free(dir, name string) (path string, ok bool) {
	path = join(dir, name)
	if r.taken[foldPath(path)] || !portable(name) {
		return "", false
	}
	r.taken[foldPath(path)] = true
	return path, true
}

func (r *randomTree) put(dir, name string, n Node) {
	if path, ok := r.free(dir, name); ok {
		r.tree[path] = n
	}
}

func (r *randomTree) file() Node {
	content := randomContent(r.rng)
	switch n := r.rng.IntN(20); {
	case n < 4:
		return Exec(content)
	case n < 8 && r.opts.ModeBits:
		return FileMode(content, pick(r.rng, []uint32{0o600, 0o640, 0o664, 0o700, 0o711, 0o444, 0o555, 0o777}))
	}
	return File(content)
}

func (r *randomTree) name() string {
	if r.opts.DotGit && r.rng.IntN(10) == 0 {
		return pick(r.rng, dotGitNames)
	}
	return randomName(r.rng)
}

// target is what a link of this name points to.
func (r *randomTree) target(name string) string {
	if n := len(r.tree); n > 0 && r.rng.IntN(3) == 0 {
		return pick(r.rng, slices.Sorted(maps.Keys(r.tree)))
	}
	return pick(r.rng, []string{
		name, "nowhere", ".", "..", "../../outside", "/nonexistent/outside", "a", "a/b/c",
		"b\xff\nc", " ", strings.Repeat("long/", 60),
	})
}

// addIgnoreFiles puts ignore files into about a third of the directories.
func (r *randomTree) addIgnoreFiles() {
	paths := slices.Sorted(maps.Keys(r.tree))
	for i, dir := range r.dirs {
		if i == 0 && r.rng.IntN(4) > 0 || r.rng.IntN(3) == 0 {
			r.put(dir, ".gitignore", File(RandomIgnoreFile(r.rng, paths, r.opts.GluedStars)))
		}
	}
}

// foldPath is what must differ between two paths of a tree.
func foldPath(path string) string {
	if portableNames {
		return strings.ToLower(path)
	}
	return path
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

var plainNames = []string{
	"a", "b", "c", "d", "foo", "bar", "src", "lib", "main.go", "README.md", "x.o", "y.o",
	"debug.log", "build", "node_modules", "A", "Foo", ".env", ".hidden", "a.b", "a-b", "a0",
}

// nastyNames holds what breaks careless programs; see the comments.
var nastyNames = []string{
	"new\nline", "\n", "tab\there", "car\rriage", "bell\x07", "\x01", "\x7f", // control bytes
	`quote"d`, `'`, `back\slash`, `\`, `\303\251`, // quoting
	" lead", "trail ", " ", "two  blanks", "\u00a0", // trimming
	"-dash", "--", "-rf", "-", ":colon", ":(glob)x", ":", ":!x", "@", "@{u}", "HEAD", // options, pathspecs, revisions
	"*", "*star*", "[ab]", "[", "]", "?q", "!bang", "#hash", "{a,b}", "~", "~tilde", // patterns
	"$HOME", "`id`", "$(id)", "a;b", "a&b", "a|b", "<x>", "%41", "%s%n", // shells and formats
	"\xff", "a\xffb", "\xc3", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80", // not UTF-8
	"\u00e9", "e\u0301", "日本語", "\u202egpj.exe", "\ufeffbom", // Unicode: both forms, direction, mark
	"...", "..x", ".x", "x.", "x..", "nul", "CON", "aux.txt", "lpt1", // other systems
	".gitx", ".gitkeep", "x.git", "git", "git~2", // not quite .git
}

// dotGitNames holds spellings of .git that some file system takes for it.
var dotGitNames = []string{
	".GIT", ".Git", "git~1", "GIT~1", ".git ", ".git.", ".git . .", ".g\u200cit", ".git\u200d",
	".git::$INDEX_ALLOCATION", ".git:x", "\ufeff.git",
}

// randomName makes up one path component.
func randomName(rng *rand.Rand) string {
	switch n := rng.IntN(20); {
	case n < 10:
		return pick(rng, plainNames)
	case n < 17:
		return pick(rng, nastyNames)
	case n < 18: // as long as a name may be
		return strings.Repeat(pick(rng, []string{"x", "é", "日"}), 255)[:255]
	}
	b := make([]byte, 1+rng.IntN(12))
	for i := range b {
		b[i] = byte(1 + rng.IntN(255))
		if b[i] == '/' {
			b[i] = '.'
		}
	}
	if name := string(b); strings.Trim(name, ".") != "" {
		return name
	}
	return "x"
}

// portableNames is set where the file system may fold case, normalise Unicode, or
// refuse bytes.
const portableNames = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

// portable reports whether this system takes name and gives it back as it is.
func portable(name string) bool {
	if !portableNames {
		return true
	}
	plain := func(r rune) bool { return r > ' ' && r < 0x7f && !strings.ContainsRune(`<>:"\|?*/`, r) }
	return !strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) &&
		!strings.HasSuffix(name, ".") &&
		!slices.Contains([]string{"nul", "CON", "aux.txt", "lpt1", "git~1", "GIT~1", "git~2"}, name)
}

// randomContent makes up the contents of a file.
func randomContent(rng *rand.Rand) string {
	switch rng.IntN(12) {
	case 0:
		return ""
	case 1:
		return "x"
	case 2:
		return "one\r\ntwo\r\nthree\r\n"
	case 3:
		return "one\r\ntwo\nthree\rfour"
	case 4:
		return "$Id$ $Revision$\n"
	case 5:
		return "\x00\x01\x02binary\xff\xfe"
	case 6:
		return "\xff\xfeh\x00i\x00\n\x00" // UTF-16
	case 7:
		return strings.Repeat("a long file\n", rng.IntN(6000))
	case 8:
		return "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
	}
	var b strings.Builder
	for range rng.IntN(30) {
		b.WriteString(pick(rng, []string{"alpha", "beta", "gamma", "", "\t", "  }"}) + "\n")
	}
	return b.String()
}

// randomAttributes makes up a .gitattributes that would change what git records.
func randomAttributes(rng *rand.Rand) string {
	lines := []string{
		"* text=auto", "* text eol=crlf", "* text eol=lf", "* crlf=input", "* ident", "* filter=evil",
		"* working-tree-encoding=UTF-16", "* binary", "[attr]hostile text ident filter=evil", "* hostile",
		"*.o -text", "a text", "/b export-subst", "* merge=union diff=x",
	}
	rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return strings.Join(lines[:1+rng.IntN(4)], "\n") + "\n"
}
