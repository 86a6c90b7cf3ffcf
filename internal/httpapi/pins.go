package httpapi

import (
	"context"
	"net/http"

	"github.com/seed-fb9cbc17/cairn"
)

type InPin struct {
	InProject
	Name string `path:"name" maxLength:"200"`
}

func (s *Server) pinOperations() {
	register(s, endpoint{
		id: "list-pins", method: http.MethodGet, path: "/pins", tag: "pins", summary: "The names that checkpoints were given",
	}, func(ctx context.Context, in *InProject) (*body[[]cairn.Pin], error) {
		p, err := s.in(ctx, *in, false)
		if err != nil {
			return nil, err
		}
		list, err := p.Repo.Pins(ctx)
		return &body[[]cairn.Pin]{append([]cairn.Pin{}, list...)}, err
	})
	register(s, endpoint{
		id: "pin", method: http.MethodPut, path: "/pins/{name}", tag: "pins", status: http.StatusNoContent, summary: "Give a checkpoint a name",
		description: "It is then never cleaned away. 409 if another checkpoint has the name.",
	}, func(ctx context.Context, in *struct {
		InPin
		Body struct {
			Hash string `json:"hash" minLength:"1" maxLength:"200"`
		}
	}) (*struct{}, error) {
		p, err := s.in(ctx, in.InProject, false)
		if err != nil {
			return nil, err
		}
		return nil, p.Repo.Pin(ctx, in.Body.Hash, in.Name)
	})
	register(s, endpoint{
		id: "unpin", method: http.MethodDelete, path: "/pins/{name}", tag: "pins", status: http.StatusNoContent, summary: "Take a name away",
	}, func(ctx context.Context, in *InPin) (*struct{}, error) {
		p, err := s.in(ctx, in.InProject, false)
		if err != nil {
			return nil, err
		}
		return nil, p.Repo.Unpin(ctx, in.Name)
	})
}
