package signature

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Statement says something about a store at a time.
type Statement struct {
	Store    string // id of the store
	Number   int    // in the list, from 1
	Time     time.Time
	Previous string // hash of the entry before, "-" for the first

	Line string    // name of the ref below refs/cairn/; "" = a rewriting
	Head object.ID // of the line

	Paths    int                     // of a rewriting: how many paths went
	Replaced map[object.ID]object.ID // new ids of commits, by the old ones
}

// The first lines of the texts.
const (
	headTitle    = "cairn head 1"
	rewriteTitle = "cairn rewrite 1"
)

// Text is the text that is signed.
func (s *Statement) Text() string {
	var b strings.Builder
	title := headTitle
	if s.Line == "" {
		title = rewriteTitle
	}
	fmt.Fprintf(&b, "%s\nstore %s\nnumber %d\ntime %s\nprevious %s\n", title, s.Store, s.Number, s.Time.UTC().Format(time.RFC3339Nano), s.Previous)
	if s.Line != "" {
		fmt.Fprintf(&b, "line %s\nhead %s\n", s.Line, s.Head)
		return b.String()
	}
	fmt.Fprintf(&b, "paths %d\n", s.Paths)
	var pairs []string
	for old, now := range s.Replaced {
		pairs = append(pairs, fmt.Sprintf("replaced %s %s\n", old, now))
	}
	slices.Sort(pairs)
	b.WriteString(strings.Join(pairs, ""))
	return b.String()
}

// Parse reads a text that Text has written, and refuses every other one.
func Parse(text string) (*Statement, error) {
	s := &Statement{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines[1:] {
		key, value, _ := strings.Cut(line, " ")
		if err := s.set(key, value); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
	}
	if s.Text() != text {
		return nil, fmt.Errorf("not the text of a statement, or that of a later release: %.40q", lines[0])
	}
	return s, nil
}

func (s *Statement) set(key, value string) (err error) {
	switch key {
	case "store":
		s.Store = value
	case "number":
		s.Number, err = strconv.Atoi(value)
	case "time":
		s.Time, err = time.Parse(time.RFC3339Nano, value)
	case "previous":
		s.Previous = value
	case "line":
		s.Line = value
	case "head":
		s.Head, err = object.ParseID(value)
	case "paths":
		s.Paths, err = strconv.Atoi(value)
	case "replaced":
		from, to, _ := strings.Cut(value, " ")
		var old, now object.ID
		if old, err = object.ParseID(from); err == nil {
			now, err = object.ParseID(to)
		}
		if s.Replaced == nil {
			s.Replaced = make(map[object.ID]object.ID)
		}
		s.Replaced[old] = now
	default:
		err = fmt.Errorf("unknown key %.40q", key)
	}
	return err
}

// Entry is a statement with its signature.
type Entry struct {
	Text      string `json:"text"`
	Signature string `json:"signature,omitempty"` // as ssh-keygen prints it; "" = the statement is not signed
}

// Hash is what the next entry calls this one.
func (e *Entry) Hash() string {
	sum := sha256.Sum256([]byte(e.Text + "\n" + e.Signature))
	return hex.EncodeToString(sum[:])
}
