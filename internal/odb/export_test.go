package odb

import "testing"

// Faults, RepairAll and CollectThorough are set by above_test.go.
var (
	Faults          func(testing.TB, *DB) []string // as another process would see the store; each text begins with the kind
	RepairAll       func(testing.TB, *DB)
	CollectThorough func(testing.TB, *DB)
)
