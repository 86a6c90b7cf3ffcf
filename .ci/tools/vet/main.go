// Command vet runs the analyzers of go vet on packages and their tests. It reads all that they
// import from source, so that nothing has to be compiled for the system in GOOS.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"
	"golang.org/x/tools/go/analysis/suite/vet"
)

func main() { multichecker.Main(vet.Suite...) }
