// Package report is the result of a run: samples, tables, promises and the files of them.
//
// Version changes when a field changes its meaning. A value that was not measured is "-" in a table, and no promise is
// kept or broken by it.
package report
