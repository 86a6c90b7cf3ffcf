package trial

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("CAIRN_TEST_BISECT"); dir != "" { // the process that gets killed
		if _, err := site(dir).search(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	gittest.Prepare()
	m.Run()
}
