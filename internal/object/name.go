package object

import (
	"strings"
	"unicode/utf8"
)

// IsDotGit reports whether a file of this name would be, or could pass for, a
// repository's .git on any file system: in any case, as NTFS's short name
// (GIT~1), with the trailing blanks, dots and stream suffixes that Windows drops,
// as a part between backslashes, and with the characters that HFS+ ignores. The
// rule is that of git's fsck, which has core.protectNTFS and core.protectHFS on.
func IsDotGit(name string) bool {
	return couldBeDotGit(name) && (isNTFSDotGit(name) || isHFSDotGit(name))
}

// SafeName reports whether a tree entry of this name may be written to disk.
func SafeName(name string) bool {
	return name != "" && name != "." && name != ".." &&
		strings.IndexByte(name, '/') < 0 && strings.IndexByte(name, 0) < 0 && !IsDotGit(name)
}

// couldBeDotGit is cheap and rules out nearly all names, because every name of
// every scan is asked about: .git begins with a dot or with the first byte of
// something that HFS+ ignores, git~1 has its tilde, and else there is a backslash.
func couldBeDotGit(name string) bool {
	if len(name) < len(".git") {
		return false
	}
	return name[0] == '.' || name[0] == 0xe2 || name[0] == 0xef || name[3] == '~' ||
		strings.IndexByte(name, '\\') >= 0
}

func isNTFSDotGit(name string) bool {
	for part := range strings.SplitSeq(name, `\`) {
		part, _, _ = strings.Cut(part, ":") // a stream's name
		part = strings.TrimRight(part, " .")
		if strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1") {
			return true
		}
	}
	return false
}

// isHFSDotGit compares character by character. Bytes that are no UTF-8 end the name,
// for git as for this: HFS+ cannot hold them, and a name cut off there is .git.
func isHFSDotGit(name string) bool {
	want := ".git"
	for name != "" {
		r, size := utf8.DecodeRuneInString(name)
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		switch {
		case r == utf8.RuneError && size == 1, r == 0xfffe, r == 0xffff:
			return want == ""
		case hfsIgnored(r):
		case want == "" || r != rune(want[0]):
			return false
		default:
			want = want[1:]
		}
		name = name[size:]
	}
	return want == ""
}

// hfsIgnored are the code points that HFS+ drops when it compares names, as
// listed by Apple's technical note 1150.
func hfsIgnored(r rune) bool {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return true
	}
	return false
}
