package gitstate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// The parts of nested repositories lie below "nested/<number>/". The part "place" there is the path.
const (
	partNested = "nested/"
	partPlace  = "place"
)

// addNested adds the parts of the nested repositories, numbered in the order of their paths.
func (r *Record) addNested(parts map[string][]byte) {
	for i, place := range slices.Sorted(maps.Keys(r.Nested)) {
		prefix := fmt.Sprintf("%s%04d/", partNested, i)
		parts[prefix+partPlace] = []byte(strconv.Quote(place) + "\n")
		for name, data := range r.Nested[place].Parts() {
			parts[prefix+name] = data
		}
	}
}

func (r *Record) parseNested(parts map[string][]byte) error {
	each := make(map[string]map[string][]byte)
	for name, data := range parts {
		below, ok := strings.CutPrefix(name, partNested)
		number, rest, deeper := strings.Cut(below, "/")
		if !ok || !deeper {
			continue
		}
		if each[number] == nil {
			each[number] = make(map[string][]byte)
		}
		each[number][rest] = data
	}
	for number, parts := range each {
		place, err := strconv.Unquote(strings.TrimSuffix(string(parts[partPlace]), "\n"))
		if err != nil {
			return fmt.Errorf("record of a git repository: place of nested repository %s: %w", number, err)
		}
		sub, err := Parse(parts)
		if err != nil {
			return err
		}
		if r.Nested == nil {
			r.Nested = make(map[string]*Record)
		}
		r.Nested[place] = sub
	}
	return nil
}

// NestedMove is what differs in a nested repository.
type NestedMove struct {
	Place string // path from the root
	*Movement
}

// nestedMoves compares the nested repositories of two states.
func nestedMoves(from, to map[string]*Record) (list []NestedMove) {
	places := make(map[string]bool)
	for _, of := range []map[string]*Record{from, to} {
		for place := range of {
			places[place] = true
		}
	}
	for _, place := range slices.Sorted(maps.Keys(places)) {
		if m := Compare(from[place], to[place]); !m.None() {
			list = append(list, NestedMove{place, m})
		}
	}
	return list
}

func (m *NestedMove) words(count func(from, to string) (int, bool)) (list []string) {
	for _, text := range m.Words(count) {
		list = append(list, "in "+pathtext.Quote(m.Place)+" "+text)
	}
	return list
}
