package secretrules

import "sync"

// Own returns the rules of this package. They stand in rules.toml. table.go holds them as Go, because
// parsing them would take longer than most captures.
//
//	go test ./internal/secretrules -run TestTable -update
var Own = sync.OnceValues(func() (*Rules, error) {
	f := &ruleFile{Rules: ownRules, Allowlists: ownAllowlists, trusted: true}
	return f.compile()
})
