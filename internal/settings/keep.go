package settings

import (
	"errors"
	"fmt"
	"time"
)

// Keep says which checkpoints of a line keep their states as they grow older. Hours and days are those of
// UTC, so no change of a local clock moves them.
//
// Every checkpoint keeps its state for All. Until Hourly the newest one of each hour of a line does, and
// until Daily the newest one of each day. Older ones stay as the last rule has left them. The other
// checkpoints are thinned: their states go, and their places on their lines stay.
//
// A line lives for Retention.MaxAge after its last checkpoint, and at least as long as the last rule
// holds. MaxCount and MaxBytes do not count thinned checkpoints.
type Keep struct {
	All    time.Duration // every checkpoint
	Hourly time.Duration // the newest one of each hour; 0 = no such rule
	Daily  time.Duration // the newest one of each day; 0 = no such rule
}

// The names of the rules.
const (
	KeepAll    = "all"
	KeepHourly = "hourly"
	KeepDaily  = "daily"
)

// Thins reports whether there is a rule by which checkpoints are thinned.
func (k Keep) Thins() bool { return k != Keep{} }

// Check returns why the rules make no sense.
func (k Keep) Check() error {
	switch {
	case !k.Thins():
		return nil
	case k.All < 0 || k.Hourly < 0 || k.Daily < 0:
		return errors.New("keep: a time is negative")
	case k.All == 0:
		return errors.New(`keep: "all" is missing: how long every checkpoint is kept`)
	case k.Hourly == 0 && k.Daily == 0:
		return errors.New(`keep: "hourly" or "daily" is missing: what stays of older checkpoints`)
	case k.Hourly != 0 && k.Hourly < k.All:
		return fmt.Errorf(`keep: "hourly" (%s) is shorter than "all" (%s)`, k.Hourly, k.All)
	case k.Daily != 0 && k.Daily < max(k.All, k.Hourly):
		return fmt.Errorf(`keep: "daily" (%s) is shorter than the rule before it (%s)`, k.Daily, max(k.All, k.Hourly))
	}
	return nil
}

// Longest returns how long the last rule holds.
func (k Keep) Longest() time.Duration { return max(k.All, k.Hourly, k.Daily) }

// Rule returns the rule for checkpoints of an age, and the length of its buckets; 0 = each one is kept.
// That of a checkpoint of the future is KeepAll.
func (k Keep) Rule(age time.Duration) (name string, bucket time.Duration) {
	switch {
	case age <= k.All:
		return KeepAll, 0
	case age <= k.Hourly || k.Daily == 0:
		return KeepHourly, time.Hour
	}
	return KeepDaily, 24 * time.Hour
}
