package mcptools

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// messages passes on the lines of a client that hold messages, and answers each other line with an error. The
// transport would end the connection there. The messages of an array go on one by one, see batches.
type messages struct {
	in      *bufio.Reader
	batches *batches

	line []byte // what is left to pass on
}

// Read implements io.Reader.
func (l *messages) Read(p []byte) (int, error) {
	for len(l.line) == 0 {
		line, err := l.next()
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			return 0, err
		}
		if len(line) == 0 {
			continue
		}
		var answer []byte
		if l.line, answer = l.batches.take(line); len(answer) == 0 {
			continue
		}
		if _, err := l.batches.Write(append(answer, '\n')); err != nil {
			return 0, err
		}
	}
	n := copy(p, l.line)
	l.line = l.line[n:]
	return n, nil
}

// next reads a line, without its end. Of one that is too long it keeps a beginning that is still too long.
func (l *messages) next() (line []byte, err error) {
	for {
		piece, err := l.in.ReadSlice('\n')
		if len(line) <= mcp.DefaultMaxLineLength {
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), err
		}
	}
}

// faultOf returns what keeps a line from being a message, and the code of JSON-RPC for that.
func faultOf(line []byte) (code int, problem string) {
	switch {
	case len(line) >= mcp.DefaultMaxLineLength:
		return jsonrpc.CodeParseError, "the line is too long"
	case !json.Valid(line):
		return jsonrpc.CodeParseError, "the line is not JSON"
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return jsonrpc.CodeInvalidRequest, "the line is no message of JSON-RPC 2.0"
	}
	return 0, ""
}

func errorAnswer(id string, code int, problem string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, problem)
}

// idOf returns the id of a request that is no message otherwise, null if there is none.
func idOf(line []byte) string {
	var request struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &request) == nil {
		var id any
		switch _ = json.Unmarshal(request.ID, &id); id.(type) {
		case string, float64:
			return string(request.ID)
		}
	}
	return "null"
}
