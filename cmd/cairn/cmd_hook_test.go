package main

import (
	"encoding/json"
	"os"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/relay"
)

// feedHook is a program for scripts: the hook of the agent that the first argument
// names, with the second on stdin. If that is a JSON object it is told of a session and
// the current directory.
func feedHook(cairn func()) {
	text := []byte(os.Args[2])
	var fields map[string]any
	if json.Unmarshal(text, &fields) == nil {
		fields["cwd"], _ = os.Getwd()
		fields["session_id"], fields["session"] = "s-"+os.Args[1], "s-"+os.Args[1]
		text, _ = json.Marshal(fields)
	}
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	go func() {
		w.Write(text)
		w.Close()
	}()
	os.Stdin, os.Args = r, []string{"cairn", "hook", os.Args[1]}
	relay.Hand() // as at the start of the program
	cairn()
}
