package history

import "slices"

// Origin returns the operation that another one took back or brought back, directly or through
// further ones. An operation that took none back is its own origin. It returns nil where one on the
// way was cleaned away.
func (r *Store) Origin(op *Operation) (*Operation, error) {
	var seen []string
	for op != nil && op.Undoes != "" && !slices.Contains(seen, op.ID) {
		seen = append(seen, op.ID)
		var err error
		if op, err = r.operation(op.Undoes); err != nil {
			return nil, err
		}
	}
	return op, nil
}
