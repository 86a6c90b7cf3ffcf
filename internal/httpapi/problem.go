package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// Problem is the form of an error: a problem document of RFC 9457.
type Problem = huma.ErrorModel

// problem makes an error that is answered with a status of its own.
func problem(status int, kind protocol.Kind, format string, args ...any) *Problem {
	return &Problem{
		Type: kind.URI(), Title: title(status), Status: status, Detail: clean(fmt.Sprintf(format, args...)),
	}
}

// badField returns a 400 that names the wrong field.
func badField(location, value, message string) *Problem {
	p := problem(http.StatusBadRequest, protocol.BadRequest, "%s: %s", location, message)
	p.Errors = []*huma.ErrorDetail{{Location: location, Message: message, Value: shorten(value)}}
	return p
}

func title(status int) string {
	if status == statusGone {
		return "Client Closed Request"
	}
	return http.StatusText(status)
}

// statusGone is for the log only: the client has hung up.
const statusGone = 499

// Unreachable turns an error about a remote that is none of the library's into a 502.
func Unreachable(err error) error {
	if StatusOf(err) != http.StatusInternalServerError {
		return err
	}
	return problem(http.StatusBadGateway, protocol.Unreachable, "%v", err)
}

// StatusOf returns the status for an error of the library or of this package. Unknown
// errors are 500.
func StatusOf(err error) int {
	var known huma.StatusError
	if errors.As(err, &known) {
		return known.GetStatus()
	}
	return statusOfKind(kindOf(err), err)
}

// kindOf returns the kind of an error of the library or of this package.
func kindOf(err error) protocol.Kind {
	if errors.Is(err, errGoingBack) {
		return protocol.Busy
	}
	return answers.KindOf(err)
}

// statuses has the kinds of errors that are no 409.
var statuses = map[protocol.Kind]int{
	protocol.Internal:    http.StatusInternalServerError,
	protocol.Expired:     http.StatusGone,
	protocol.NotFound:    http.StatusNotFound,
	protocol.BadRoot:     http.StatusNotFound,
	protocol.BadRequest:  http.StatusBadRequest,
	protocol.BadID:       http.StatusBadRequest,
	protocol.BadName:     http.StatusBadRequest,
	protocol.BadPlace:    http.StatusBadRequest,
	protocol.Ambiguous:   http.StatusBadRequest,
	protocol.Outside:     http.StatusBadRequest,
	protocol.Sealed:      http.StatusLocked,
	protocol.Unreachable: http.StatusGatewayTimeout,
}

func statusOfKind(kind protocol.Kind, err error) int {
	if kind == protocol.Refused && errors.Is(err, cairn.ErrNoSpace) {
		return http.StatusInsufficientStorage
	}
	if status := statuses[kind]; status != 0 {
		return status
	}
	return http.StatusConflict
}

// problemOf turns an error of the library into a problem. It logs unknown errors.
func (s *Server) problemOf(ctx context.Context, err error) error {
	var known huma.StatusError
	if errors.As(err, &known) {
		return err
	}
	if ctx.Err() != nil {
		return problem(statusGone, protocol.Internal, "the client has hung up")
	}
	if kind := kindOf(err); kind != protocol.Internal {
		return problem(statusOfKind(kind, err), kind, "%v", err)
	}
	s.opt.Logger.Error("a request failed", "error", err)
	return problem(http.StatusInternalServerError, protocol.Internal, "%v", err)
}

// answerProblems lets the checks of the input answer 400, as the specification has
// it, where huma's default is 422.
func answerProblems(ctx huma.Context, next func(huma.Context)) { next(statusContext{ctx}) }

type statusContext struct{ humaContext }

// humaContext is a name under which a struct can embed huma's context: its own name is
// that of one of its methods.
type humaContext = huma.Context

func (c statusContext) SetStatus(code int) { c.humaContext.SetStatus(statusFor(code)) }

// Unwrap lets the adapter find its own context.
func (c statusContext) Unwrap() huma.Context { return c.humaContext }

func statusFor(code int) int {
	if code == http.StatusUnprocessableEntity {
		return http.StatusBadRequest
	}
	return code
}

// tidyProblem completes the problem documents that huma itself makes: the kind, the
// field in the text for people, and no more of a bad value than helps to find it.
func tidyProblem(_ huma.Context, _ string, v any) (any, error) {
	p, ok := v.(*Problem)
	if !ok {
		return v, nil
	}
	out := *p
	out.Status = statusFor(p.Status)
	out.Title = title(out.Status)
	if out.Type == "" {
		out.Type = kindOfStatus(out.Status).URI()
	}
	out.Errors = nil
	var fields []string
	for _, d := range p.Errors {
		if d == nil {
			continue
		}
		d := &huma.ErrorDetail{Location: clean(d.Location), Message: clean(shorten(inWords(d.Message))), Value: shortenAny(d.Value)}
		out.Errors = append(out.Errors, d)
		fields = append(fields, d.Location+": "+d.Message)
	}
	if len(fields) > 0 && p.Type == "" {
		out.Detail = strings.Join(fields[:min(len(fields), 5)], "; ")
	}
	return &out, nil
}

// inWords rephrases the complaints of the JSON decoder for people.
func inWords(message string) string {
	if strings.HasPrefix(message, "unexpected end of JSON") {
		return "not JSON: it ends too early"
	}
	if rest, ok := strings.CutPrefix(message, "invalid character "); ok {
		char, _, _ := strings.Cut(rest, " ")
		return "not JSON: " + char + " was not expected"
	}
	return message
}

func kindOfStatus(status int) protocol.Kind {
	switch status {
	case http.StatusUnauthorized:
		return protocol.Unauthorized
	case http.StatusForbidden:
		return protocol.Forbidden
	case http.StatusNotFound:
		return protocol.NotFound
	case http.StatusPreconditionFailed:
		return protocol.Mismatch
	case http.StatusRequestEntityTooLarge:
		return protocol.TooLarge
	case http.StatusTooManyRequests:
		return protocol.TooMany
	}
	if status >= 500 {
		return protocol.Internal
	}
	return protocol.BadRequest
}

// maxEcho is the limit on a bad value in an answer, in bytes.
const maxEcho = 200

func shorten(text string) string {
	if len(text) <= maxEcho {
		return clean(text)
	}
	cut := maxEcho
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return clean(text[:cut]) + "..."
}

func shortenAny(v any) any {
	switch v := v.(type) {
	case nil, bool, float64, int64, uint64:
		return v
	case string:
		return shorten(v)
	}
	return nil
}

// clean keeps a text valid UTF-8.
func clean(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
