// Package interfaces has the commands that offer another interface than the command line: HTTP, the Model Context
// Protocol, and a terminal's full screen. Their libraries take half of the program's file and 0.4 of its start, so
// a lean cairn lacks this package.
//
// A server reads the settings of a root as a command in that root does.
package interfaces
