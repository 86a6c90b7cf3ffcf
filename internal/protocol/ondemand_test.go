package protocol

import (
	"encoding/json"
	"os"
	"testing"
)

// TestRecordOfAnotherServer: a server that ends leaves the record of the one that has taken its place.
func TestRecordOfAnotherServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := os.Mkdir(Dir(data), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteRunning(data, "b"); err != nil {
		t.Skip(err)
	}
	other := *ReadRunning(data)
	if err := RemoveOwnRunning(data); err != nil || ReadRunning(data) != nil {
		t.Errorf("%v, %+v", err, ReadRunning(data))
	}
	if err := RemoveOwnRunning(data); err != nil {
		t.Errorf("without a record: %v", err)
	}
	other.Process.PID++
	text, err := json.Marshal(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(runningFile(data), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := RemoveOwnRunning(data); err != nil || ReadRunning(data) == nil {
		t.Errorf("%v: the record of another server is gone", err)
	}
}
