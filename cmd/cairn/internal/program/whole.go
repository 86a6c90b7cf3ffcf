//go:build !lean

package program

// Lean reports whether this build has a cairn-full carry out some commands.
const Lean = false
