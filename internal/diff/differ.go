package diff

import (
	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// Differ compares states of a store.
type Differ struct {
	*history.Store
}
