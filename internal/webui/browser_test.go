package webui

import (
	"fmt"
	"image"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/session"
)

const goBefore = `package ledger

import "fmt"

// Account holds what somebody owns.
type Account struct {
	Owner   string
	Balance int
}

// Deposit adds to the balance.
func (a *Account) Deposit(amount int) {
	a.Balance += amount
}

// String implements fmt.Stringer.
func (a *Account) String() string {
	return fmt.Sprintf("%s: %d", a.Owner, a.Balance)
}
`

var goAfter = strings.NewReplacer(
	"func (a *Account) Deposit(amount int) {\n\ta.Balance += amount\n}",
	"func (a *Account) Deposit(amount int64) error {\n\tif amount <= 0 {\n\t\treturn fmt.Errorf(\"deposit of %d: %w\", amount, ErrAmount)\n\t}\n\ta.Balance += amount\n\treturn nil\n}",
	"Balance int\n", "Balance int64 // in cents\n", "import \"fmt\"", "import (\n\t\"errors\"\n\t\"fmt\"\n)\n\n// ErrAmount: nothing, or less, was to be deposited.\nvar ErrAmount = errors.New(\"unusable amount\")",
).Replace(goBefore)

// story is a small project with everything that the timeline shows.
func story(t *testing.T) *fixture {
	f := newFixture(t)
	f.write("ledger/account.go", goBefore)
	f.write("README.md", "# Ledger\n\nKeeps accounts.\n")
	f.write("web/old.css", "body { color: red }\n")
	f.track("before the agent")
	first := session.StepBegin{Session: "ses_4f1c", Message: "m1", Step: "s1", Prompt: "Deposits must be checked: refuse amounts that are zero or negative, and count in cents."}
	f.stepOf(first, func() { f.write("ledger/account.go", goAfter) })
	first.Step, first.Role = "s2", "assistant"
	first.Message = "m2"
	f.stepOf(first, func() {
		f.write("ledger/account_test.go", "package ledger\n\nimport \"testing\"\n\nfunc TestDeposit(t *testing.T) {\n\tif err := new(Account).Deposit(0); err == nil {\n\t\tt.Error(\"a deposit of nothing is taken\")\n\t}\n}\n")
	})
	first.Step = "s3"
	f.stepOf(first, func() { f.write("README.md", "# Ledger\n\nKeeps accounts, in cents.\n"); f.remove("web/old.css") })
	f.write("notes.txt", "by hand\n")
	f.track("")
	second := session.StepBegin{Session: "ses_4f1c", Message: "m3", Step: "s4", Prompt: "Add a script that lists all accounts."}
	f.stepOf(second, func() {
		f.write("bin/list.sh", "#!/bin/sh\n# Lists all accounts.\nset -eu\nfor f in accounts/*; do\n\techo \"$(basename \"$f\")\"\ndone\n")
	})
	return f
}

func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: starting a browser takes seconds")
	}
	t.Parallel()
	b := startBrowser(t)
	f := story(t)
	server := httptest.NewServer(f.handler)
	t.Cleanup(server.Close)
	home := server.URL + f.at("")

	shot := func(name, address string, keys ...string) {
		b.colours("light")
		b.size(1280, 800)
		b.open(address)
		for _, key := range keys {
			b.press(key)
		}
		b.screenshot(name + "-light")
		b.colours("dark")
		b.screenshot(name + "-dark")
		b.size(400, 800)
		b.screenshot(name + "-narrow")
	}
	shot("timeline", home, "j", "j")
	b.size(1280, 800)
	b.open(home)
	step := func(n int) string {
		return b.text(fmt.Sprintf("document.querySelectorAll('.steps a[data-main]')[%d].href", n))
	}
	one, three := step(3), step(1)
	shot("step", one)
	shot("step-three", three)
	shot("unified", one+"&view=unified")
	shot("session", server.URL+f.at("session", "id", "ses_4f1c"))
	shot("projects", server.URL)
	f.write("README.md", "# Ledger\n\nKeeps accounts, in cents!\n")
	shot("changes", server.URL+f.at("changes", "from", "@"))
	b.open(home)
	shot("plan", b.text("document.querySelectorAll('.turn a[data-key=r]')[2].href"))
	shot("keys", home, "?")
	shot("missing", server.URL+"/ui/nope")
	b.quiet()
}

func brightness(m image.Image) float64 {
	sum := 0.0
	for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
		for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
			r, g, b, _ := m.At(x, y).RGBA()
			sum += float64(r+g+b) / 3 / 0xffff
		}
	}
	return sum / float64(m.Bounds().Dx()*m.Bounds().Dy())
}
