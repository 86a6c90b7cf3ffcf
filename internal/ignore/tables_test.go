package ignore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A case lists what the last line that matches says about paths; those that end in
// '/' are directories. A path inside an ignored directory counts as ignored.
type tableCase struct {
	name     string
	world    world
	ignored  []string
	included []string
	none     []string
}

var tables = map[string][]tableCase{
	"lines":       lineCases,
	"names":       nameCases,
	"paths":       pathCases,
	"double star": doubleStarCases,
	"classes":     classCases,
	"sources":     sourceCases,
	"fold":        foldCases,
}

var lineCases = []tableCase{
	{name: "empty file", world: rules(""), none: paths("a", "a/")},
	{name: "blank lines", world: rules("", "  ", "\r", "\t", "a"), ignored: paths("a", "\t"), none: paths(" ", "\r")},
	{name: "comment", world: rules("#a", "# b", "a#"), ignored: paths("a#"), none: paths("a", "#a", "b", "# b")},
	{name: "escaped hash", world: rules(`\#a`), ignored: paths("#a"), none: paths("a")},
	{name: "blank before hash", world: rules(" #a"), ignored: paths(" #a"), none: paths("#a")},
	{name: "negated hash", world: rules("*", "!#a"), ignored: paths("a"), included: paths("#a")},
	{name: "last line without newline", world: rules("a", "b"), ignored: paths("a", "b")},
	{name: "only newlines", world: rules("\n\n\n"), none: paths("a")},

	{name: "byte order mark", world: rules("\xef\xbb\xbfa", "b"), ignored: paths("a", "b")},
	{name: "byte order mark before a comment", world: rules("\xef\xbb\xbf#a"), none: paths("#a", "a")},
	{name: "two byte order marks", world: rules("\xef\xbb\xbf\xef\xbb\xbfa"), ignored: paths("\xef\xbb\xbfa"), none: paths("a")},
	{name: "byte order mark on the second line", world: rules("x", "\xef\xbb\xbfa"), ignored: paths("\xef\xbb\xbfa"), none: paths("a")},
	{name: "half a byte order mark", world: rules("\xef\xbba"), ignored: paths("\xef\xbba"), none: paths("a")},
	{name: "byte order mark alone", world: rules("\xef\xbb\xbf"), none: paths("a", "\xef\xbb\xbf")},

	{name: "CR LF", world: rules("a\r", "b\r", ""), ignored: paths("a", "b"), none: paths("a\r", "b\r")},
	{name: "CR at the end of the file", world: rules("a\r"), ignored: paths("a"), none: paths("a\r")},
	{name: "two CRs", world: rules("a\r\r", ""), ignored: paths("a\r"), none: paths("a", "a\r\r")},
	{name: "CR inside", world: rules("a\rb"), ignored: paths("a\rb"), none: paths("a", "b")},
	{name: "blank before CR LF", world: rules("a \r", ""), ignored: paths("a"), none: paths("a ", "a \r")},
	{name: "CR before a blank", world: rules("a\r ", ""), ignored: paths("a\r"), none: paths("a")},
	{name: "escaped CR", world: rules("a\\\r", ""), none: paths("a", "a\r", `a\`)},
	{name: "comment with CR", world: rules("#a\r", "b\r", ""), ignored: paths("b"), none: paths("#a")},
	{name: "directory with CR", world: rules("a/\r", ""), ignored: paths("a/"), none: paths("a")},

	{name: "trailing blanks", world: rules("a  "), ignored: paths("a"), none: paths("a ", "a  ")},
	{name: "trailing tab", world: rules("a\t"), ignored: paths("a\t"), none: paths("a")},
	{name: "blanks before a tab", world: rules("a \t "), ignored: paths("a \t"), none: paths("a", "a ")},
	{name: "leading blank", world: rules(" a"), ignored: paths(" a"), none: paths("a")},
	{name: "inner blank", world: rules("a b"), ignored: paths("a b"), none: paths("a", "b")},
	{name: "escaped trailing blank", world: rules(`a\ `), ignored: paths("a "), none: paths("a", `a\`, `a\ `)},
	{name: "escaped blank, then blanks", world: rules(`a\   `), ignored: paths("a "), none: paths("a", "a  ")},
	{name: "two escaped blanks", world: rules(`a\ \ `), ignored: paths("a  "), none: paths("a", "a ")},
	{name: "blank, then an escaped blank", world: rules(`a \  `), ignored: paths("a  "), none: paths("a", "a ")},
	{name: "escaped backslash, then a blank", world: rules(`a\\ `), ignored: paths(`a\`), none: paths("a", `a\ `)},
	{name: "only an escaped blank", world: rules(`\ `), ignored: paths(" "), none: paths("a")},
	{name: "blank after a directory", world: rules("a/ "), ignored: paths("a/"), none: paths("a")},
	{name: "escaped blank after a directory", world: rules(`a/\ `), ignored: paths("a/ "), none: paths("a/", "a")},

	{name: "trailing backslash", world: rules(`a\`), none: paths("a", `a\`)},
	{name: "blanks before a trailing backslash", world: rules(`a  \`), none: paths("a", "a  ", `a  \`)},
	{name: "backslash alone", world: rules(`\`), none: paths(`\`, "a")},
	{name: "escaped backslash alone", world: rules(`\\`), ignored: paths(`\`), none: paths(`\\`)},

	{name: "NUL", world: rules("a\x00b", "c"), ignored: paths("a", "c"), none: paths("b", "ab")},
	{name: "NUL first", world: rules("\x00a", "c"), ignored: paths("c"), none: paths("a")},
	{name: "blanks before NUL", world: rules("a \x00b"), ignored: paths("a"), none: paths("a ")},
	{name: "NUL before a slash", world: rules("a\x00/", "c"), ignored: paths("a", "a/"), none: paths("a\x01")},

	{name: "negation", world: rules("*.o", "!a.o"), ignored: paths("b.o"), included: paths("a.o"), none: paths("a")},
	{name: "negation without a need", world: rules("!a"), included: paths("a"), none: paths("b")},
	{name: "last line wins", world: rules("a", "!a", "a"), ignored: paths("a")},
	{name: "last line wins across kinds", world: rules("abc", "!*c", "a*", "!a?c", "/abc", "!**/abc", "?bc"), ignored: paths("abc", "ac"), included: paths("adc", "x/adc")},
	{name: "escaped negation", world: rules(`\!a`), ignored: paths("!a"), none: paths("a")},
	{name: "double negation", world: rules("*", "!!a"), ignored: paths("a"), included: paths("!a")},
	{name: "exclamation mark alone", world: rules("!", "!/", "! "), none: paths("!", "a", "a/")},
	{name: "exclamation mark inside", world: rules("a!"), ignored: paths("a!")},
	{name: "blank before negation", world: rules("*", " !a"), ignored: paths("a", " !a")},
	{name: "negated directory", world: rules("*", "!a/"), included: paths("a/"), ignored: paths("a", "a/b")},
	{name: "inside an ignored directory", world: rules("a/", "!a/b"), ignored: paths("a/b", "a/c/d")},
	{name: "everything but one file", world: rules("/*", "!/foo", "/foo/*", "!/foo/bar"),
		ignored: paths("x", "foo/x", "foo/x/y"), included: paths("foo/", "foo/bar", "foo/bar/"), none: paths("foo/bar/x")},
	{name: "everything but directories and one kind", world: rules("*", "!*/", "!*.go"),
		ignored: paths("a", "a/b", "x/y.c"), included: paths("a/", "b.go", "x/y/z.go")},
}

var nameCases = []tableCase{
	{name: "at any depth", world: rules("a"), ignored: paths("a", "x/a", "x/y/a", "a/x"), none: paths("ab", "ba", "x/b")},
	{name: "directories only", world: rules("a/"), ignored: paths("a/", "x/a/", "x/a/y"), none: paths("a", "x/a.")},
	{name: "two trailing slashes", world: rules("a//"), none: paths("a", "a/")},
	{name: "star", world: rules("*"), ignored: paths("a", ".a", "a/b")},
	{name: "star for directories", world: rules("*/"), ignored: paths("a/", "a/b"), none: paths("a")},
	{name: "star matches nothing", world: rules("a*b*c"), ignored: paths("abc", "axbyc", "abcbc"), none: paths("ab", "abcd", "xabc")},
	{name: "suffix", world: rules("*.o"), ignored: paths(".o", "a.o", "x/a.o", "a.b.o"), none: paths("o", "a.oo", "a.o.c")},
	{name: "prefix", world: rules("a*"), ignored: paths("a", "ab", "x/ab"), none: paths("ba")},
	{name: "prefix and suffix do not overlap", world: rules("ab*ba"), ignored: paths("abba", "abxba"), none: paths("aba", "ab")},
	{name: "middle and suffix do not overlap", world: rules("*ab*b", "y*a?*c"), ignored: paths("abb", "xabxb", "yaxc", "yabxc"), none: paths("xab", "ab", "yxac", "yac")},
	{name: "middles do not overlap", world: rules("*aba*aba*"), ignored: paths("abaaba", "xabaxabax"), none: paths("ababa", "xababax")},
	{name: "contains", world: rules("*a*"), ignored: paths("a", "xay", "aa"), none: paths("b")},
	{name: "several stars", world: rules("*a*b*"), ignored: paths("ab", "xaxbx", "ba.b"), none: paths("ba", "a")},
	{name: "adjacent stars", world: rules("a**b", "c***"), ignored: paths("ab", "axb", "c", "cx", "x/axb"), none: paths("a/b", "a")},
	{name: "double star as a name", world: rules("**"), ignored: paths("a", "a/b")},
	{name: "double star directory", world: rules("**/"), ignored: paths("a/", "a/b"), none: paths("a")},
	{name: "question mark", world: rules("a?"), ignored: paths("ab", "a?", "a."), none: paths("a", "abc")},
	{name: "question mark is one byte", world: rules("?"), ignored: paths("a"), none: paths("\u00e4")},
	{name: "question marks for a character", world: rules("??"), ignored: paths("\u00e4", "ab")},
	{name: "star then question mark", world: rules("*?b"), ignored: paths("ab", "xab", "bb"), none: paths("b")},
	{name: "question mark then star", world: rules("??*"), ignored: paths("ab", "abc"), none: paths("a")},
	{name: "escaped star", world: rules(`\*`), ignored: paths("*"), none: paths("a", `\*`)},
	{name: "escaped question mark", world: rules(`a\?`), ignored: paths("a?"), none: paths("ab")},
	{name: "escaped bracket", world: rules(`\[a]`), ignored: paths("[a]"), none: paths("a")},
	{name: "escaped letter", world: rules(`\a\b`), ignored: paths("ab"), none: paths(`\a\b`)},
	{name: "escape between stars", world: rules(`*\**`), ignored: paths("a*b", "*"), none: paths("ab")},
	{name: "leading dot is nothing special", world: rules("*a", "?b"), ignored: paths(".a", ".b")},
	{name: "bytes that are not UTF-8", world: rules("\xff*", "*\xfe", "a\x80b", "?\xc3"), ignored: paths("\xffa", "a\xfe", "a\x80b", "\xe9\xc3")},
	{name: "control characters", world: rules("a\x01", "\x7f*"), ignored: paths("a\x01", "\x7fx")},
	{name: "braces are literal", world: rules("{a,b}"), ignored: paths("{a,b}"), none: paths("a", "b")},
	{name: "tilde and dollar are literal", world: rules("~a", "$a"), ignored: paths("~a", "$a"), none: paths("a")},
	{name: "closing bracket alone", world: rules("]", "a]"), ignored: paths("]", "a]")},
	{name: "dot and dot dot", world: rules(".", ".."), none: paths("a", ".a")},
}

var pathCases = []tableCase{
	{name: "leading slash", world: rules("/a"), ignored: paths("a", "a/b"), none: paths("x/a", "ab")},
	{name: "leading slash with star", world: rules("/*.c"), ignored: paths("a.c"), none: paths("x/a.c")},
	{name: "inner slash", world: rules("a/b"), ignored: paths("a/b", "a/b/c"), none: paths("x/a/b", "b", "a")},
	{name: "leading and inner slash", world: rules("/a/b"), ignored: paths("a/b"), none: paths("x/a/b")},
	{name: "leading slash, directory", world: rules("/a/"), ignored: paths("a/", "a/b"), none: paths("a", "x/a/")},
	{name: "inner slash, directory", world: rules("a/b/"), ignored: paths("a/b/", "a/b/c"), none: paths("a/b", "x/a/b/")},
	{name: "slash alone", world: rules("/"), none: paths("a", "a/")},
	{name: "slashes alone", world: rules("//", "///"), none: paths("a", "a/", "a/b")},
	{name: "two leading slashes", world: rules("//a"), none: paths("a", "x/a")},
	{name: "two inner slashes", world: rules("a//b"), none: paths("a/b")},
	{name: "star is one component", world: rules("a/*/b"), ignored: paths("a/x/b", "a/.x/b"), none: paths("a/b", "a/x/y/b")},
	{name: "star at the end", world: rules("a/*"), ignored: paths("a/b", "a/b/", "a/b/c"), none: paths("a", "a/", "x/a/b")},
	{name: "star at the beginning", world: rules("*/a"), ignored: paths("x/a"), none: paths("a", "x/y/a")},
	{name: "star inside a component", world: rules("a/b*c/d"), ignored: paths("a/bc/d", "a/bxc/d"), none: paths("a/bx/c/d")},
	{name: "question mark is no slash", world: rules("a?b", "/a?b", "x/a?b"), none: paths("a/b", "x/a/b"), ignored: paths("axb", "x/axb")},
	{name: "class is no slash", world: rules("a[/]b", "a[.-0]b", "a[!x]b"), none: paths("a/b"), ignored: paths("a.b", "a0b")},
	{name: "slash in a class anchors", world: rules("[x/]y"), ignored: paths("xy"), none: paths("a/xy", "x/y")},
	{name: "class without slash does not anchor", world: rules("[x]y"), ignored: paths("xy", "a/xy")},
	{name: "escaped slash", world: rules(`a\/b`), ignored: paths("a/b"), none: paths("x/a/b")},
	{name: "escaped slash at the end", world: rules(`a\/`), none: paths("a", "a/")},
	{name: "escaped slash at the beginning", world: rules(`\/a`), none: paths("a", "x/a")},
	{name: "escaped slash and star", world: rules(`a*\/b`), ignored: paths("ax/b"), none: paths("a/x/b")},
	{name: "same last component", world: rules("/a/x", "!/b/x", "c/x", "x/", "!/d/x"),
		ignored: paths("a/x", "c/x", "a/x/", "e/x/"), included: paths("b/x", "d/x", "d/x/"), none: paths("x", "e/x")},
	{name: "dot components", world: rules("./a", "../b", "x/./y"), none: paths("a", "b", "x/y")},
	{name: "long path", world: rules("/a/a/a/a/a/a/a/b"), ignored: paths("a/a/a/a/a/a/a/b"), none: paths("a/a/a/a/a/a/b")},
}

var doubleStarCases = []tableCase{
	{name: "at the beginning", world: rules("**/a"), ignored: paths("a", "x/a", "x/y/a"), none: paths("ab")},
	{name: "at the beginning, path", world: rules("**/a/b"), ignored: paths("a/b", "x/a/b", "x/y/a/b"), none: paths("b", "a/x/b")},
	{name: "behind a slash at the beginning", world: rules("/**/a"), ignored: paths("a", "x/a")},
	{name: "at the end", world: rules("a/**"), ignored: paths("a/b", "a/b/c", "a/b/"), none: paths("a", "a/", "x/a/b")},
	{name: "at the end, directories", world: rules("a/**/"), ignored: paths("a/b/", "a/b/c"), none: paths("a/", "a/b")},
	{name: "in the middle", world: rules("a/**/b"), ignored: paths("a/b", "a/x/b", "a/x/y/b"), none: paths("x/a/b", "a/xb", "ab")},
	{name: "repeated", world: rules("a/**/**/b"), ignored: paths("a/b", "a/x/b", "a/x/y/b")},
	{name: "repeated at the end", world: rules("a/**/**"), ignored: paths("a/b", "a/b/c"), none: paths("a/")},
	{name: "repeated at the beginning", world: rules("**/**/a"), ignored: paths("a", "x/a", "x/y/a")},
	{name: "twice", world: rules("**/a/**/b"), ignored: paths("a/b", "x/a/b", "x/a/y/a/z/b"), none: paths("b", "b/a")},
	{name: "alone behind a slash", world: rules("/**"), ignored: paths("a", "a/b")},
	{name: "alone behind a slash, directories", world: rules("/**/"), ignored: paths("a/", "a/b"), none: paths("a")},
	{name: "only double stars", world: rules("**/**"), ignored: paths("a", "a/b")},
	{name: "then a star", world: rules("**/*"), ignored: paths("a", "a/b")},
	{name: "star, then double star", world: rules("*/**"), ignored: paths("a/b", "a/b/c"), none: paths("a", "a/")},
	{name: "star, double star, star", world: rules("*/**/*"), ignored: paths("a/b", "a/b/c"), none: paths("a")},
	{name: "double star, star, name", world: rules("**/*/a"), ignored: paths("x/a", "x/y/a"), none: paths("a")},
	{name: "at least two levels", world: rules("a/*/**/*/b"), ignored: paths("a/x/y/b", "a/x/y/z/b"), none: paths("a/b", "a/x/b")},
	{name: "three stars", world: rules("a/***/b", "c/***"), ignored: paths("a/b", "a/x/y/b", "c/x/y"), none: paths("c/")},
	{name: "before an escaped slash", world: rules(`**\/a`), ignored: paths("x/a", "x/y/a"), none: paths("a")},
	{name: "between escaped slashes", world: rules(`a\/**\/b`), ignored: paths("a/x/b", "a/x/y/b"), none: paths("a/b")},
	{name: "behind an escaped slash", world: rules(`a\/**/b`), ignored: paths("a/b", "a/x/b")},
	{name: "before two slashes", world: rules("a/**//b", "**//"), none: paths("a/b", "a/x/b", "a/")},
	{name: "not a component, front", world: rules("a**/b"), ignored: paths("a/b", "ax/b"), none: paths("ab", "ax/y/b")},
	{name: "not a component, behind a directory", world: rules("x/a**/b"), ignored: paths("x/a/b", "x/ay/b"), none: paths("x/ab", "x/a/y/b")},
	{name: "not a component, at the end", world: rules("x/a**", "!x/ab"), ignored: paths("x/a", "x/ac"), included: paths("x/ab/"), none: paths("x/ab/c")},
	{name: "not a component, before an escaped slash", world: rules(`x/a**\/b`), ignored: paths("x/ac/b"), none: paths("x/ac/d/b")},
	{name: "not a component, back", world: rules("a/**b"), ignored: paths("a/b", "a/xb"), none: paths("a/x/b")},
	{name: "not a component, both", world: rules("a/x**y/b"), ignored: paths("a/xy/b", "a/xzy/b"), none: paths("a/x/y/b")},
	{name: "with a star behind", world: rules("a/**/*.c"), ignored: paths("a/x.c", "a/b/c/x.c"), none: paths("a/x.h", "x.c")},
	{name: "goes back to the last one only", world: rules("**/a/*/b/**/c"), ignored: paths("a/b/b/c", "a/a/b/b/x/c"), none: paths("a/b/c", "a/x/c")},
	{name: "component that nearly fits", world: rules("**/a/b/c"), ignored: paths("a/b/a/b/c", "a/a/b/c", "a/b/a/a/b/c"), none: paths("a/b/a/c")},
	{name: "negated", world: rules("a/**", "!a/**/", "!a/**/x"), ignored: paths("a/b", "a/b/c"), included: paths("a/b/", "a/x", "a/b/x")},
}

var classCases = []tableCase{
	{name: "members", world: rules("[ab]"), ignored: paths("a", "b"), none: paths("c", "ab", "[ab]")},
	{name: "range", world: rules("[a-c]x"), ignored: paths("ax", "bx", "cx"), none: paths("dx", "-x")},
	{name: "two ranges", world: rules("[a-c0-2]"), ignored: paths("b", "1"), none: paths("3", "d")},
	{name: "negated by !", world: rules("[!a]"), ignored: paths("b", "!"), none: paths("a")},
	{name: "negated by ^", world: rules("[^a]"), ignored: paths("b", "^"), none: paths("a")},
	{name: "negation only in front", world: rules("[a!^]"), ignored: paths("a", "!", "^"), none: paths("b")},
	{name: "twice negated", world: rules("[!!]"), ignored: paths("a"), none: paths("!")},
	{name: "closing bracket first", world: rules("[]a]"), ignored: paths("]", "a"), none: paths("b")},
	{name: "closing bracket first, negated", world: rules("[!]a]"), ignored: paths("b"), none: paths("]", "a")},
	{name: "closing bracket alone", world: rules("[]]"), ignored: paths("]"), none: paths("a")},
	{name: "no member", world: rules("[]", "[!]", "x"), none: paths("]", "[]", "[!]", "a"), ignored: paths("x")},
	{name: "range from a closing bracket", world: rules("[]-a]"), ignored: paths("]", "^", "a"), none: paths("b", "-")},
	{name: "dash first", world: rules("[-a]"), ignored: paths("-", "a"), none: paths("b")},
	{name: "dash last", world: rules("[a-]"), ignored: paths("-", "a"), none: paths("b")},
	{name: "dash alone", world: rules("[-]"), ignored: paths("-")},
	{name: "dash behind a range", world: rules("[a-c-e]"), ignored: paths("b", "-", "e"), none: paths("d")},
	{name: "range of dashes", world: rules("x[--0]"), ignored: paths("x-", "x.", "x0"), none: paths("x1", "x,")},
	{name: "range backwards is its first member", world: rules("[z-a]"), ignored: paths("z"), none: paths("a", "m", "-")},
	{name: "range backwards, negated", world: rules("[!z-a]"), ignored: paths("a", "m"), none: paths("z")},
	{name: "range of one", world: rules("[a-a]"), ignored: paths("a"), none: paths("b")},
	{name: "escaped members", world: rules(`[\]\-\\]`), ignored: paths("]", "-", `\`), none: paths("a")},
	{name: "escaped dash is no range", world: rules(`[a\-c]`), ignored: paths("a", "-", "c"), none: paths("b")},
	{name: "escaped ends of a range", world: rules(`[\a-\c]`), ignored: paths("b"), none: paths(`\`, "-")},
	{name: "range to an escaped bracket", world: rules(`[Z-\]]`), ignored: paths("Z", "[", `\`, "]"), none: paths("^")},
	{name: "escaped negation", world: rules(`[\!a]`), ignored: paths("!", "a"), none: paths("b")},
	{name: "opening bracket inside", world: rules("[[]", "x[[a]y"), ignored: paths("[", "x[y", "xay")},
	{name: "star inside is literal", world: rules("[*?]"), ignored: paths("*", "?"), none: paths("a")},
	{name: "blank inside", world: rules("[ ]a"), ignored: paths(" a")},
	{name: "unfinished", world: rules("[", "a[", "[a", "[!", "[a-", `[a\`, `[a\]`, "*[", "x"), ignored: paths("x"),
		none: paths("[", "a[", "[a", "a", "[!", "[a-", `[a\`, "[a]")},
	{name: "unfinished behind a star", world: rules("a*[b"), none: paths("ab", "a[b", "axb")},
	{name: "unfinished in a later component", world: rules("a/[b", "[a/b"), none: paths("a/b", "a/[b", "[a/b")},
	{name: "unfinished in front", world: rules("[a*", "[]a*b"), none: paths("a", "ab", "[a")},
	{name: "bytes beyond ASCII", world: rules("[\x80-\xff]", "x[\u00e4]"), ignored: paths("\xe9", "\xff"), none: paths("a", "\u00e4", "x\u00e4")},
	{name: "negated class matches one byte", world: rules("[!a]"), none: paths("\u00e4", "bb"), ignored: paths("\xe9")},
	{name: "class then star", world: rules("[ab]*[cd]"), ignored: paths("ac", "bxd"), none: paths("a", "xc")},
	{name: "between stars", world: rules("*[0-9]*"), ignored: paths("a1b", "1", "x9"), none: paths("ab")},

	{name: "alpha", world: rules("[[:alpha:]]"), ignored: paths("a", "Z"), none: paths("1", "_", "\xe9")},
	{name: "digit", world: rules("v[[:digit:]]"), ignored: paths("v0", "v9"), none: paths("va")},
	{name: "upper and lower", world: rules("[[:upper:]][[:lower:]]"), ignored: paths("Aa"), none: paths("aa", "AA", "aA")},
	{name: "space has no vertical tab", world: rules("[[:space:]]x"), ignored: paths(" x", "\tx", "\nx", "\rx"), none: paths("\vx", "\fx", "ax")},
	{name: "blank", world: rules("[[:blank:]]x"), ignored: paths(" x", "\tx"), none: paths("\nx", "ax")},
	{name: "cntrl", world: rules("[[:cntrl:]]"), ignored: paths("\x01", "\x1f", "\x7f"), none: paths("a", "\x80")},
	{name: "punct", world: rules("x[[:punct:]]"), ignored: paths("x!", "x_", "x~", "x.", "x@"), none: paths("xa", "x ", "x\x80")},
	{name: "graph and print", world: rules("x[[:graph:]]", "y[[:print:]]"), ignored: paths("x!", "y!", "y "), none: paths("x ", "y\x7f", "x\x80")},
	{name: "alnum and xdigit", world: rules("x[[:alnum:]]", "y[[:xdigit:]]"), ignored: paths("x1", "xz", "yF", "ya", "y0"), none: paths("x_", "yg")},
	{name: "named class among others", world: rules("[_[:digit:]x-z]"), ignored: paths("_", "5", "y"), none: paths("a", "[", ":")},
	{name: "named class, negated", world: rules("[![:alpha:]]"), ignored: paths("1", "\xe9"), none: paths("a")},
	{name: "two named classes", world: rules("[[:digit:][:upper:]]"), ignored: paths("1", "A"), none: paths("a")},
	{name: "dash behind a named class", world: rules("[[:digit:]-z]"), ignored: paths("1", "-", "z"), none: paths("a")},
	{name: "range to a bracket", world: rules("[a-[:x]", "[Z-[:]"), ignored: paths("a", "x", ":", "Z", "["), none: paths("b")},
	{name: "unknown name", world: rules("[[:foo:]]", "[a[:foo:]]", "[[:ALPHA:]]", "[[::]]", "x"), none: paths("a", "f", ":", "[:foo:]"), ignored: paths("x")},
	{name: "named class outside of a class", world: rules("[:alpha:]"), ignored: paths("a", ":", "h"), none: paths("b", "[:alpha:]")},
	{name: "named class without end", world: rules("[[:alpha:", "[[:alpha", "x"), none: paths("a"), ignored: paths("x")},
	{name: "named class with half an end", world: rules("[[:alpha]"), ignored: paths("[", ":", "a", "l"), none: paths("b")},
	{name: "named class closed once", world: rules("[[:alpha:]"), none: paths("a", "[", ":")},
	{name: "colon, then a bracket", world: rules("[[:]", "[[:]]"), ignored: paths("[", ":", ":]", "[]")},
}

var sourceCases = []tableCase{
	{name: "nested file", world: world{rules: map[string]string{"a": "/x\ny\n"}},
		ignored: paths("a/x", "a/y", "a/b/y"), none: paths("x", "y", "a/b/x", "b/x", "a")},
	{name: "deeper file wins", world: world{rules: map[string]string{"": "*.o", "a": "!x.o", "a/b": "x.o"}},
		ignored: paths("x.o", "a/y.o", "a/b/x.o"), included: paths("a/x.o", "a/c/x.o")},
	{name: "deeper file cannot open its directory", world: world{rules: map[string]string{"": "a/", "a": "!*"}},
		ignored: paths("a/", "a/x")},
	{name: "file in an ignored directory below", world: world{rules: map[string]string{"": "/a/b/", "a/b": "!*", "a": "x"}},
		ignored: paths("a/b/", "a/b/y", "a/x"), none: paths("a/y")},
	{name: "rules of the directory do not reach itself", world: world{rules: map[string]string{"a": "a\n/\n.\n*"}},
		ignored: paths("a/a", "a/x"), none: paths("a/", "b")},
	{name: "rules of a sibling", world: world{rules: map[string]string{"a": "*", "ab": "!*"}},
		ignored: paths("a/x"), included: paths("ab/x"), none: paths("b/x", "abc/x")},
	{name: "info/exclude", world: world{exclude: "*.log\n/top\n"},
		ignored: paths("a.log", "x/a.log", "top"), none: paths("x/top")},
	{name: "info/exclude beats excludesFile", world: world{exclude: "!a\nb", excludesFile: "a\n!b\nc"},
		ignored: paths("b", "c"), included: paths("a")},
	{name: ".gitignore beats both", world: world{exclude: "a\nb", excludesFile: "a\nc", rules: map[string]string{"": "!a", "x": "!c"}},
		ignored: paths("b", "c", "x/b"), included: paths("a", "x/c", "x/a")},
	{name: "excludesFile with BOM and CR", world: world{excludesFile: "\xef\xbb\xbfa\r\nb \r\n", exclude: "\xef\xbb\xbfc"},
		ignored: paths("a", "b", "c")},
	{name: "anchors of the fallbacks are the top", world: world{exclude: "a/x", excludesFile: "/b/y/", rules: map[string]string{"a": "", "b": "z"}},
		ignored: paths("a/x", "b/y/", "b/z"), none: paths("b/y", "b/a/x")},
	{name: "directory excluded by a fallback", world: world{excludesFile: "a/", rules: map[string]string{"a": "!x", "": "!a/x"}},
		ignored: paths("a/x")},
	{name: "directory opened again", world: world{excludesFile: "a/", rules: map[string]string{"": "!a/", "a": "y"}},
		included: paths("a/"), none: paths("a/x"), ignored: paths("a/y")},
	{name: "directory of hard name", world: world{rules: map[string]string{"[a] *": "x", "[a] */\u00e4\xff": "!x"}},
		ignored: paths("[a] */x"), included: paths("[a] */\u00e4\xff/x")},
	{name: "vmlinux", world: world{rules: map[string]string{"": "vmlinux*", "arch/foo/kernel": "!/vmlinux*"}},
		ignored: paths("vmlinux", "arch/vmlinux.lds"), included: paths("arch/foo/kernel/vmlinux.lds.S")},
}

var foldCases = []tableCase{
	{name: "off", world: rules("A", "*.O", "B*", "/C/d"), none: paths("a", "x.o", "bx", "c/d", "C/D"), ignored: paths("A", "x.O", "Bx", "C/d")},
	{name: "literal", world: folding("Abc"), ignored: paths("abc", "ABC", "x/aBc"), none: paths("abd")},
	{name: "suffix", world: folding("*.Obj"), ignored: paths("a.obj", "A.OBJ"), none: paths("a.ob")},
	{name: "prefix", world: folding("Ab*"), ignored: paths("abx", "ABX"), none: paths("bab")},
	{name: "middle", world: folding("*B*C*"), ignored: paths("abxc", "ABXC"), none: paths("acb")},
	{name: "path", world: folding("/Doc/*.Html", "a/B/c"), ignored: paths("doc/x.html", "DOC/X.HTML", "A/b/C"), none: paths("x/doc/y.html")},
	{name: "double star", world: folding("A/**/B"), ignored: paths("a/b", "A/x/b", "a/X/Y/B")},
	{name: "negation", world: folding("*", "!README"), included: paths("readme", "ReadMe"), ignored: paths("x")},
	{name: "only ASCII letters", world: folding("\u00c4", "[\u00c4]x", "@", "["), ignored: paths("\u00c4", "@"), none: paths("\u00e4", "`", "{")},
	{name: "range", world: folding("[A-C]", "[x-z]"), ignored: paths("a", "B", "x", "Y"), none: paths("d", "D")},
	{name: "range across the cases", world: folding("[Z-a]"), ignored: paths("a", "A", "z", "Z", "_", "["), none: paths("b", "B")},
	{name: "lower-case member", world: folding("[a]"), ignored: paths("a", "A"), none: paths("b")},
	{name: "upper-case member matches nothing", world: folding("[A]", "[AB]x"), none: paths("a", "A", "ax", "AX")},
	{name: "upper-case member, negated", world: folding("[!A]"), ignored: paths("a", "A", "b")},
	{name: "lower-case member, negated", world: folding("[!a]"), ignored: paths("b", "B"), none: paths("a", "A")},
	{name: "upper-case end of a backward range", world: folding("[Z-A]"), none: paths("z", "Z", "a", "A")},
	{name: "named classes", world: folding("x[[:upper:]]", "y[[:lower:]]"), ignored: paths("xa", "xA", "ya", "YA"), none: paths("x1")},
	{name: "named classes, negated", world: folding("[![:upper:]]"), ignored: paths("1"), none: paths("a", "A")},
	{name: "escaped lower-case letter", world: folding(`\a*`), ignored: paths("a", "Ab")},
	{name: "escaped upper-case letter matches nothing", world: folding(`\A`, `x\B`, `*\C`, `/d/\E`), none: paths("a", "A", "xb", "xB", "c", "C", "d/e", "d/E")},
	{name: "nested file", world: world{fold: true, rules: map[string]string{"Sub": "X"}}, ignored: paths("Sub/x", "Sub/X", "Sub/y/x"), none: paths("x")},
	{name: "long names", world: folding(strings.Repeat("aB", 120)), ignored: paths(strings.Repeat("Ab", 120)), none: paths(strings.Repeat("Ab", 119))},
	{name: "sources", world: world{fold: true, exclude: "*.LOG", excludesFile: "TMP/"}, ignored: paths("a.log", "tmp/")},
}

func (c *tableCase) wanted() (paths []string, want []Verdict) {
	for v, list := range [][]string{None: c.none, Ignore: c.ignored, Include: c.included} {
		paths = append(paths, list...)
		want = append(want, slices.Repeat([]Verdict{Verdict(v)}, len(list))...)
	}
	return paths, want
}

func TestTables(t *testing.T) {
	t.Parallel()
	for name, cases := range tables {
		for _, c := range cases {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				paths, want := c.wanted()
				for i, path := range paths {
					if got := c.world.judge(path); got != want[i] {
						t.Errorf("%q: got %v, want %v\n%v", path, got, want[i], &c.world)
					}
					if got := c.world.covers(path); got != (want[i] == Ignore) {
						t.Errorf("%q: covered %v\n%v", path, got, &c.world)
					}
				}
			})
		}
	}
}

// TestTablesGit checks that git agrees with the tables. The cases share a few
// repositories, each in a directory of its own; those with rules outside of
// .gitignore have a repository each.
func TestTablesGit(t *testing.T) {
	t.Parallel()
	needGit(t)
	needAnyName(t)
	plain, fold := newQuestion(false), newQuestion(true)
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		for i, c := range tables[name] {
			if line := c.misread(); line != "" {
				t.Run(name+"/"+c.name, func(t *testing.T) {
					t.Skipf("this git is older than 2.52 and misreads %q", line)
				})
				continue
			}
			q, top := plain, fmt.Sprintf("%s %d/", name, i)
			switch {
			case c.world.exclude+c.world.excludesFile != "":
				own := question{world: c.world}
				own.add(&c, "")
				own.ask(t)
				continue
			case c.world.fold:
				q = fold
			}
			q.add(&c, top)
		}
	}
	plain.ask(t)
	fold.ask(t)
}

// misread returns a line of c that the installed git misreads.
func (c *tableCase) misread() string {
	for line := range strings.SplitSeq(c.world.rules[""], "\n") {
		if gitMisreads(line) {
			return line
		}
	}
	return ""
}
