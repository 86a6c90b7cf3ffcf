package gitrestore

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func TestMain(m *testing.M) {
	gittest.Prepare()
	m.Run()
}
