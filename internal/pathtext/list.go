package pathtext

import "encoding/json"

// List is a list of paths that JSON carries as Texts. A nil list is [] there.
type List []string

// MarshalJSON implements json.Marshaler.
func (l List) MarshalJSON() ([]byte, error) { return json.Marshal(Texts(l)) }

// UnmarshalJSON implements json.Unmarshaler.
func (l *List) UnmarshalJSON(data []byte) error {
	var texts []Text
	if err := json.Unmarshal(data, &texts); err != nil {
		return err
	}
	*l = Plain(texts)
	return nil
}
