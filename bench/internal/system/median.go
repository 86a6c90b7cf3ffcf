package system

import (
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Median is the middle of a list, or the mean of the two values there.
func Median(list []float64) (float64, bool) {
	if len(list) == 0 {
		return 0, false
	}
	list = slices.Sorted(slices.Values(list))
	if n := len(list); n%2 == 0 {
		return (list[n/2-1] + list[n/2]) / 2, true
	}
	return list[len(list)/2], true
}

// Quantile is the smallest value that the share q of the list does not exceed.
func Quantile(list []float64, q float64) (float64, bool) {
	if len(list) == 0 {
		return 0, false
	}
	list = slices.Sorted(slices.Values(list))
	return stat.Quantile(q, stat.Empirical, list, nil), true
}
