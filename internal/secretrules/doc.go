// Package secretrules finds credentials in the contents of files, by rules in the format of gitleaks.
//
// A rule file is TOML: [[rules]] with id, regex, path, keywords, entropy, secretGroup and allowlists, and
// allowlists for all rules. Package secrets masks credentials in prompts and commands; the rules here are
// for files, where most random texts are hashes and test data.
//
// A rule is tried only where one of its keywords stands. One pass over the contents finds all keywords
// of all rules and looks at about every third byte. Two keys of this package extend the format:
//
//   - anchored = true: the match begins with a keyword. The expression is tried at that place alone.
//   - inWord = true: beside anchored, the keyword may stand behind a letter or a digit.
//
// Without anchored the expression is applied to the block of 64 KiB that holds the keyword, and to the
// 4 KiB before and after it.
//
// Limits:
//
//   - Contents with a NUL byte among the first 8,000 count as binary. Only rules that go by the path alone
//     apply to them.
//   - One finding is reported for a rule and a line. Rules whose ids begin with "generic" report no line
//     that another rule reports.
//   - A line with gitleaks:allow or cairn:allow has no finding.
//
// A finding has the id of a rule and a line. No answer and no error of the package holds a secret.
package secretrules
