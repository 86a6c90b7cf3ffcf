// Package settings holds what a caller of the library may choose, with the defaults.
//
// The package reads no file and no environment. The zero value of a setting selects its default.
// NoLimit switches a limit off.
package settings
