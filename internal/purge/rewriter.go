package purge

import (
	"github.com/seed-fb9cbc17/cairn/internal/capture"
)

// Rewriter rewrites the history of a store.
type Rewriter struct {
	*capture.Capturer
}
