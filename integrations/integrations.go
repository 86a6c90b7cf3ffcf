// Package integrations holds the adapters for agents whose extensions are programs:
// OpenCode and pi. Each is one TypeScript file that the agent loads as it is, and that
// talks to the cairn program.
package integrations

import _ "embed"

// OpenCode is the plugin for OpenCode, for its directory plugin.
//
//go:embed opencode/cairn.ts
var OpenCode []byte

// Pi is the extension for pi, for its directory extensions.
//
//go:embed pi/cairn.ts
var Pi []byte
