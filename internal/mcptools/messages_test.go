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
		"[]":                    `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the line is no message of JSON-RPC 2.0"}}`,
		"[1]":                   `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the array has something that is no message of JSON-RPC 2.0"}}]`,
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

// TestBatches: the answers to an array are one array, with an error for what is no message. The server goes on.
func TestBatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gittest.Tree{"a": gittest.File("1")})
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18"} {
		in, client := io.Pipe()
		answers, out := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- Serve(t.Context(), Options{Repo: w.repo}, in, out) }()
		read := bufio.NewScanner(answers)
		ask := func(line string) string {
			t.Helper()
			go io.WriteString(client, line+"\n")
			if !read.Scan() {
				t.Fatalf("%s: no answer to %s: %v", version, line, read.Err())
			}
			return read.Text()
		}
		ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
		io.WriteString(client, `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`+"\n")
		const ping = `{"jsonrpc":"2.0","id":%s,"method":"ping"}`
		got := ask(`[` + strings.Replace(ping, "%s", "1", 1) + `, 5, ` + strings.Replace(ping, "%s", `"b"`, 1) + `,{"id":"c"},` + strings.Replace(ping, "%s", "1", 1) + `]`)
		var list []struct {
			ID    any
			Error *struct{ Code int }
		}
		if err := json.Unmarshal([]byte(got), &list); err != nil || len(list) != 5 {
			t.Fatalf("%s: %s", version, got)
		}
		good, bad := make(map[any]bool), make(map[any]bool)
		for _, answer := range list {
			if answer.Error == nil {
				good[answer.ID] = true
			} else if bad[answer.ID] = true; answer.Error.Code != -32600 {
				t.Errorf("%s: %s", version, got)
			}
		}
		if len(good) != 2 || !good[1.0] || !good["b"] || len(bad) != 3 || !bad[nil] || !bad["c"] || !bad[1.0] {
			t.Errorf("%s: %s", version, got)
		}
		if got := ask(strings.Replace(ping, "%s", "1", 1)); !strings.Contains(got, `"id":1,`) || got[0] == '[' {
			t.Errorf("%s: then %s", version, got)
		}
		client.Close()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", version, err)
		}
	}
}
