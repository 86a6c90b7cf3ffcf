// Package ignore decides which paths git's exclude rules leave out: the patterns of .gitignore
// files, of info/exclude and of core.excludesFile, as gitignore(5) describes them and as git is
// seen to apply them. It is pure: it opens no file and knows no repository. The caller that walks
// the tree parses the rule files it meets ([Parse]) and carries a [Chain] of them from directory to
// directory.
//
// Where the manual is silent the package follows git's behaviour, byte by byte:
// names are bytes, not characters; a line with an unfinished class or a trailing
// backslash matches nothing; only ASCII letters fold. The version followed is git
// 2.52 and later. Older ones match foo**/bar against foobar, and foo/bar** against
// foo/bar/x, which their own manual says they do not.
//
// Nothing here backtracks further than to the last star: a decision costs at most
// the length of the name times the length of the patterns, whatever these are.
package ignore
