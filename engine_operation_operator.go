package cairn

import (
	"github.com/seed-fb9cbc17/cairn/internal/capture"
)

// operator carries out operations.
type operator struct {
	*capture.Capturer
}
