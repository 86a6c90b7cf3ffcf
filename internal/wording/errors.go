package wording

import (
	"io/fs"
	"strings"
)

// Parts takes apart what errors.Join has joined, however deep. An error with a text of
// its own around others, as fmt.Errorf makes it, is one part.
func Parts(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var list []error
	var texts []string
	for _, e := range joined.Unwrap() {
		list = append(list, Parts(e)...)
		texts = append(texts, e.Error())
	}
	if strings.Join(texts, "\n") != err.Error() {
		return []error{err}
	}
	return list
}

// Messages is the text of an error, one line for each part.
func Messages(err error) []string {
	var lines []string
	for _, e := range Parts(err) {
		lines = append(lines, Plain(e))
	}
	return lines
}

// Plain is the text of an error without the names of system calls.
func Plain(err error) string {
	text := err.Error()
	for _, e := range chain(err) {
		if fault, ok := e.(*fs.PathError); ok {
			text = strings.ReplaceAll(text, fault.Op+" "+fault.Path+": ", fault.Path+": ")
		}
	}
	return text
}

// chain lists an error and all errors that it wraps.
func chain(err error) []error {
	list := []error{err}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			list = append(list, chain(inner)...)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			list = append(list, chain(inner)...)
		}
	}
	return list
}
