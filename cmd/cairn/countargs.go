package main

import "strings"

// countArgs rewrites -N after the command log, as git's users type it, to --number=N. The value of
// another option stays.
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
