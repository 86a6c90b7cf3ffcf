//go:build !race

package odb

const raceEnabled = false
