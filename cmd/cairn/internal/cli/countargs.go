package cli

import (
	"slices"
	"strings"
)

// grepArgs rewrites -v and -C before the command grep, where they are options of every command.
func grepArgs(args []string) []string {
	at := slices.Index(args, "grep")
	out := slices.Clone(args)
	for i := range args[:at] {
		out[i] = longOption(args[i])
	}
	return out
}

func longOption(arg string) string {
	switch {
	case arg == "-v":
		return "--verbose"
	case arg == "-C":
		return "--directory"
	case strings.HasPrefix(arg, "-C"):
		return "--directory=" + arg[2:]
	}
	return arg
}

// countArgs rewrites -N after the command log, as git's users type it, to --number=N. The value of
// another option stays. The line is one of cairn log: in that of cairn run the words are another program's.
func countArgs(args []string) []string {
	at := -1
	for i, arg := range args {
		switch {
		case arg == "--":
			return args
		case arg == "log" && at < 0:
			at = i
		case at >= 0 && len(arg) > 1 && arg[0] == '-' && strings.Trim(arg[1:], "0123456789") == "" && !wantsValue(args[i-1]):
			args = append(append(append([]string{}, args[:i]...), "--number="+arg[1:]), args[i+1:]...)
		}
	}
	return args
}

func wantsValue(option string) bool {
	switch option {
	case "-n", "--number", "-S", "--grep", "--since", "--until", "--session", "-U", "--unified":
		return true
	}
	return false
}
