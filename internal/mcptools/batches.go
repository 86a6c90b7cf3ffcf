package mcptools

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// batches takes arrays of messages apart, and collects the answers to the requests of each. So an array with a message
// that cannot be used gets an error in that place, and the others count. The transport would end the connection there,
// as it does at every array in the versions of the protocol that have none.
type batches struct {
	out io.Writer

	mu   sync.Mutex // also keeps answers apart
	open map[any]*batch
}

// batch is an array whose requests have not all been answered.
type batch struct {
	waits   int // for answers
	answers []json.RawMessage
}

// take returns what a line of the client has for the server, each message on a line of its own, and what is
// to be answered at once.
func (b *batches) take(line []byte) (pass, answer []byte) {
	code, problem := faultOf(line)
	var list []json.RawMessage
	switch isArray := line[0] == '[' && code == jsonrpc.CodeInvalidRequest && json.Unmarshal(line, &list) == nil; {
	case isArray && len(list) > 0:
		return b.begin(list)
	case problem != "":
		return nil, errorAnswer(idOf(line), code, problem)
	}
	return append(line, '\n'), nil
}

func (b *batches) begin(list []json.RawMessage) (pass, answer []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := new(batch)
	for _, message := range list {
		id, problem := b.requestID(message)
		if problem != "" {
			all.answers = append(all.answers, errorAnswer(idOf(message), jsonrpc.CodeInvalidRequest, problem))
			continue
		}
		if id != nil {
			b.open[id] = all
			all.waits++
		}
		pass = append(append(pass, message...), '\n')
	}
	return pass, all.answer()
}

// requestID returns the id of a request, nil for a message that wants no answer, and what keeps the message from being
// used.
func (b *batches) requestID(message []byte) (id any, problem string) {
	if _, problem = faultOf(message); problem != "" {
		return nil, "the array has something that is no message of JSON-RPC 2.0"
	}
	decoded, _ := jsonrpc.DecodeMessage(message)
	request, is := decoded.(*jsonrpc.Request)
	if !is || !request.IsCall() {
		return nil, ""
	}
	id = request.ID.Raw()
	if b.open[id] != nil {
		return nil, "a request with this id has no answer yet"
	}
	return id, ""
}

// answer is the answer to the array, nil while some of it is missing and where none is wanted.
func (a *batch) answer() []byte {
	if a.waits > 0 || len(a.answers) == 0 {
		return nil
	}
	data, err := json.Marshal(a.answers)
	if err != nil {
		return nil
	}
	return data
}

// Write implements io.Writer. The server writes each message at once.
func (b *batches) Write(message []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.of(message)
	if all == nil {
		return b.out.Write(message)
	}
	all.waits--
	all.answers = append(all.answers, bytes.TrimSpace(bytes.Clone(message)))
	answer := all.answer()
	if answer == nil {
		return len(message), nil
	}
	_, err := b.out.Write(append(answer, '\n'))
	return len(message), err
}

// of returns the array that a message answers a part of, nil for any other message.
func (b *batches) of(message []byte) *batch {
	if len(b.open) == 0 {
		return nil
	}
	decoded, err := jsonrpc.DecodeMessage(message)
	response, is := decoded.(*jsonrpc.Response)
	if err != nil || !is {
		return nil
	}
	id := response.ID.Raw()
	all := b.open[id]
	delete(b.open, id)
	return all
}
