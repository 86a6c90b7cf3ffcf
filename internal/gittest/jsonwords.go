package gittest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Words are the JSON keys that docs/json.md lists, with their types.
type Words map[string][]string

// ReadWords reads the table of docs/json.md, given the path to the module.
func ReadWords(t testing.TB, module string) Words {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(module, "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	words := make(Words)
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || cells[2] == " type " || strings.HasPrefix(cells[1], " ---") {
			continue
		}
		key := strings.TrimSpace(cells[1])
		if words[key] != nil {
			t.Errorf("docs/json.md lists %s twice", key)
		}
		words[key] = strings.Split(strings.TrimSpace(cells[2]), ", ")
	}
	if len(words) < 100 {
		t.Fatalf("docs/json.md lists only %d keys", len(words))
	}
	return words
}

// Check reports the keys of a JSON value that are not listed, or have another type.
func (w Words) Check(t testing.TB, where string, data []byte) {
	t.Helper()
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Errorf("%s: %v: %s", where, err, data)
		return
	}
	w.walk(t, where, value)
}

func (w Words) walk(t testing.TB, where string, value any) {
	t.Helper()
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			w.walk(t, where, v)
		}
	case map[string]any:
		for key, v := range value {
			w.Key(t, where, key, jsonType(v))
			if !slices.Contains(w[key], "map") {
				w.walk(t, where, v)
			}
		}
	}
}

// Key reports a key that is not listed with a type. No type is that of null.
func (w Words) Key(t testing.TB, where, key, kind string) {
	t.Helper()
	known, ok := w[key]
	if kind == "object" && slices.Contains(known, "map") {
		kind = "map"
	}
	switch {
	case !ok:
		t.Errorf("%s has the key %q, which docs/json.md does not list", where, key)
	case kind != "" && !slices.Contains(known, kind):
		t.Errorf("%s has %q of type %s, docs/json.md says %v", where, key, kind, known)
	}
}

func jsonType(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return ""
}

// CheckSchema reports the properties of a JSON schema that are not listed, or have another
// type. References are left out: what they name is to be checked by itself.
func (w Words) CheckSchema(t testing.TB, where string, schema any) {
	t.Helper()
	switch schema := schema.(type) {
	case []any:
		for _, v := range schema {
			w.CheckSchema(t, where, v)
		}
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		for key, p := range properties {
			if key == "$schema" {
				continue
			}
			for _, kind := range schemaTypes(p) {
				w.Key(t, where, key, kind)
			}
		}
		for _, v := range schema {
			w.CheckSchema(t, where, v)
		}
	}
}

// schemaTypes are the types of a property, of which integers are numbers.
func schemaTypes(property any) []string {
	p, _ := property.(map[string]any)
	var list []string
	switch kind := p["type"].(type) {
	case string:
		list = []string{kind}
	case []any:
		for _, k := range kind {
			if text, _ := k.(string); text != "null" {
				list = append(list, text)
			}
		}
	default:
		list = []string{""}
		if p["$ref"] != nil {
			list = []string{"object"}
		}
	}
	for i := range list {
		if list[i] == "integer" {
			list[i] = "number"
		}
	}
	return list
}
