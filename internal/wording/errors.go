package wording

import "strings"

// Parts takes apart what errors.Join has joined, however deep. An error with a text of
// its own around others, as fmt.Errorf makes it, is one part.
func Parts(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var list []error
	var texts []string
	for _, e := range joined.Unwrap() {
		list = append(list, Parts(e)...)
		texts = append(texts, e.Error())
	}
	if strings.Join(texts, "\n") != err.Error() {
		return []error{err}
	}
	return list
}
