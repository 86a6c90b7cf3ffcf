package mcptools

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestServeGoesOn: a line that is no message is answered with an error, and the next one counts.
func TestServeGoesOn(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	w := newWorld(t, gittest.Tree{"a": gittest.File("1")})
	const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	for line, want := range map[string]string{
		"garbage":               `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON"}}`,
		`{"jsonrpc":"2.0",`:     `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON"}}`,
		"\xff\x00":              `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON"}}`,
		ping + ping:             `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON"}}`,
		"42":                    `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the line is no message of JSON-RPC 2.0"}}`,
		"null":                  `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the line is no message of JSON-RPC 2.0"}}`,
		`{"id":"x","method":1}`: `{"jsonrpc":"2.0","id":"x","error":{"code":-32600,"message":"the line is no message of JSON-RPC 2.0"}}`,
		`{"id":[1]}`:            `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the line is no message of JSON-RPC 2.0"}}`,
		" \t\r":                 "",
		`"` + strings.Repeat("a", 2*mcp.DefaultMaxLineLength) + `"`: `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is too long"}}`,
	} {
		name := line[:min(len(line), 50)]
		in, client := io.Pipe()
		answers, out := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- Serve(t.Context(), Options{Repo: w.repo}, in, out) }()
		go io.WriteString(client, line+"\n"+ping+"\n")
		read := bufio.NewScanner(answers)
		if want != "" && (!read.Scan() || read.Text() != want) {
			t.Errorf("%s: %s", name, read.Text())
		}
		var last struct {
			ID int `json:"id"`
		}
		if !read.Scan() || json.Unmarshal(read.Bytes(), &last) != nil || last.ID != 7 {
			t.Errorf("%s: then %s", name, read.Text())
		}
		client.Close()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
