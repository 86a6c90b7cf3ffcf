package patchjson

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]cairn.Patch{
		`[]`:                                      {},
		` {"hash":"h","files":[]} `:               {{Hash: "h", Files: []string{}}},
		`{"hash":"h","files":null}`:               {{Hash: "h", Files: []string{}}},
		`[{"files":["a\u0000ff"],"hash":"h"}]`:    {{Hash: "h", Files: []string{"a\xff"}}},
		`{"hash":"h","files":["a"],"files2":[1]}`: {{Hash: "h", Files: []string{"a"}}},
	} {
		if got, err := Parse([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v and %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                                       "empty",
		"null":                                   "not null",
		"7":                                      "not a number",
		`"h"`:                                    "not a string",
		"true":                                   "not a boolean",
		"[[]]":                                   "patch 1: want an object",
		"[null]":                                 "patch 1: want an object",
		`{"hash":"h","files":[]} x`:              "not JSON",
		`[{"hash":"h","files":[]}] []`:           "not JSON",
		`{"hash":"h"`:                            "not JSON",
		`[{}]`:                                   `patch 1: field "hash" is missing`,
		`{"hash":["h"],"files":[]}`:              `field "hash" must be a string, not an array`,
		`{"hash":"h","files":{}}`:                `field "files" must be an array of strings, not an object`,
		`{"hash":"h","files":[null]}`:            `field "files" must hold strings only, but element 1 is null`,
		`{"hash":"h","files":[""]}`:              `field "files", element 1: empty path`,
		`{"hash":"h","files":["a","b\u0000zz"]}`: `field "files", element 2: `,
		`{"hash":"h","files":["b\u000041"]}`:     `field "files", element 1: `,
	} {
		if got, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v and %v, want %s", text, got, err, want)
		}
	}
}

// FuzzParsePatches: no input panics, and what is accepted survives the way out and
// back in.
func FuzzParsePatches(f *testing.F) {
	f.Add(`[{"hash":"h","files":["a","\u0000ff/\u0000fe"]},{"hash":"","files":null}]`)
	f.Add(`{"hash":"@","files":["\ud800"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		patches, err := Parse([]byte(text))
		if err != nil {
			return
		}
		data, err := json.Marshal(patches)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(data)
		if err != nil || !reflect.DeepEqual(patches, again) {
			t.Fatalf("%+v came back as %+v, %v", patches, again, err)
		}
	})
}
