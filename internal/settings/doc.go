// Package settings holds what a caller of the library may choose, with the defaults.
//
// The package reads no file and no environment. Zero means the default of a setting, and
// NoLimit switches a limit off.
package settings
