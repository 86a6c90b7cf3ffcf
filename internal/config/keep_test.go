package config

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

func TestKeep(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for text, want := range map[string]cairn.KeepRules{
		`keep = { all = "24h", hourly = "7d", daily = "90d" }`: {All: day, Hourly: 7 * day, Daily: 90 * day},
		"[keep]\nall = \"1d\"\ndaily = \"2w\"":                 {All: day, Daily: 14 * day},
		`keep = "all=12h, hourly=2d"`:                          {All: day / 2, Hourly: 2 * day},
		`keep = "none"`:                                        {},
	} {
		c := load(t, Sources{UserFile: write(t, text)})
		if c.Keep != want || c.Retention().Keep != want {
			t.Errorf("%s: %+v, want %+v", text, c.Keep, want)
		}
	}
	c := load(t, Sources{UserFile: write(t, `keep = { all = "1h", daily = "9d" }`), Env: env("CAIRN_KEEP", "all=2h,hourly=3h")})
	if c.Keep != (cairn.KeepRules{All: 2 * time.Hour, Hourly: 3 * time.Hour}) {
		t.Errorf("%+v", c.Keep)
	}
	if d := c.Decisions(); len(d) != 1 || d[0].Value != "all=2h,hourly=3h" || d[0].Origin != "CAIRN_KEEP" {
		t.Errorf("%+v", d)
	}
}

func TestKeepBroken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`keep = { all = "-1h", daily = "9d" }`:               "all: want a duration",
		`keep = { all = "none", daily = "9d" }`:              "all: want a duration",
		`keep = { all = 5, daily = "9d" }`:                   "all: want a duration",
		`keep = { al = "1h", daily = "9d" }`:                 "did you mean all?",
		`keep = { all = "1h", monthly = "9d" }`:              `no rule "monthly"`,
		`keep = { all = "1h" }`:                              `"hourly" or "daily" is missing`,
		`keep = { hourly = "1h" }`:                           `"all" is missing`,
		`keep = { all = "2d", hourly = "1d" }`:               `"hourly" (24h0m0s) is shorter than "all"`,
		`keep = { all = "1h", hourly = "7d", daily = "2d" }`: `"daily" (48h0m0s) is shorter`,
		`keep = "24h"`: `want { all = "24h"`,
		`keep = true`:  `want { all = "24h"`,
		"[keep]\nall = \"1h\"\ndaily = { days = 3 }\n": "daily: want a duration",
		"keep = [\"24h\"]": "want",
		`keep = { all = "99999999999999w", hourly = "1000w" }`: "all: want a duration",
	} {
		_, err := Load(Sources{UserFile: write(t, text)})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "keep: ") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A project's own file cannot let anything be thinned.
func TestKeepOfAProject(t *testing.T) {
	t.Parallel()
	c := load(t, Sources{ProjectFile: write(t, `keep = { all = "1h", daily = "9d" }`)})
	if c.Keep.Thins() || len(c.Refused()) != 1 || c.Refused()[0].Refused != onlyUser {
		t.Errorf("%+v, refused %+v", c.Keep, c.Refused())
	}
}
