package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// verifyOperations check what the history says.
func (s *Server) verifyOperations() {
	onProject(s, endpoint{
		id: "verify", method: http.MethodGet, path: "/verify", tag: "stores", summary: "Whether the history is whole and linked as it says",
		description: "It reads every file of every checkpoint that it is asked about.",
	}, func(ctx context.Context, p *Project, in *struct {
		InProject
		Since time.Time `query:"since" doc:"Only checkpoints that are not older."`
		After string    `query:"after" maxLength:"200" doc:"Only checkpoints that are neither this one, a hash, nor before it."`
	}) (*cairn.VerifyReport, error) {
		return p.Repo.Verify(ctx, cairn.VerifyOptions{Since: in.Since, After: in.After})
	})
}
