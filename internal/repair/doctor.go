package repair

import (
	"github.com/seed-fb9cbc17/cairn/internal/purge"
)

// Doctor checks and repairs one store.
type Doctor struct {
	*purge.Rewriter
}
