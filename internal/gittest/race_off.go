//go:build !race

package gittest

// Race is set when the race detector is on.
const Race = false
