package timewords

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestParseAgreesWithGit asks git rev-parse for the same times. git reads the clock itself, so
// the answers may differ by the time that the program takes.
func TestParseAgreesWithGit(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git to compare with:", err)
	}
	for _, text := range []string{
		"2024-03-01 12:30", "2024-03-01 12:30:15", "2024-03-01T12:30:15", "2024-03-01T12:30:15Z", "2024-03-01T12:30:15+02:00", "@1700000000", "1700000000",
		"2024-03-01", "yesterday", "now", "2.hours.ago", "2 hours ago", "3.days", "1.week.ago", "2_weeks_ago", "90.minutes.ago", "45.seconds", "1.month.ago", "2.years.ago",
		"last monday", "last friday",
	} {
		cmd := exec.Command(git, "rev-parse", "--since="+text)
		cmd.Env = []string{"TZ=UTC", "HOME=" + t.TempDir(), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH")}
		now := time.Now().UTC()
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		want, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(string(out)), "--max-age="), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := Parse(text, now)
		took := int64(time.Since(now)/time.Second) + 1
		if diff := want - got.Unix(); !ok || diff < 0 || diff > took {
			t.Errorf("%s is %v (%v), and %v to git", text, got.UTC(), ok, time.Unix(want, 0).UTC())
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 15, 16, 17, 0, time.UTC)
	for text, want := range map[string]string{
		"2h": "2026-03-04 13:16:17", "90m": "2026-03-04 13:46:17", "30s": "2026-03-04 15:15:47", "1d": "2026-03-03 15:16:17", "1w": "2026-02-25 15:16:17",
		"an hour ago": "2026-03-04 14:16:17", "last week": "2026-02-25 15:16:17", "midnight": "2026-03-04 00:00:00", "09:30": "2026-03-04 09:30:00", "5 min": "2026-03-04 15:11:17",
	} {
		if got, ok := Parse(text, now); !ok || got.Format(time.DateTime) != want {
			t.Errorf("%s is %v (%v), not %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"", " ", "soon", "2", "2x", "-1h", "99999999999h", "2026-13-01", "ago"} {
		if got, ok := Parse(text, now); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}
