package secretrules

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write table.go from rules.toml")

// TestTable: table.go holds what rules.toml says, and every expression of it can be used.
func TestTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("rules.toml")
	if err != nil {
		t.Fatal(err)
	}
	f, err := decode(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.compile(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	out.WriteString("// Code generated from rules.toml by TestTable. DO NOT EDIT.\n\npackage secretrules\n\n")
	fmt.Fprintf(&out, "var ownRules = %s\n\nvar ownAllowlists = %s\n", source(reflect.ValueOf(f.Rules)), source(reflect.ValueOf(f.Allowlists)))
	want, err := format.Source(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("table.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("table.go"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("table.go differs from rules.toml (%v): go test ./internal/secretrules -run TestTable -update", err)
	}
}

// source writes a value as Go, without the fields that are zero.
func source(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Struct:
		var b strings.Builder
		b.WriteString("{\n")
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				fmt.Fprintf(&b, "%s: %s,\n", v.Type().Field(i).Name, source(f))
			}
		}
		return b.String() + "}"
	case reflect.Slice:
		var b strings.Builder
		b.WriteString(strings.ReplaceAll(v.Type().String(), "secretrules.", "") + "{\n")
		for i := range v.Len() {
			b.WriteString(source(v.Index(i)) + ",\n")
		}
		return b.String() + "}"
	case reflect.String:
		return fmt.Sprintf("%q", v.String())
	}
	return fmt.Sprint(v.Interface())
}
