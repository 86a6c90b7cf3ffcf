package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/seed-fb9cbc17/cairn/session"
)

// StepBegin describes a step that begins.
type StepBegin struct {
	MessageID string            `json:"messageID,omitempty" maxLength:"1024" doc:"By default the newest one."`
	Role      string            `json:"role,omitempty" maxLength:"200" doc:"Of a message that is new: user begins a turn."`
	StepID    string            `json:"stepID,omitempty" maxLength:"1024" doc:"By default a name is made up."`
	Prompt    string            `json:"prompt,omitempty" maxLength:"1048576"`
	Paths     []string          `json:"paths,omitempty" maxItems:"10000" doc:"What the step's tools are going to change, as far as that is known."`
	Meta      map[string]string `json:"meta,omitempty"`

	Owner []session.Process `json:"processes,omitempty" maxItems:"64" doc:"Processes whose step it is: it counts as running as long as one of them lives. Where none is named, or none can be seen from the server, the lease decides."`
	Lease int64             `json:"leaseSeconds,omitempty" minimum:"1" maximum:"2592000" doc:"Seconds for which the step counts as running after the last event of its session, by default 3600. A hint without paths is an event. Afterwards the step counts as ended with the last state that was captured in it; an end that comes later still ends it with the state of then."`
}

// owner returns the owner of the step, which is never this server.
func (b *StepBegin) owner() *session.Owner {
	return &session.Owner{Processes: b.Owner, Lease: time.Duration(b.Lease) * time.Second}
}

// StepEnd describes the end of a step.
type StepEnd struct {
	Parts []session.Part `json:"parts,omitempty" maxItems:"10000"`
	Paths []string       `json:"paths,omitempty" maxItems:"10000" doc:"What its tools changed, as far as that is known."`
	Gone  bool           `json:"gone,omitempty" doc:"Its owner is gone: the step ends with the last state that was captured in it."`
}

// MessageBegin describes a message without a step, or before its first one.
type MessageBegin struct {
	MessageID string            `json:"messageID" minLength:"1" maxLength:"1024"`
	Role      string            `json:"role,omitempty" maxLength:"200"`
	Prompt    string            `json:"prompt,omitempty" maxLength:"1048576"`
	Parts     []session.Part    `json:"parts,omitempty" maxItems:"10000"`
	Meta      map[string]string `json:"meta,omitempty"`
}

// InStep is the input of an operation on a step.
type InStep struct {
	InRecording
	Step string `path:"step" maxLength:"1024"`
}

func (s *Server) stepOperations() {
	onProject(s, endpoint{
		id: "add-message", method: http.MethodPost, path: "/session/{id}/messages", tag: "steps", create: true, summary: "Record a message",
	}, func(ctx context.Context, p *Project, in *struct {
		InRecording
		Body MessageBegin
	}) (*session.Message, error) {
		b := in.Body
		return p.Sessions.AddMessage(ctx, session.MessageBegin{
			Session: in.ID, Message: b.MessageID, Role: b.Role, Prompt: b.Prompt, Parts: b.Parts, Meta: b.Meta,
		})
	})
	register(s, endpoint{
		id: "begin-step", method: http.MethodPost, path: "/session/{id}/steps", tag: "steps", summary: "Begin a step: the state before is captured",
		description: "Session and message are begun if they are new; a step that is open is ended first.",
	}, func(ctx context.Context, in *struct {
		InRecording
		Body StepBegin
	}) (*body[*session.Step], error) {
		b := in.Body
		paths, err := decodePaths("body.paths", b.Paths)
		if err != nil {
			return nil, err
		}
		p, err := s.in(ctx, in.InProject, true)
		if err != nil {
			return nil, err
		}
		step, err := p.Sessions.BeginStep(ctx, session.StepBegin{
			Session: in.ID, Message: b.MessageID, Role: b.Role, Step: b.StepID, Prompt: b.Prompt, Paths: paths, Meta: b.Meta, Owner: b.owner(),
		})
		return &body[*session.Step]{step}, err
	})
	silently(s, endpoint{
		id: "hint-step", method: http.MethodPost, path: "/session/{id}/steps/{step}/hint", tag: "steps",
		summary:     "Note paths that a tool of the step names",
		description: "Without paths it renews the lease of the step.",
	}, func(ctx context.Context, p *Project, in *struct {
		InStep
		Body struct {
			Paths []string `json:"paths" maxItems:"10000"`
		}
	}) error {
		paths, err := decodePaths("body.paths", in.Body.Paths)
		if err != nil {
			return err
		}
		return p.Sessions.Hint(ctx, in.ID, in.Step, paths)
	})
	s.stepEnd()
}

func (s *Server) stepEnd() {
	onProject(s, endpoint{
		id: "end-step", method: http.MethodPost, path: "/session/{id}/steps/{step}/end", tag: "steps", summary: "End a step: the state after is captured",
		description: "Ending it again changes nothing.",
	}, func(ctx context.Context, p *Project, in *struct {
		InStep
		Body *StepEnd
	}) (*session.Step, error) {
		b := either(in.Body, &StepEnd{})
		paths, err := decodePaths("body.paths", b.Paths)
		if err != nil {
			return nil, err
		}
		return p.Sessions.EndStep(ctx, session.StepEnd{Session: in.ID, Step: in.Step, Parts: b.Parts, Paths: paths, Gone: b.Gone})
	})
}
