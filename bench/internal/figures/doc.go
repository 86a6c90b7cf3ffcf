// Package figures tells how costs grow: curves, their slopes and their pictures.
//
// A curve is drawn from its file alone, so that a picture can be made again without measuring.
package figures
