package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// keepNames are the rules of the setting keep, in the order in which they hold.
var keepNames = []string{"all", "hourly", "daily"}

const keepHint = `want { all = "24h", hourly = "7d", daily = "90d" }, or none`

// keepTable returns a table of a file as text: all=24h,hourly=7d.
func keepTable(t map[string]any) (string, error) {
	var parts []string
	for _, name := range sortedKeys(t) {
		text, ok := t[name].(string)
		if !ok {
			return "", fmt.Errorf("%s: want a duration as in \"7d\", not %v", name, t[name])
		}
		parts = append(parts, name+"="+text)
	}
	return strings.Join(parts, ","), nil
}

// keepText reads rules as in all=24h,hourly=7d,daily=90d. The text none switches them off.
func keepText(c *Config, text string) error {
	var rules cairn.KeepRules
	if text == "none" {
		c.Keep = rules
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(strings.TrimSpace(part), "=")
		if !found {
			return fmt.Errorf("%s, not %.80q", keepHint, text)
		}
		field := map[string]*time.Duration{"all": &rules.All, "hourly": &rules.Hourly, "daily": &rules.Daily}[strings.TrimSpace(name)]
		if field == nil {
			return unknownRule(strings.TrimSpace(name))
		}
		d, err := ParseDuration(strings.TrimSpace(value))
		if err == nil && d == Unlimited {
			err = fmt.Errorf("want a duration as in 12h, 7d or 2w, not %.80q", value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		*field = d
	}
	if err := rules.Check(); err != nil {
		return fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "keep: "))
	}
	c.Keep = rules
	return nil
}

func unknownRule(name string) error {
	if near := wording.Nearest(name, keepNames, 3); near != "" {
		return fmt.Errorf("no rule %.80q, did you mean %s?", name, near)
	}
	return fmt.Errorf("no rule %.80q: %s", name, keepHint)
}
