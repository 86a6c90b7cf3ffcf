package httpapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

var update = flag.Bool("update", false, "write testdata/openapi.json anew")

// TestOpenAPI compares the description with the one of the last release, so that no
// operation changes by accident. After a change that is meant, go test -update writes
// the file again; a change that clients could notice raises apiVersion, too.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	r := f.call("GET", "/openapi.json", nil).want(t, 200, nil)
	if got := r.header.Get("Content-Type"); got != "application/openapi+json" {
		t.Error(got)
	}
	golden := filepath.Join("testdata", "openapi.json")
	if *update {
		if err := os.WriteFile(golden, append(r.body, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
	if string(want) != string(r.body)+"\n" {
		t.Error("the description is not the one in testdata/openapi.json (go test ./internal/httpapi -run OpenAPI -update)")
	}
	checkOpenAPI(t, r.body)
}

// checkOpenAPI checks what a generator of clients relies on: that every reference
// leads somewhere, that operations have ids of their own, and that the parameters of
// the paths are described.
func checkOpenAPI(t *testing.T, data []byte) {
	t.Helper()
	var doc struct {
		OpenAPI    string
		Paths      map[string]map[string]map[string]any
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1.") || len(doc.Paths) < 30 {
		t.Errorf("version %s, %d paths", doc.OpenAPI, len(doc.Paths))
	}
	for _, m := range regexp.MustCompile(`"\$ref": *"([^"]*)"`).FindAllStringSubmatch(string(data), -1) {
		name, ok := strings.CutPrefix(m[1], "#/components/schemas/")
		if _, found := doc.Components.Schemas[name]; !ok || !found {
			t.Errorf("%s leads nowhere", m[1])
		}
	}
	ids := make(map[string]bool)
	for path, methods := range doc.Paths {
		for method, op := range methods {
			id, _ := op["operationId"].(string)
			if id == "" || ids[id] {
				t.Errorf("%s %s: no id, or one that is taken: %q", method, path, id)
			}
			ids[id] = true
			var described []string
			list, _ := op["parameters"].([]any)
			for _, p := range list {
				if p := p.(map[string]any); p["in"] == "path" {
					described = append(described, p["name"].(string))
				}
			}
			for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
				if !slices.Contains(described, m[1]) {
					t.Errorf("%s %s: {%s} is not described", method, path, m[1])
				}
			}
			responses, _ := op["responses"].(map[string]any)
			if responses["default"] == nil || len(responses) < 2 {
				t.Errorf("%s %s: the answers are not described", method, path)
			}
		}
	}
}

// TestV64_KeysOverHTTP: docs/json.md lists the keys of all requests and answers but
// OpenCode's own.
func TestV64_KeysOverHTTP(t *testing.T) {
	t.Parallel()
	words := gittest.ReadWords(t, filepath.Join("..", ".."))
	var doc struct {
		Paths      map[string]any
		Components struct{ Schemas map[string]any }
	}
	newFixture(t, nil).call("GET", "/openapi.json", nil).want(t, 200, &doc)
	seen := make(map[string]bool)
	var check func(where string, v any)
	check = func(where string, v any) {
		words.CheckSchema(t, where, v)
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`#/components/schemas/([^"]+)`).FindAllStringSubmatch(string(text), -1) {
			if name := m[1]; !seen[name] {
				seen[name] = true
				check(name, doc.Components.Schemas[name])
			}
		}
	}
	for path, v := range doc.Paths {
		if !strings.HasPrefix(path, "/opencode") {
			check(path, v)
		}
	}
	if len(seen) < 40 {
		t.Errorf("only %d types were checked", len(seen))
	}
}
