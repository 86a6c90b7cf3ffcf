package object

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// CommitData is a decoded commit.
type CommitData struct {
	Tree      ID
	Parents   []ID
	Author    Signature
	Committer Signature
	Extra     []Header // headers after the committer, in order
	Message   string
}

// Header is one extra commit header. Newlines in the value become continuation
// lines; NUL is not allowed.
type Header struct{ Key, Value string }

// Header returns the value of the first extra header of that key, or "".
func (c *CommitData) Header(key string) string {
	for _, h := range c.Extra {
		if h.Key == key {
			return h.Value
		}
	}
	return ""
}

// ownKeys are the headers that every commit has, in the order that git demands.
var ownKeys = []string{"tree", "parent", "author", "committer"}

// AppendCommit appends the encoding of c. What git's fsck refuses in a signature
// is dropped; a NUL in a header or the message, and an extra header that could not
// be told from another, are errors.
func AppendCommit(dst []byte, c *CommitData) ([]byte, error) {
	dst = slices.Grow(dst, c.usualSize())
	dst = append(dst, "tree "+c.Tree.String()+"\n"...)
	for _, p := range c.Parents {
		dst = append(dst, "parent "+p.String()+"\n"...)
	}
	dst = appendSignature(append(dst, "author "...), c.Author)
	dst = appendSignature(append(dst, "committer "...), c.Committer)
	for _, h := range c.Extra {
		if !validKey(h.Key) || strings.IndexByte(h.Value, 0) >= 0 {
			return nil, fmt.Errorf("%w: commit header %q", ErrMalformed, h.Key)
		}
		dst = append(append(dst, h.Key...), ' ')
		dst = append(append(dst, strings.ReplaceAll(h.Value, "\n", "\n ")...), '\n')
	}
	if strings.IndexByte(c.Message, 0) >= 0 {
		return nil, fmt.Errorf("%w: NUL in a commit message", ErrMalformed)
	}
	return append(append(dst, '\n'), c.Message...), nil
}

// usualSize is how long the encoding is where no header has several lines: some of them are
// long, and to grow up to them would copy them several times.
func (c *CommitData) usualSize() int {
	n := 512 + 64*len(c.Parents) + len(c.Message)
	for _, h := range c.Extra {
		n += len(h.Key) + len(h.Value) + 2
	}
	return n
}

func validKey(key string) bool {
	return key != "" && !strings.ContainsAny(key, " \n\x00") && !slices.Contains(ownKeys, key)
}

// ParseCommit decodes a commit. Headers that it does not know are kept in Extra.
// It is as strict as AppendCommit, so that encoding the result again gives the
// same commit.
func ParseCommit(data []byte) (*CommitData, error) {
	if bytes.IndexByte(data, 0) >= 0 {
		return nil, fmt.Errorf("%w: NUL in a commit", ErrMalformed)
	}
	head, message, ok := strings.Cut(string(data), "\n\n")
	if !ok {
		return nil, fmt.Errorf("%w: commit without an end of headers", ErrMalformed)
	}
	c := &CommitData{Message: message}
	if err := c.assign(splitHeaders(head)); err != nil {
		return nil, err
	}
	return c, nil
}

func splitHeaders(head string) []Header {
	headers := make([]Header, 0, strings.Count(head, "\n")+1)
	for head != "" {
		var header string
		header, head = cutHeader(head)
		line, more, long := strings.Cut(header, "\n ")
		key, value, _ := strings.Cut(line, " ")
		if long {
			value += "\n" + strings.ReplaceAll(more, "\n ", "\n")
		}
		headers = append(headers, Header{key, value})
	}
	return headers
}

// cutHeader splits off the first header with its continuation lines, which begin
// with a blank.
func cutHeader(head string) (header, rest string) {
	end := 0
	for {
		n := strings.IndexByte(head[end:], '\n')
		if n < 0 {
			return head, ""
		}
		end += n + 1
		if end == len(head) || head[end] != ' ' {
			return head[:end-1], head[end:]
		}
	}
}

// assign takes the headers apart in the order in which AppendCommit writes them.
func (c *CommitData) assign(headers []Header) (err error) {
	take := func(key string) (value string, ok bool) {
		if len(headers) == 0 || headers[0].Key != key {
			return "", false
		}
		value, headers = headers[0].Value, headers[1:]
		return value, true
	}
	value, _ := take("tree")
	if c.Tree, err = ParseID(value); err != nil {
		return fmt.Errorf("commit header tree: %w", err)
	}
	for value, ok := take("parent"); ok; value, ok = take("parent") {
		p, err := ParseID(value)
		if err != nil {
			return fmt.Errorf("commit header parent: %w", err)
		}
		c.Parents = append(c.Parents, p)
	}
	value, _ = take("author")
	if c.Author, err = parseSignature(value); err != nil {
		return fmt.Errorf("commit header author: %w", err)
	}
	value, _ = take("committer")
	if c.Committer, err = parseSignature(value); err != nil {
		return fmt.Errorf("commit header committer: %w", err)
	}
	for _, h := range headers {
		if !validKey(h.Key) {
			return fmt.Errorf("%w: commit header %q out of place", ErrMalformed, h.Key)
		}
	}
	if len(headers) > 0 {
		c.Extra = headers
	}
	return nil
}
