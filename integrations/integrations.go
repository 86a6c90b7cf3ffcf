// Package integrations holds the adapters for agents that are extended by programs of
// their own kind, so that cairn setup can install them.
package integrations

import _ "embed"

// Program is the expression by which both adapters find cairn, for cairn setup to put
// the path of the one that runs it in the place of the name.
const Program = `process.env.CAIRN_BIN ?? "cairn"`

// Options is the list of words that come before each command, for cairn setup to put the options of the hooks there.
const Options = `const OPTIONS: string[] = []`

// The adapters, each a single file.
var (
	//go:embed opencode/cairn.ts
	OpenCode string
	//go:embed pi/cairn.ts
	Pi string
)
