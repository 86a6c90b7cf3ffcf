package history

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// RefTests leads to a blob with the results of tests, one a line in JSON. It keeps no checkpoint alive.
const RefTests = RefRoot + "tests"

// maxTestResults is the number of results that are kept; older ones are dropped.
const maxTestResults = 10_000

// TestSkipped is the exit status that says that a state cannot be tested, as in git bisect run.
const TestSkipped = 125

// TestResult is how a command ended on the files of a checkpoint.
type TestResult struct {
	Checkpoint   string      `json:"checkpoint" doc:"Id of the commit."`
	Command      state.Paths `json:"command" doc:"The program and its arguments."`
	WorkDir      state.Path  `json:"workDir,omitempty" doc:"Where it ran, from the root; missing = the root."`
	Status       int         `json:"status" doc:"Exit status: 0 = passed, 125 = cannot be tested, others = failed."`
	When         time.Time   `json:"time" doc:"When it ended."`
	Milliseconds int64       `json:"milliseconds" doc:"How long it took."`
}

// SameTest reports whether both are results of one command in one directory. A command may do something else in
// another one.
func (t *TestResult) SameTest(other *TestResult) bool {
	return t.WorkDir == other.WorkDir && slices.Equal(t.Command, other.Command)
}

// Passed reports whether the command passed.
func (t *TestResult) Passed() bool { return t.Status == 0 }

// Skipped reports whether the command said that the state cannot be tested.
func (t *TestResult) Skipped() bool { return t.Status == TestSkipped }

// NoteTest notes a result in one change of a ref. It takes the place of an older result of the same
// test on the same checkpoint. Results of checkpoints that are gone are dropped.
func (r *Store) NoteTest(ctx context.Context, t TestResult) error {
	if len(t.Command) == 0 || t.Status < 0 || t.Status > math.MaxUint8 {
		return fmt.Errorf("cannot note a test of %d words with status %d", len(t.Command), t.Status)
	}
	return r.Exclusive(ctx, func(*Locked) error {
		c, err := r.Lookup(ctx, t.Checkpoint)
		if err != nil {
			return err
		}
		t.Checkpoint = c.ID
		all, err := r.TestResults(ctx)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(old TestResult) bool {
			return old.Checkpoint == t.Checkpoint && old.SameTest(&t) || !r.holds(old.Checkpoint)
		})
		all = append(all, t)
		return r.writeTests(all[max(0, len(all)-maxTestResults):])
	})
}

// holds reports whether a checkpoint is in the store. One that may be there counts.
func (r *Store) holds(checkpoint string) bool {
	id, err := object.ParseID(checkpoint)
	if err != nil {
		return false
	}
	ok, err := r.DB.Has(id)
	return ok || err != nil
}

func (r *Store) writeTests(all []TestResult) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	for _, t := range all {
		if err := enc.Encode(t); err != nil {
			return err
		}
	}
	batch := r.DB.NewBatch()
	defer batch.Discard()
	id, err := batch.Add(object.Blob, text.Bytes())
	if err != nil {
		return err
	}
	return batch.Commit(odb.RefUpdate{Name: RefTests, ID: id})
}

// TestResults lists the noted results in the order in which they were noted. A checkpoint that a purge
// has rewritten has its present id. Lines that cannot be read are left out and logged.
func (r *Store) TestResults(ctx context.Context) ([]TestResult, error) {
	id, err := r.DB.Ref(RefTests)
	if errors.Is(err, odb.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("results of tests: %w", err)
	}
	data, err := r.Blob(&object.Entry{Mode: object.Regular, Name: RefTests, ID: id})
	if err != nil {
		return nil, fmt.Errorf("results of tests: %w (%s)", err, state.MendHint)
	}
	var all []TestResult
	named := make(map[object.ID]bool)
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var t TestResult
		err := json.Unmarshal(lines.Bytes(), &t)
		old, idErr := object.ParseID(t.Checkpoint)
		if err = errors.Join(err, idErr); err != nil || len(t.Command) == 0 {
			r.Log.Warn("result of a test left out", "error", err)
			continue
		}
		named[old] = true
		all = append(all, t)
	}
	replaced := r.presentReplaced(func(id object.ID) bool { return named[id] })
	for i := range all {
		if old, _ := object.ParseID(all[i].Checkpoint); replaced[old] != (object.ID{}) {
			all[i].Checkpoint = replaced[old].String()
		}
	}
	return all, errors.Join(lines.Err(), ctx.Err())
}

// Verdicts tells by checkpoint whether its tests passed: all commands whose result is noted there and
// that could test it. A checkpoint that no command could test has none.
func Verdicts(all []TestResult) map[string]bool {
	passed := make(map[string]bool)
	for i := range all {
		t := &all[i]
		if t.Skipped() {
			continue
		}
		before, ok := passed[t.Checkpoint]
		passed[t.Checkpoint] = t.Passed() && (before || !ok)
	}
	return passed
}

// green is the revision of the newest checkpoint whose tests passed.
const green = "@green"

// lookupGreen finds the newest checkpoint of all lines whose tests passed.
func (r *Store) lookupGreen(ctx context.Context) (*Checkpoint, error) {
	all, err := r.TestResults(ctx)
	if err != nil {
		return nil, err
	}
	passed := Verdicts(all)
	for c, err := range r.Checkpoints(ctx) {
		if err != nil {
			return nil, err
		}
		if passed[c.ID] {
			return c, nil
		}
	}
	return nil, state.NotFound("checkpoint %s: no test passed yet (cairn test -- COMMAND notes one)", green)
}
