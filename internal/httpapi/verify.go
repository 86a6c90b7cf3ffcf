package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// SignedLines names the lines whose heads were signed.
type SignedLines struct {
	Lines []string `json:"lines"`
}

// verifyOperations check what the history says, and sign it.
func (s *Server) verifyOperations() {
	onProject(s, endpoint{
		id: "sign", method: http.MethodPost, path: "/sign", tag: "stores", summary: "Sign the heads that have moved, with the key of the setting sign",
	}, func(ctx context.Context, p *Project, _ *InProject) (SignedLines, error) {
		lines, err := p.Repo.Sign(ctx)
		return SignedLines{append([]string{}, lines...)}, err
	})
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
