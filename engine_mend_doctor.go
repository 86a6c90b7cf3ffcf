package cairn

import (
	"github.com/seed-fb9cbc17/cairn/internal/purge"
)

// doctor checks and mends one store.
type doctor struct {
	*purge.Rewriter
}
