package report

import (
	"bytes"
	"encoding/json"
	"io"
)

// WriteJSON writes v with one line for each element of the lists in it, so that
// thousands of measurements stay readable and comparable line by line.
func WriteJSON(w io.Writer, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(outline(data), '\n'))
	return err
}

// outline breaks compact JSON into lines: objects that hold objects or lists of
// objects are spread out, all others stay in one.
func outline(data []byte) []byte {
	var text bytes.Buffer
	depth, open := 0, make([]bool, 1) // whether the object or list at each depth is spread out
	newLine := func() {
		text.WriteByte('\n')
		for range depth {
			text.WriteString("  ")
		}
	}
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '"':
			end := stringEnd(data, i)
			text.Write(data[i:end])
			i = end - 1
		case '{', '[':
			text.WriteByte(c)
			open = append(open, holdsMore(data[i:]))
			if depth++; open[depth] {
				newLine()
			}
		case '}', ']':
			spread := open[depth]
			open = open[:depth]
			if depth--; spread {
				newLine()
			}
			text.WriteByte(c)
		case ',':
			text.WriteByte(c)
			if open[depth] {
				newLine()
			} else {
				text.WriteByte(' ')
			}
		case ':':
			text.WriteString(": ")
		default:
			text.WriteByte(c)
		}
	}
	return text.Bytes()
}

// holdsMore reports whether the object or list at the beginning of data holds
// objects, at any depth.
func holdsMore(data []byte) bool {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = stringEnd(data, i) - 1
		case '{', '[':
			if depth++; depth > 1 && data[i] == '{' {
				return true
			}
		case '}', ']':
			if depth--; depth == 0 {
				return false
			}
		}
	}
	return false
}

// stringEnd is the index behind the string that begins at i.
func stringEnd(data []byte, i int) int {
	for i++; data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i + 1
}
