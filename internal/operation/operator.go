package operation

import (
	"github.com/seed-fb9cbc17/cairn/internal/capture"
)

// Operator carries out operations.
type Operator struct {
	*capture.Capturer
}
