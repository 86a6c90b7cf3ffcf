// Package patchjson reads patches from JSON that a person or a script wrote, so that an error
// names the patch and the field.
package patchjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// Parse reads one patch or an array of them.
func Parse(data []byte) ([]cairn.Patch, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil, errors.New("it is empty, not a patch {\"hash\", \"files\"} or an array of them")
	}
	if data[0] != '[' {
		p, err := parsePatch(data)
		if err != nil {
			return nil, err
		}
		return []cairn.Patch{p}, nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, notJSON(data)
	}
	patches := make([]cairn.Patch, len(raw))
	for i, r := range raw {
		var err error
		if patches[i], err = parsePatch(r); err != nil {
			return nil, fmt.Errorf("patch %d: %w", i+1, err)
		}
	}
	return patches, nil
}

// notJSON says where data stops being JSON.
func notJSON(data []byte) error {
	var syntax *json.SyntaxError
	err := json.Unmarshal(data, new(any))
	switch {
	case !errors.As(err, &syntax):
		return errors.New("not JSON: the array is something else")
	case syntax.Offset >= int64(len(data)):
		return errors.New("not JSON: it ends too early")
	}
	line := 1 + bytes.Count(data[:syntax.Offset], []byte("\n"))
	return fmt.Errorf("not JSON: line %d, byte %d cannot be understood", line, syntax.Offset)
}

func parsePatch(data []byte) (p cairn.Patch, err error) {
	if !json.Valid(data) {
		return p, notJSON(data)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return p, fmt.Errorf("want an object {\"hash\", \"files\"}, not %s", kindOf(data))
	}
	hash, files := fields["hash"], fields["files"]
	switch {
	case hash == nil:
		return p, errors.New(`field "hash" is missing`)
	case files == nil:
		return p, errors.New(`field "files" is missing`)
	case kindOf(hash) != kindString:
		return p, fmt.Errorf(`field "hash" must be a string, not %s`, kindOf(hash))
	}
	if err := json.Unmarshal(hash, &p.Hash); err != nil {
		return p, fmt.Errorf(`field "hash": %w`, err)
	}
	p.Files, err = parseFiles(files)
	return p, err
}

// parseFiles takes null for an empty list, because that is what some encoders write.
func parseFiles(data json.RawMessage) ([]string, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf(`field "files" must be an array of strings, not %s`, kindOf(data))
	}
	files := make([]string, len(raw))
	for i, r := range raw {
		if kindOf(r) != kindString {
			return nil, fmt.Errorf(`field "files" must hold strings only, but element %d is %s`, i+1, kindOf(r))
		}
		var text string
		if err := json.Unmarshal(r, &text); err != nil {
			return nil, fmt.Errorf(`field "files", element %d: %w`, i+1, err)
		}
		path, err := pathtext.Decode(text)
		if err == nil && path == "" {
			err = errors.New("empty path")
		}
		if err != nil {
			return nil, fmt.Errorf(`field "files", element %d: %w`, i+1, err)
		}
		files[i] = path
	}
	return files, nil
}

const kindString = "a string"

// kindOf names what a valid JSON value is.
func kindOf(data []byte) string {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
		return "nothing"
	case data[0] == '"':
		return kindString
	case data[0] == '{':
		return "an object"
	case data[0] == '[':
		return "an array"
	case strings.ContainsRune("tf", rune(data[0])):
		return "a boolean"
	case data[0] == 'n':
		return "null"
	}
	return "a number"
}
