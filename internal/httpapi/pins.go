package httpapi

import (
	"context"
	"net/http"

	"github.com/seed-fb9cbc17/cairn"
)

// InPin is the input of an operation on a pin.
type InPin struct {
	InProject
	Name string `path:"name" maxLength:"200"`
}

func (s *Server) pinOperations() {
	onProject(s, endpoint{
		id: "list-pins", method: http.MethodGet, path: "/pins", tag: "pins", summary: "The names that checkpoints were given",
	}, func(ctx context.Context, p *Project, _ *InProject) ([]cairn.Pin, error) {
		list, err := p.Repo.Pins(ctx)
		return append([]cairn.Pin{}, list...), err
	})
	silently(s, endpoint{
		id: "pin", method: http.MethodPut, path: "/pins/{name}", tag: "pins", summary: "Give a checkpoint a name",
		description: "It is then never cleaned away. 409 if another checkpoint has the name.",
	}, func(ctx context.Context, p *Project, in *struct {
		InPin
		Body struct {
			Hash string `json:"hash" minLength:"1" maxLength:"200"`
		}
	}) error {
		return p.Repo.Pin(ctx, in.Body.Hash, in.Name)
	})
	silently(s, endpoint{
		id: "unpin", method: http.MethodDelete, path: "/pins/{name}", tag: "pins", summary: "Take a name away",
	}, func(ctx context.Context, p *Project, in *InPin) error { return p.Repo.Unpin(ctx, in.Name) })
}
