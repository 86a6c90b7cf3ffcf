package odb_test

import (
	"fmt"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/collect"
	"github.com/seed-fb9cbc17/cairn/internal/odb/fsck"
	"github.com/seed-fb9cbc17/cairn/internal/odb/odbtest"
)

// collect and fsck import odb, so the tests inside package odb reach them through variables.
func init() {
	odb.Faults = func(t testing.TB, db *odb.DB) (texts []string) {
		t.Helper()
		for _, f := range faults(t, db) {
			texts = append(texts, fmt.Sprintf("%s: %s: %v", f.Kind, f.Path, f.Err))
		}
		return texts
	}
	odb.RepairAll = func(t testing.TB, db *odb.DB) {
		t.Helper()
		for _, f := range faults(t, db) {
			odbtest.Must(t, fsck.Repair(t.Context(), db, f))
		}
	}
	odb.CollectThorough = func(t testing.TB, db *odb.DB) {
		t.Helper()
		collected(t, db, collect.Options{Thorough: true})
	}
}

func faults(t testing.TB, db *odb.DB) (all []fsck.Fault) {
	t.Helper()
	for f, err := range fsck.Verify(t.Context(), odbtest.Reopen(t, db), fsck.Options{}) {
		odbtest.Must(t, err)
		all = append(all, f)
	}
	return all
}

// collected runs a collection that has to succeed.
func collected(t testing.TB, db *odb.DB, opt collect.Options) *collect.Result {
	t.Helper()
	out, err := collect.Run(t.Context(), db, opt)
	if err != nil || out.Blocked != nil {
		t.Fatalf("collect: %+v, %v", out, err)
	}
	return out
}
