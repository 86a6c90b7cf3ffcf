package cairn

import (
	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// differ compares states of a store.
type differ struct {
	*history.Store
}
