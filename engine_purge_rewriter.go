package cairn

import (
	"github.com/seed-fb9cbc17/cairn/internal/capture"
)

// rewriter rewrites the history of a store.
type rewriter struct {
	*capture.Capturer
}
