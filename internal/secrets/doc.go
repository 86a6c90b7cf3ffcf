// Package secrets finds credentials in texts: tokens whose shape their issuer publishes, private
// keys, passwords in URLs, and values that are assigned to names such as password and token.
//
// A rule has the parts of a rule of gitleaks: an id, keywords, and a regular expression with a group
// for the secret. The table holds shapes that seldom occur by chance. A random text without a known
// prefix, for instance a hash of git, is no finding unless it is assigned to a name that says what it
// is.
//
// No answer of the package holds a secret: findings are places, and Mask puts the name of the rule
// there. Masking a masked text changes nothing.
//
// The time is linear in the length of a text. The expression of a rule is tried only where one of its
// keywords stands, and is compiled when that happens first: a text without keywords costs a search
// for each of them, and the start of a program costs nothing.
package secrets
