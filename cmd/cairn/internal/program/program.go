// Package program knows which program this process is.
//
// A build without tags is one file that carries out every command. A release has two files: cairn, built with the tag
// lean, is small and starts fast. cairn-full, built without, carries out all other commands. A lean cairn becomes
// cairn-full for them, and says in an environment variable what it is.
//
// The package imports little, because package relay does.
package program

import (
	"os"
	"strings"
)

const frontEnv = "CAIRN_FRONT" // version and path of the lean cairn that became this process, with a line end between

var frontVersion, frontPath = takeFront()

// takeFront takes the variable out of the environment: no process that this one starts has the same front.
func takeFront() (version, path string) {
	value := os.Getenv(frontEnv)
	if value == "" {
		return "", ""
	}
	os.Unsetenv(frontEnv)
	version, path, _ = strings.Cut(value, "\n")
	return version, path
}

// Environment tells a cairn-full which version and path its lean cairn has.
func Environment(version, path string) string { return frontEnv + "=" + version + "\n" + path }

// Path is the file that people, agents and background processes start. In cairn-full it is the lean cairn that has
// become this process, so that both have one identity.
func Path() (string, error) {
	if frontPath != "" {
		return frontPath, nil
	}
	return os.Executable()
}

// Front is the version of the lean cairn that has become this process, "" if there was none.
func Front() string { return frontVersion }
