package cairn

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// TestResult is how a command ended on the files of a checkpoint.
type TestResult = history.TestResult

// NoteTest notes with a checkpoint how a command ended there. The caller has run it. It takes the place
// of an older result of the same command. The status is 0 to 255; TestSkipped means that the state
// cannot be tested. Results keep no checkpoint alive, and are not pushed: they hold for this machine.
func (r *Repo) NoteTest(ctx context.Context, t TestResult) error { return r.store.NoteTest(ctx, t) }

// TestResults lists the noted results in the order in which they were noted.
func (r *Repo) TestResults(ctx context.Context) ([]TestResult, error) {
	return r.store.TestResults(ctx)
}

// TestVerdicts tells by the id of a checkpoint whether all commands passed that were tried there. A
// checkpoint that no command could test is absent. The newest one that passed is the revision @green.
func TestVerdicts(all []TestResult) map[string]bool { return history.Verdicts(all) }

// TestSkipped is the exit status of a command that cannot test a state.
const TestSkipped = history.TestSkipped
