package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/httpapi"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// failure is an error with --json: the last line of stderr is {"error": failure}.
type failure struct {
	Status  int    `json:"status"` // of the process
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // the next step
}

// wantsJSON reports whether --json was given, also where the command line could not be
// parsed up to it.
func (c *cli) wantsJSON() bool {
	args := c.args
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return c.global.json || c.running == "" && slices.Contains(args, "--json")
}

// failureOf describes an error that ends the process.
func failureOf(ctx context.Context, err error) failure {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return failure{Status: exitInterrupted, Code: "interrupted", Message: "interrupted"}
	}
	return failure{status(err), code(err), strings.Join(messages(err), "\n"), hint(err)}
}

// code names the kind of an error, as the server does in a problem's type.
func code(err error) string {
	var usage *usageError
	kind := httpapi.KindOf(err)
	switch {
	case errors.As(err, &usage):
		return "usage"
	case isConfigError(err):
		return "config"
	case kind != protocol.Internal:
		return string(kind)
	case errors.Is(err, cairn.ErrCorrupt):
		return "corrupt"
	case errors.Is(err, cairn.ErrStore):
		return "store"
	case errors.Is(err, cairn.ErrBundle):
		return "bundle"
	}
	return "failed"
}

// fail prints an error as JSON.
func (c *cli) fail(f failure) int {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]failure{"error": f}); err == nil {
		c.console.repeat(line.String())
	}
	return f.Status
}
